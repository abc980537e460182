//! The least crate that `#[colored::main]` and `#[colored::test]` can expand against: the two
//! attributes, and the hidden module with the bounds and messages of the real one.

#![forbid(unsafe_code)]

pub use colored_macros::{main, test};

mod runtime;

pub use runtime::Builder;

#[doc(hidden)]
#[path = "../../../../colored/src/__private.rs"]
pub mod __private;
// The attributes use this name, for the sake of who renamed the runtime and has another crate called
// `colored`: it is what the compiler then does not find there, and so the message.
#[doc(hidden)]
pub use __private as __private_of_colored_rt_a_renamed_runtime_needs_the_crate_option;
