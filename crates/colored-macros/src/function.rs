//! The function under the attribute. The attribute does not parse its body, which may be half written.

use proc_macro2::{Delimiter, Group, Span};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::token::Brace;
use syn::{Attribute, Error, FnArg, Ident, Result, Safety, Signature, Type, Visibility, braced};

use crate::errors::Errors;

/// A function with a body.
pub(crate) struct Function {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    pub(crate) body: Group,
}

impl Parse for Function {
    fn parse(input: ParseStream) -> Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let signature = input
            .parse()
            .map_err(|error| Error::new(error.span(), "this attribute goes on an `async fn`"))?;
        if !input.peek(Brace) {
            return Err(input.error("this attribute goes on a function with a body"));
        }
        let content;
        let brace = braced!(content in input);
        let mut body = Group::new(Delimiter::Brace, content.parse()?);
        body.set_span(brace.span.join());
        Ok(Self { attributes, visibility, signature, body })
    }
}

impl Function {
    /// Reports and removes the attributes that would make a test of this function a second time.
    pub(crate) fn refuse_tests(&mut self, message: &str, errors: &mut Errors) {
        self.attributes.retain(|attribute| {
            let test = attribute.path().segments.last().is_some_and(|last| last.ident == "test");
            if test {
                errors.at(attribute, message);
            }
            !test
        });
    }

    /// Reports forbidden parts of the signature, and treats it as `async` from here on. Returns whether the function can be
    /// called. What `starts` alone, the program or a test, has nobody who passes arguments.
    pub(crate) fn check(&mut self, attribute: &str, starts: bool, errors: &mut Errors) -> bool {
        let signature = &mut self.signature;
        let name = &signature.ident;
        if signature.asyncness.is_none() {
            errors.at(
                signature.fn_token,
                format!("{attribute} needs an `async` function: write `async fn {name}`"),
            );
        }
        signature.asyncness.get_or_insert_with(Default::default);

        let mut callable = true;
        let mut refuse = |tokens: &dyn ToTokens, what: &str| {
            callable = false;
            errors.at(tokens, format!("`{name}` {what}"));
        };
        if let Some(constness) = signature.constness.take() {
            refuse(&constness, "starts a runtime, so it cannot be `const`");
        }
        if let Safety::Unsafe(unsafety) = signature.safety {
            refuse(&unsafety, "starts a runtime, so it cannot be `unsafe`");
        }
        if let Some(abi) = signature.abi.take() {
            refuse(&abi, "starts a runtime, so it cannot be `extern`");
        }
        if let Some(variadic) = &signature.variadic {
            refuse(variadic, "starts a runtime, so it cannot be variadic");
        }
        if let Some(receiver) = signature.receiver() {
            let text = "has `self`, which the attribute cannot pass on: remove the attribute, and call \
                        `colored::Runtime::new()?.block_on(..)` with the future of this method";
            refuse(&receiver, text);
        } else if starts && !signature.inputs.is_empty() {
            refuse(&signature.inputs, ALONE_ARGUMENTS);
        }
        if starts && !signature.generics.params.is_empty() {
            refuse(&signature.generics, "is called by nobody, so it takes no generic parameters");
        } else if let Some(bounds) = signature.generics.where_clause.as_ref().filter(|_| starts) {
            refuse(bounds, "is called by nobody, so it takes no `where` clause");
        }
        callable
    }

    /// Names for the arguments, in their order, whatever patterns the function has.
    pub(crate) fn arguments(&self) -> Vec<Argument> {
        let typed = self.signature.inputs.iter().filter_map(|argument| match argument {
            FnArg::Typed(typed) => Some((*typed.ty).clone()),
            FnArg::Receiver(_) => None,
        });
        let name = |number| Ident::new(&format!("argument_{number}"), Span::mixed_site());
        typed.enumerate().map(|(number, ty)| Argument { name: name(number), ty }).collect()
    }
}

const ALONE_ARGUMENTS: &str = "is called by nobody, so it takes no arguments";

/// An argument of the function.
pub(crate) struct Argument {
    pub(crate) name: Ident,
    pub(crate) ty: Type,
}
