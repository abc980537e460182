//! Code that the examples share: their command lines, and their ends.

mod args;
mod failure;
mod stop;

pub use self::args::Args;
pub use self::failure::Failure;
pub use self::stop::asked_to_stop;
