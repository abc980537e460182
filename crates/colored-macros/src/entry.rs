//! What an attribute turns a function into: the same function, and around it one that runs it.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, Path, ReturnType, Signature, Type};

use crate::errors::Errors;
use crate::function::Function;
use crate::options::Options;

/// The hidden module of the runtime. Where the path leads to another crate, this name is what the
/// compiler does not find, and so all that a message can be made of.
const PRIVATE: &str = "__private_of_colored_rt_a_renamed_runtime_needs_the_crate_option";

/// Which attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// `#[colored::main]`
    Main,
    /// `#[colored::test]`
    Test,
}

impl Kind {
    /// The type that the function returns, if it is how the program or the test ends. It then becomes
    /// an exit code on the worker, and need not be `Send`.
    fn end(self, signature: &Signature) -> Option<&Type> {
        match &signature.output {
            // A test that `#[should_panic]` must be seen to return `()`.
            ReturnType::Type(_, returned) if is_unit(returned) => None,
            ReturnType::Type(_, returned) if self == Kind::Test || signature.ident == "main" => {
                Some(returned)
            }
            _ => None,
        }
    }
}

/// Never fails: mistakes come out as `compile_error!` beside a function that an editor can work with.
pub(crate) fn expand(kind: Kind, options: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let options = Options::parse(options, &mut errors);
    let mut function: Function = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            errors.push(error);
            return quote!(#errors #item);
        }
    };
    let (attribute, twice) = match kind {
        Kind::Main => ("`#[colored::main]`", "write `#[colored::test]` alone to make a test"),
        Kind::Test => ("`#[colored::test]`", "`#[colored::test]` makes a test already"),
    };
    function.refuse_tests(twice, &mut errors);
    let callable = function.check(attribute, &mut errors);
    let function = if callable { call(kind, &options, &function) } else { keep(&function) };
    quote!(#errors #function)
}

/// The function, and around it the runtime that runs it.
///
/// It stays an `async fn` of the same name inside the new one: so the compiler itself says what is
/// wrong with it, a call to itself means what it meant, and backtraces show its name.
fn call(kind: Kind, options: &Options, function: &Function) -> TokenStream {
    let Function { attributes, visibility, signature, body } = function;
    let name = &signature.ident;
    let output = &signature.output;
    let private = private(&options.path);
    let test = (kind == Kind::Test).then(|| quote!(#[::core::prelude::v1::test]));
    let setters = options.setters.iter().map(|(name, value)| quote!(.#name(#value)));
    let builder = quote!(#private::builder() #(#setters)*);
    // The compiler reports one error for one span, and three things may be wrong with the future: it
    // is not `Send` (what to do about it, and why it is so), and no exit code comes of its output.
    let future = quote_spanned!(name.span()=> #name());
    let main = |span: Span| Ident::new("main", Span::mixed_site().located_at(span));
    let sent = main(signature.asyncness.span());

    let (output, run) = if options.local {
        (quote!(#output), quote!(#private::block_on(#builder, #future)))
    } else if let Some(returned) = kind.end(signature) {
        let exits = main(returned.span());
        let run = quote! {
            let #exits = #private::future(#future);
            let #sent = #private::exit(#exits);
            #private::run(#builder, #sent)
        };
        (quote!(-> #private::ExitCode), run)
    } else {
        let run = quote! {
            let #sent = #private::future(#future);
            #private::run(#builder, #sent)
        };
        (quote!(#output), run)
    };
    quote! {
        #test
        #(#attributes)*
        #visibility fn #name() #output {
            #signature #body
            #run
        }
    }
}

/// A function that cannot be called, for the sake of the editor and of what calls it.
fn keep(function: &Function) -> TokenStream {
    let Function { attributes, visibility, signature, body } = function;
    let kept = quote!(#[allow(dead_code)] #(#attributes)* #visibility #signature #body);
    if signature.ident == "main" && signature.receiver().is_none() {
        return quote!(fn main() { #kept });
    }
    kept
}

fn is_unit(returned: &Type) -> bool {
    matches!(returned, Type::Tuple(tuple) if tuple.elems.is_empty())
}

/// `path::__private..`, where the runtime keeps what the attributes need.
fn private(path: &Path) -> TokenStream {
    let module = Ident::new(PRIVATE, Span::mixed_site());
    quote!(#path::#module)
}
