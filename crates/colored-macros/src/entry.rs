//! The output of an attribute: the same function, inside a function that runs it.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, Path, ReturnType, Signature, Type};

use crate::errors::Errors;
use crate::function::Function;
use crate::options::Options;

/// The hidden module of the runtime. If the path leads to another crate, the compiler does not find
/// this name, so the name has to carry the message.
const PRIVATE: &str = "__private_of_colored_rt_a_renamed_runtime_needs_the_crate_option";

/// The attribute that is expanded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// `#[colored::main]`
    Main,
    /// `#[colored::test]`
    Test,
}

impl Kind {
    /// Whether the return value of the function decides how the program or the test ends. The worker
    /// then turns it into an exit code, so it need not be `Send`.
    fn ends(self, signature: &Signature) -> bool {
        let returns = match &signature.output {
            ReturnType::Default => false,
            // `#[should_panic]` wants to see `()`.
            ReturnType::Type(_, returned) => {
                !matches!(&**returned, Type::Tuple(tuple) if tuple.elems.is_empty())
            }
        };
        returns && (self == Self::Test || signature.ident == "main")
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
/// The original stays an `async fn` of the same name inside the new one: so the compiler reports its
/// errors, a recursive call keeps its meaning, and backtraces show its name.
fn call(kind: Kind, options: &Options, function: &Function) -> TokenStream {
    let Function { attributes, visibility, signature, body } = function;
    let name = &signature.ident;
    let output = &signature.output;
    let private = private(&options.path);
    let test = (kind == Kind::Test).then(|| quote!(#[::core::prelude::v1::test]));
    let setters = options.setters.iter().map(|(name, value)| quote!(.#name(#value)));
    let builder = quote!(#private::builder() #(#setters)*);
    let builder = match options.tokio {
        Some(span) => quote_spanned!(span=> #private::with_tokio(#builder)),
        None => builder,
    };
    // The compiler reports one error for one span. So `future`, which says what to do about a future
    // that is not `Send`, is called on the name, and `run`, for which the compiler says why it is not,
    // on the returned type, where `run` may also have something to say about the output.
    let future = quote_spanned!(name.span()=> #name());
    let shown = match output {
        ReturnType::Default => signature.asyncness.span(),
        ReturnType::Type(_, returned) => returned.span(),
    };
    let main = Ident::new("main", Span::mixed_site().located_at(shown));

    let (output, ready) = if options.local {
        (quote!(#output), quote!(#private::block_on(#builder, #future)))
    } else if kind.ends(signature) {
        (quote!(-> #private::ExitCode), quote!(#private::run_to_exit(#builder, #main)))
    } else {
        (quote!(#output), quote!(#private::run(#builder, #main)))
    };
    // The place of a call of a method is that of its name: so the main task is spawned at the function's name in texts, and
    // not at the attribute.
    let here = quote_spanned!(name.span()=> here());
    let future = (!options.local).then(|| quote!(let #main = #private::future(#future);));
    quote! {
        #test
        #(#attributes)*
        #visibility fn #name() #output {
            #signature #body
            #future
            #ready.#here
        }
    }
}

/// A function that cannot be called, so that editors and callers find the name.
fn keep(function: &Function) -> TokenStream {
    let Function { attributes, visibility, signature, body } = function;
    let kept = quote!(#[allow(unused)] #(#attributes)* #visibility #signature #body);
    if signature.ident == "main" && signature.receiver().is_none() {
        return quote!(fn main() { #kept });
    }
    kept
}

/// `path::__private..`, the hidden module for the attributes.
fn private(path: &Path) -> TokenStream {
    let module = Ident::new(PRIVATE, Span::mixed_site());
    quote!(#path::#module)
}
