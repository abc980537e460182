//! What a handler returns if it fails, and why a consumer ends.

use crate::source::Error;
use colored::time::Duration;
use std::fmt;

/// The error of a handler's own work.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// What is to be done with a record that its handler has not done.
///
/// Every error becomes [`Failure::Retry`] by `?`.
#[derive(Debug)]
pub enum Failure {
    /// Try again after the delay of [`retry`](crate::Builder::retry). The records of other keys go on.
    Retry(Cause),
    /// As [`Retry`](Failure::Retry), after this time instead. It counts as an attempt.
    RetryAfter(Duration, Cause),
    /// Nothing has failed: call the handler again after this time. A batch is taken anew then: it begins with the same record, and
    /// may have more records or fewer. It counts neither as an attempt nor as a
    /// retry, so the record never becomes a dead letter by it. The records of other keys go on, and the place among the running
    /// handlers is free meanwhile. After a hand-over the record comes again at once.
    Later(Duration),
    /// Give the record to [`dead_letters`](crate::Builder::dead_letters), and go on.
    DeadLetter(Cause),
    /// Stop the consumer. The record comes again after the next start.
    Fatal(Cause),
}

impl Failure {
    /// Try again later.
    pub fn retry(cause: impl Into<Cause>) -> Failure {
        Failure::Retry(cause.into())
    }

    /// Try again after this time.
    pub fn retry_after(time: Duration, cause: impl Into<Cause>) -> Failure {
        Failure::RetryAfter(time, cause.into())
    }

    /// Nothing has failed: come again after this time.
    #[must_use]
    pub fn later(time: Duration) -> Failure {
        Failure::Later(time)
    }

    /// Give the record to [`dead_letters`](crate::Builder::dead_letters).
    pub fn dead_letter(cause: impl Into<Cause>) -> Failure {
        Failure::DeadLetter(cause.into())
    }

    /// Stop the consumer.
    pub fn fatal(cause: impl Into<Cause>) -> Failure {
        Failure::Fatal(cause.into())
    }
}

// `Failure` is no error itself, so that this does not overlap `From<T> for T`.
impl<E: std::error::Error + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::Retry(error.into())
    }
}

/// Why a consumer ended before it was stopped, or could not end well.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConsumerError {
    /// A setting that cannot be: the text names it, and what is allowed.
    Setting(String),
    /// A handler returned [`Failure::Fatal`], or a record failed for the last time and the consumer has no
    /// [`dead_letters`](crate::Builder::dead_letters). The text names the record.
    Fatal(String),
    /// A group has no place in a partition that the log still has, and [`Reset::Fail`](crate::Reset) was chosen.
    OutOfRange(String),
    /// The engine failed again and again; or the consumer was stopped while a partition could not be read.
    Source(Error),
    /// A sentinel saw a broken promise, and [`strict`](crate::Builder::strict) was chosen. Or the consumer itself has panicked: a defect
    /// of it.
    Violation(String),
    /// The runtime shut down.
    Shutdown,
}

impl fmt::Display for ConsumerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting(text) | Self::Fatal(text) | Self::OutOfRange(text) => f.write_str(text),
            Self::Source(error) => write!(f, "the engine fails: {error}"),
            Self::Violation(text) => write!(f, "a promise is broken: {text}"),
            Self::Shutdown => f.write_str("the runtime has shut down"),
        }
    }
}

impl std::error::Error for ConsumerError {}
