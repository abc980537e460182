//! [`Failure`]: the error with which an example ends.

use std::error::Error;
use std::fmt;

/// Why an example ended, in a sentence. Any error turns into one.
///
/// Rust prints the [`Debug`](fmt::Debug) of what `main` returns, which for most errors is the inside of a type;
/// here it is the sentence.
pub struct Failure(String);

impl Failure {
    /// A failure in these words.
    pub fn new(text: impl Into<String>) -> Failure {
        Failure(text.into())
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: Error> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure(error.to_string())
    }
}
