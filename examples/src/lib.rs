//! What the examples share: their command lines, and how they end.

mod args;
mod failure;

pub use self::args::Args;
pub use self::failure::Failure;
