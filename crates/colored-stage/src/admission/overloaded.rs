//! [`Overloaded`]: the error for refused work.

use std::fmt;
use std::time::Duration;

/// The work was refused because of overload, and has not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overloaded {
    check: Check,
    delay: Duration,
}

/// The check that refused the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// Too much work waits, by the gate or by CoDel.
    Queue,
    /// The work has waited for too long when it arrives.
    AgeAtArrival,
    /// The work has waited for too long when its turn comes.
    AgeAtTurn,
}

impl Overloaded {
    /// Refused by `check`, with a delay in nanoseconds.
    pub(super) const fn new(check: Check, delay: u64) -> Self {
        Self { check, delay: Duration::from_nanos(delay) }
    }

    /// Whether the work had been admitted, and then waited too long.
    #[must_use]
    pub fn was_admitted(&self) -> bool {
        self.check == Check::AgeAtTurn
    }

    /// How long the work had waited, if that was too long; otherwise the delay of other work at
    /// that time.
    #[must_use]
    pub fn delay(&self) -> Duration {
        self.delay
    }
}

impl fmt::Display for Overloaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.check {
            Check::Queue => write!(f, "overloaded: refused while others wait for {:?}", self.delay),
            Check::AgeAtArrival => {
                write!(f, "overloaded: refused after it had waited for {:?}", self.delay)
            }
            Check::AgeAtTurn => {
                write!(f, "overloaded: shed after it had waited for {:?}", self.delay)
            }
        }
    }
}

impl std::error::Error for Overloaded {}
