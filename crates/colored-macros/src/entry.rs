//! The output of an attribute: the same function, inside a function that runs it.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, GenericParam, Generics, Ident, Path, ReturnType, Signature, Type};

use crate::errors::Errors;
use crate::function::{Argument, Function};
use crate::options::Options;
use crate::simulated;

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
    /// Whether no code of the program calls the function.
    fn starts(self, signature: &Signature) -> bool {
        self == Self::Test || signature.ident == "main"
    }

    /// Whether the calling thread runs the function unless an option says otherwise. A test may have any future. Arguments
    /// may be borrowed, which a task cannot.
    fn is_local(self, signature: &Signature) -> bool {
        self == Self::Test || !signature.inputs.is_empty() || !signature.generics.params.is_empty()
    }

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
        returns && self.starts(signature)
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
    let starts = kind.starts(&function.signature);
    if let (Kind::Main, Some((at, _))) = (kind, &options.sim) {
        errors.push(Error::new(*at, "`sim` is for tests, as in `#[colored::test(sim)]`"));
    }
    let function = match (function.check(attribute, starts, &mut errors), &options.sim, kind) {
        (false, ..) | (_, Some(_), Kind::Main) => keep(&function),
        (true, Some((_, settings)), Kind::Test) => {
            simulated::call(&private(&options.path), settings, &function)
        }
        (true, None, _) => call(kind, &options, &function),
    };
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
    let local = options.local.unwrap_or_else(|| kind.is_local(signature));
    let private = private(&options.path);
    let test = (kind == Kind::Test).then(|| quote!(#[::core::prelude::v1::test]));
    let setters = options.setters.iter().map(|(name, value)| quote!(.#name(#value)));
    let builder = quote!(#private::builder() #(#setters)*);
    let builder = match options.tokio {
        Some((span, true)) => quote_spanned!(span=> #private::with_tokio(#builder)),
        Some((_, false)) => quote!(#private::without_tokio(#builder)),
        None => builder,
    };
    // The compiler reports one error for one span. So `future`, which says what to do about a future
    // that is not `Send`, is called on the name, and `run`, for which the compiler says why it is not,
    // on the returned type, where `run` may also have something to say about the output.
    let (generics, arguments) = (&signature.generics, function.arguments());
    let (parameters, bounds) = (generics_of(generics), &generics.where_clause);
    let takes = arguments.iter().map(|Argument { name, ty }| quote!(#name: #ty));
    let passed = arguments.iter().map(|argument| &argument.name);
    let future = quote_spanned!(name.span()=> #name #parameters(#(#passed),*));
    let shown = match output {
        ReturnType::Default => signature.asyncness.span(),
        ReturnType::Type(_, returned) => returned.span(),
    };
    let main = Ident::new("main", Span::mixed_site().located_at(shown));

    let future = if local { future } else { quote!(#private::future(#future)) };
    let (output, ready) = match (kind.ends(signature), local) {
        (true, true) => {
            (quote!(-> #private::ExitCode), quote!(#private::block_on_to_exit(#builder, #main)))
        }
        (true, false) => {
            (quote!(-> #private::ExitCode), quote!(#private::run_to_exit(#builder, #main)))
        }
        (false, true) => (quote!(#output), quote!(#private::block_on(#builder, #main))),
        (false, false) => (quote!(#output), quote!(#private::run(#builder, #main))),
    };
    // The place of a call of a method is that of its name: so the main task is spawned at the function's name in texts, and
    // not at the attribute.
    let here = quote_spanned!(name.span()=> here());
    quote! {
        #test
        #(#attributes)*
        #visibility fn #name #generics(#(#takes),*) #output #bounds {
            #signature #body
            let #main = #future;
            #ready.#here
        }
    }
}

/// The types and constants among the parameters, as a call names them. The compiler finds the lifetimes.
fn generics_of(generics: &Generics) -> Option<TokenStream> {
    let named = generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Type(of) => Some(&of.ident),
        GenericParam::Const(of) => Some(&of.ident),
        GenericParam::Lifetime(_) => None,
    });
    let named: Vec<_> = named.collect();
    (!named.is_empty()).then(|| quote!(::<#(#named),*>))
}

/// A function that cannot be called, so that editors and callers find the name. It is not `async`, so that callers have no
/// second error about a future.
fn keep(function: &Function) -> TokenStream {
    let Function { attributes, visibility, signature, body } = function;
    let kept = quote!(#[allow(unused)] #(#attributes)* #visibility #signature #body);
    if signature.receiver().is_some() {
        return kept;
    }
    if signature.ident == "main" {
        return quote!(fn main() { #kept });
    }
    let mut outside = signature.clone();
    outside.asyncness = None;
    quote!(#[allow(unused)] #visibility #outside { #kept loop {} })
}

/// `path::__private..`, the hidden module for the attributes.
fn private(path: &Path) -> TokenStream {
    let module = Ident::new(PRIVATE, Span::mixed_site());
    quote!(#path::#module)
}
