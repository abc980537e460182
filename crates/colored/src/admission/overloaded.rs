//! The answer to work for which there is no time.

use std::fmt;
use std::time::Duration;

/// There is too much to do: the work was refused, and has not begun.
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

    /// Whether it had been admitted, and waited for too long.
    #[must_use]
    pub fn was_admitted(&self) -> bool {
        self.gate == Gate::Valve
    }

    /// How long it had waited, if that was too long; else the delay of others then.
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
