//! [`Silence`]: which processes have not answered lately.

use colored::time::{Duration, Instant};
use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::sync::{Mutex, PoisonError};

/// How long a process that did not answer is asked last. A guess: long enough for the ring to forget it, and short enough
/// for a process that was only slow.
const LASTS: Duration = Duration::from_secs(10);

/// Processes that are kept in mind, at most.
const MAX: usize = 1024;

/// Processes that have not answered lately. They are asked behind the others, so that a dead one costs its time once, and
/// not at each look-up that comes by.
#[derive(Debug, Default)]
pub(crate) struct Silence {
    until: Mutex<BTreeMap<SocketAddrV4, Instant>>,
}

impl Silence {
    /// Whether the process has not answered lately.
    pub(crate) fn includes(&self, process: SocketAddrV4) -> bool {
        let until = self.until.lock().unwrap_or_else(PoisonError::into_inner);
        until.get(&process).is_some_and(|until| Instant::now() < *until)
    }

    /// Notes whether the process has answered, or has called.
    pub(crate) fn note(&self, process: SocketAddrV4, has_answered: bool) {
        let mut until = self.until.lock().unwrap_or_else(PoisonError::into_inner);
        if has_answered {
            until.remove(&process);
            return;
        }
        // A silence is not extended by calls that had less time: a slow process gets the whole time again.
        let now = Instant::now();
        if until.get(&process).is_some_and(|until| now < *until) {
            return;
        }
        if until.len() >= MAX {
            until.retain(|_, until| now < *until);
        }
        if until.len() < MAX {
            until.insert(process, now + LASTS);
        }
    }
}
