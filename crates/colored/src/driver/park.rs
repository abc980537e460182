//! How one worker sleeps: inside its shard's poll if the turn is free, else on a condition variable.
//!
//! The state word is a token with a return address. An unpark swaps the token in; the old value says how to reach the
//! sleeper:
//!
//! | it finds | it must |
//! |---|---|
//! | `AWAKE` | do nothing: the worker looks at the word before it sleeps |
//! | `UNPARKED` | do nothing: the token is there already |
//! | `WAITING` | signal the condition variable |
//! | `POLLING` | wake the shard |

use super::polled;
use super::reactor::{PollTurn, Shard};
use crate::wall;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};

const AWAKE: u32 = 0;
const UNPARKED: u32 = 1;
const WAITING: u32 = 2;
const POLLING: u32 = 3;

#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Parker {
    state: AtomicU32,
    /// The worker has taken events or timers, and has not woken all their tasks yet.
    events: AtomicBool,
    lock: Mutex<()>,
    signal: Condvar,
}

impl Parker {
    /// True if the worker slept.
    pub(super) fn unpark(&self, shard: &Shard) -> bool {
        // Ordering: Release pairs with the Acquire in `leave` and `consume`: the worker sees what
        // was published before.
        match self.state.swap(UNPARKED, Ordering::AcqRel) {
            WAITING => {
                // The sleeper holds the lock from its last look at the word until it sleeps.
                drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
                self.signal.notify_one();
                true
            }
            POLLING => {
                shard.wake();
                true
            }
            _ => false,
        }
    }

    /// Sleeps until unparked, for `limit` or until `deadline`, whichever comes first; the first may
    /// be a millisecond late.
    pub(super) fn park(
        &self,
        shard: &Shard,
        limit: Option<Duration>,
        deadline: Option<Instant>,
        wakers: &mut Vec<Waker>,
    ) {
        let Some(turn) = shard.try_turn() else {
            let left = deadline.map(|at| at.saturating_duration_since(wall::now()));
            return self.wait(limit.into_iter().chain(left).min());
        };
        self.poll(turn, limit, deadline, wakers);
    }

    /// As [`park`](Self::park), inside the poll.
    pub(super) fn poll(
        &self,
        mut turn: PollTurn<'_>,
        limit: Option<Duration>,
        deadline: Option<Instant>,
        wakers: &mut Vec<Waker>,
    ) {
        polled(match deadline {
            // With the token there is no sleep, but the turn is used all the same.
            _ if !self.enter(POLLING) => turn.poll(Some(Duration::ZERO), wakers),
            Some(deadline) => turn.poll_until(limit, deadline, wakers),
            None => turn.poll(limit, wakers),
        });
        self.begin_events();
        self.leave();
    }

    /// Notes that the worker has taken events, and still has the turn; or that it is about to take timers.
    pub(super) fn begin_events(&self) {
        // Ordering: the lock of the turn, or of the wheel, hands it over.
        self.events.store(true, Ordering::Relaxed);
    }

    /// Notes that the worker has woken the tasks of all events and timers that it took.
    pub(super) fn finish_events(&self) {
        // Ordering: Release pairs with the Acquire in `has_events`: who sees it finds the tasks in their queues.
        self.events.store(false, Ordering::Release);
    }

    /// Whether the worker has events or timers in hand.
    pub(super) fn has_events(&self) -> bool {
        // Ordering: see `finish_events`.
        self.events.load(Ordering::Acquire)
    }

    pub(super) fn wait(&self, limit: Option<Duration>) {
        let guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if self.enter(WAITING) {
            let waiting = |_: &mut ()| {
                // Ordering: hint only, `leave` acquires.
                self.state.load(Ordering::Relaxed) == WAITING
            };
            match limit {
                Some(limit) => drop(self.signal.wait_timeout_while(guard, limit, waiting)),
                None => drop(self.signal.wait_while(guard, waiting)),
            }
        }
        self.leave();
    }

    /// Announces how this worker sleeps; false if the token is there.
    fn enter(&self, how: u32) -> bool {
        // Ordering: a failure is followed by `leave`, which acquires.
        self.state.compare_exchange(AWAKE, how, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Announces that the worker's thread waits elsewhere, for the descriptor of the shard: from now on an unpark wakes
    /// the shard. False if the token is there, which is taken.
    pub(super) fn wait_elsewhere(&self) -> bool {
        let waits = self.enter(POLLING);
        if !waits {
            self.leave();
        }
        waits
    }

    /// Awake again, after [`wait_elsewhere`](Self::wait_elsewhere) too. True if the token was there, which is taken.
    pub(super) fn take_token(&self) -> bool {
        // Ordering: as in `leave`.
        self.state.swap(AWAKE, Ordering::Acquire) == UNPARKED
    }

    /// Awake again; takes the token if it is there.
    fn leave(&self) {
        // Ordering: pairs with the Release in `unpark`.
        self.state.swap(AWAKE, Ordering::Acquire);
    }
}
