//! [`Overloaded`]: the error for refused work.

use std::fmt;
use std::time::Duration;

/// The work was refused because of overload, and has not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overloaded {
    gate: Gate,
    delay: Duration,
}

/// Where work was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gate {
    /// Too much waits, by the door or by CoDel.
    Door,
    /// It has waited for too long when it arrives.
    Late,
    /// It has waited for too long when its turn comes.
    Valve,
}

impl Overloaded {
    /// Refused at `gate`, with a delay in nanoseconds.
    pub(super) const fn new(gate: Gate, delay: u64) -> Self {
        Self { gate, delay: Duration::from_nanos(delay) }
    }

    /// Whether the work had been admitted, and then waited too long.
    #[must_use]
    pub fn was_admitted(&self) -> bool {
        self.gate == Gate::Valve
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
        match self.gate {
            Gate::Door => write!(f, "overloaded: refused while others wait for {:?}", self.delay),
            Gate::Late => write!(f, "overloaded: refused after it had waited for {:?}", self.delay),
            Gate::Valve => write!(f, "overloaded: shed after it had waited for {:?}", self.delay),
        }
    }
}

impl std::error::Error for Overloaded {}
