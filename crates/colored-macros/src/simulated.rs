//! The output of `#[colored::test(sim)]`: the same function, inside a test that runs it for many seeds.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Ident, ReturnType};

use crate::function::Function;
use crate::options::Setting;

/// The test. `private` is the hidden module of the runtime.
pub(crate) fn call(
    private: &TokenStream,
    settings: &[Setting],
    function: &Function,
) -> TokenStream {
    let Function { attributes, visibility, signature, body } = function;
    let (name, text) = (&signature.ident, signature.ident.to_string());
    let settings = settings.iter().map(|setting| setting.call(private));
    let shown = match &signature.output {
        ReturnType::Default => signature.asyncness.map_or(name.span(), |word| word.span),
        ReturnType::Type(_, returned) => syn::spanned::Spanned::span(&**returned),
    };
    let test = Ident::new("test", Span::mixed_site().located_at(shown));
    let future = quote_spanned!(name.span()=> #name());
    quote! {
        #[::core::prelude::v1::test]
        #(#attributes)*
        #visibility fn #name() {
            #signature #body
            let #test = || #private::simulated(#future);
            #private::simulate_test!([#(#settings)*] #text #test)
        }
    }
}
