//! Code that the examples share.

pub use colored_examples_common::{Args, Failure, asked_to_stop};

// Compiles the code of the page.
#[cfg(doctest)]
#[doc = include_str!("../../crates/colored-stackful/GUIDE.md")]
struct Stackful;
