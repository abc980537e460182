//! Systems without signals.

use std::convert::Infallible;

/// There is none.
#[derive(Debug)]
pub struct OnSignal(Infallible);

impl OnSignal {
    /// There is nothing to stop.
    pub fn stop(self, _: bool) {
        match self.0 {}
    }
}
