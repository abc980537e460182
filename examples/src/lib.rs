//! Code that the examples share: their command lines, and their ends.

mod args;
mod failure;

pub use self::args::Args;
pub use self::failure::Failure;
