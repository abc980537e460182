//! The least crate that `#[colored::main]` and `#[colored::test]` can expand against: the two
//! attributes, and the hidden module with the bounds and messages of the real one.

#![forbid(unsafe_code)]

pub use colored_macros::{main, test};

mod runtime;

pub use runtime::{Builder, last_start_paused};

#[doc(hidden)]
#[path = "../../../../colored/src/__private.rs"]
pub mod __private;
// The attributes use this name for users who renamed the runtime and have another crate called `colored`: the compiler
// does not find the name there, and its message shows the name.
#[doc(hidden)]
pub use __private as __private_of_colored_rt_a_renamed_runtime_needs_the_crate_option;
