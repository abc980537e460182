//! How a runtime ends.
//!
//! 1. The scheduler cancels every task, each under its color, and the workers stop.
//! 2. Sockets and timers that are still held somewhere fail from now on.
//! 3. The reactor thread ends.
//! 4. The blocking pool takes no more calls, cancels those that wait, and its threads end.
//!
//! 1 comes first so that a destructor can still use sockets and timers.

use super::handle::Handle;
use super::threads::Threads;
use std::fmt;
use std::time::{Duration, Instant};

/// Some thread of the runtime was still busy when the time was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShutdownTimeout {
    /// How long the shutdown waited.
    pub timeout: Duration,
}

impl fmt::Display for ShutdownTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a thread of the runtime was still in a poll or a blocking call after {:?}; it ends when \
             that returns",
            self.timeout
        )
    }
}

impl std::error::Error for ShutdownTimeout {}

impl Threads {
    /// Ends the runtime; a second call does nothing. Without a timeout, waits for as long as it
    /// takes.
    pub(super) fn shut_down(
        &mut self,
        handle: &Handle,
        timeout: Option<Duration>,
    ) -> Result<(), ShutdownTimeout> {
        let Some(reactor) = self.reactor.take() else { return Ok(()) };
        let workers = std::mem::take(&mut self.workers);
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        handle.core.scheduler().shut_down();
        let stopped = self.gate.wait_for_workers(deadline);
        handle.driver.shut_down();
        handle.driver.bell.stop();
        let pool = handle.driver.pool.shutdown(deadline);
        if stopped {
            // They have left the gate: a join returns at once.
            workers.into_iter().for_each(|worker| drop(worker.join()));
            drop(reactor.join());
        }
        if stopped && pool {
            return Ok(());
        }
        Err(ShutdownTimeout { timeout: timeout.unwrap_or_default() })
    }
}
