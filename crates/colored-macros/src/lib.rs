//! `#[colored::main]` and `#[colored::test]`.
//!
//! Use them through the re-exports of `colored`, which have the documentation.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "rustdoc would add it to that of the re-exports")]

mod entry;
mod errors;
mod function;
mod nearest;
mod options;
mod simulated;

use proc_macro::TokenStream;

use entry::Kind;

#[proc_macro_attribute]
pub fn main(options: TokenStream, item: TokenStream) -> TokenStream {
    entry::expand(Kind::Main, options.into(), item.into()).into()
}

#[proc_macro_attribute]
pub fn test(options: TokenStream, item: TokenStream) -> TokenStream {
    entry::expand(Kind::Test, options.into(), item.into()).into()
}
