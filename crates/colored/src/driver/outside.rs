//! A worker whose thread waits outside of the driver: in the event loop of the program, for the descriptor of its shard.
//!
//! Between two turns of the worker its [`Parker`](super::park::Parker) says that it is inside the poll of the shard. So
//! an unpark wakes the shard, whose descriptor becomes readable and stays so until the next turn polls it. Nothing else
//! polls the shard: such a driver has one worker and no reactor thread.

use super::{Driver, polled};
use crate::wall;
#[cfg(unix)]
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// How the thread of a worker may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Not at all: something is runnable, or due.
    None,
    /// Until the descriptor is readable, and at most for this time.
    For(Option<Duration>),
}

impl Driver {
    /// The descriptor that becomes readable when the worker has something to do.
    #[cfg(unix)]
    pub(crate) fn descriptor(&self, worker: usize) -> BorrowedFd<'_> {
        self.shards.of_worker(worker).descriptor()
    }

    /// Prepares a wait of the thread outside, for `limit` at most: the worker has nothing to run.
    pub(crate) fn rest_outside(&self, worker: usize, limit: Option<Duration>) -> Rest {
        let end = self.timers.end_of_sleep(worker);
        let timer = end.and_then(|tick| self.clock.system_at(tick));
        let limit = limit.and_then(|limit| wall::now().checked_add(limit));
        if !self.parkers.of_worker(worker).wait_elsewhere() {
            return Rest::None;
        }
        let Some(deadline) = timer.into_iter().chain(limit).min() else { return Rest::For(None) };
        if let Some(mut turn) = self.shards.of_worker(worker).try_turn() {
            polled(turn.arm(deadline));
        }
        let left = deadline.saturating_duration_since(wall::now());
        if left.is_zero() { Rest::None } else { Rest::For(Some(left)) }
    }

    /// Ends a wait outside. True if the worker was unparked meanwhile.
    pub(crate) fn end_rest(&self, worker: usize) -> bool {
        self.parkers.of_worker(worker).take_token()
    }

    /// Makes the descriptor readable: the worker leaves with something runnable.
    pub(crate) fn come_back_soon(&self, worker: usize) {
        self.shards.of_worker(worker).wake();
    }
}
