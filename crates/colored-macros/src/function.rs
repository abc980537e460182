//! The function under the attribute. The attribute does not parse its body, which may be half written.

use proc_macro2::{Delimiter, Group};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::token::Brace;
use syn::{Attribute, Error, Result, Safety, Signature, Visibility, braced};

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

    /// Reports forbidden parts of the signature, and treats it as `async` from here on. Returns whether
    /// the function can be called without arguments.
    pub(crate) fn check(&mut self, attribute: &str, errors: &mut Errors) -> bool {
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
            errors.at(tokens, format!("`{name}` starts a runtime, so it {what}"));
        };
        if let Some(constness) = signature.constness.take() {
            refuse(&constness, "cannot be `const`");
        }
        if let Safety::Unsafe(unsafety) = signature.safety {
            refuse(&unsafety, "cannot be `unsafe`");
        }
        if let Some(abi) = signature.abi.take() {
            refuse(&abi, "cannot be `extern`");
        }
        if !signature.generics.params.is_empty() {
            refuse(&signature.generics, "takes no generic parameters");
        } else if let Some(bounds) = &signature.generics.where_clause {
            refuse(bounds, "takes no `where` clause");
        }
        if let Some(variadic) = &signature.variadic {
            refuse(variadic, "takes no arguments");
        } else if !signature.inputs.is_empty() {
            refuse(&signature.inputs, "takes no arguments");
        }
        callable
    }
}
