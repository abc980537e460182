//! Standard input and output: [`stdin`], [`stdout`], [`stderr`].

mod input;
mod output;

pub use self::input::{Stdin, stdin};
pub use self::output::{Stderr, Stdout, stderr, stdout};
