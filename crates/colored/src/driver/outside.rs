//! A worker whose thread waits outside of the driver: in the event loop of the program, for the descriptor of its shard.
//!
//! Between two turns of the worker its [`Parker`](super::park::Parker) says that it is inside the poll of the shard. So
//! an unpark wakes the shard, whose descriptor becomes readable and stays so until the next turn polls it. Nothing else
//! polls the shard: such a driver has one worker and no monitor thread.

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
        self.shards[worker % self.shards.len()].descriptor()
    }

    /// The worker has nothing to run: its thread goes to wait outside, for `limit` at most.
    pub(crate) fn rest_outside(&self, worker: usize, limit: Option<Duration>) -> Rest {
        let tick = self.wheels[worker].next_deadline();
        let end = || self.clock.system_at(self.coalescing[worker].end(tick));
        let timer = if tick == u64::MAX { None } else { end() };
        let limit = limit.and_then(|limit| wall::now().checked_add(limit));
        if !self.parkers[worker].wait_elsewhere() {
            return Rest::None;
        }
        let Some(deadline) = timer.into_iter().chain(limit).min() else { return Rest::For(None) };
        let shard = &self.shards[worker % self.shards.len()];
        if let Some(mut turn) = shard.try_turn() {
            polled(turn.arm(deadline));
        }
        let left = deadline.saturating_duration_since(wall::now());
        if left.is_zero() { Rest::None } else { Rest::For(Some(left)) }
    }

    /// The thread of the worker is back. True if the worker was unparked meanwhile.
    pub(crate) fn is_back(&self, worker: usize) -> bool {
        self.parkers[worker].take_token()
    }

    /// The worker leaves with something runnable: the descriptor becomes readable.
    pub(crate) fn come_back_soon(&self, worker: usize) {
        self.shards[worker % self.shards.len()].wake();
    }
}
