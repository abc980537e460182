//! A worker's timers: a hierarchical wheel, by the ticks of the [`clock`](super::clock).
//!
//! Each worker has one and advances it between slices. It is a lock and no part
//! of the worker, so any thread may insert and cancel, and any thread may advance
//! the wheel of a worker that is stuck in a poll. No waker is cloned, dropped or woken while the
//! lock is held: these calls run foreign code.

mod levels;
mod slab;
#[cfg(test)]
mod tests;

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicU64,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
    task::Waker,
};

use self::levels::Levels;
pub(crate) use self::slab::Key;

/// How many timers one call of `advance` moves: some microseconds of lock. A value
/// out of thin air; no bench has needed another.
const BATCH: usize = 256;

/// The timers of one worker.
///
/// Inserting, resetting and cancelling take constant time. A timer is moved at
/// most nine times, once for each level, before it is due.
#[repr(align(128))]
pub(crate) struct Wheel {
    state: Mutex<State>,
    /// No later than the first event; `u64::MAX` when there is none. Cancelling
    /// leaves it, so it may be too early until the next `advance`.
    next: AtomicU64,
    /// The last `now` that the wheel was told of.
    present: AtomicU64,
}

struct State {
    levels: Levels,
    closed: bool,
}

/// A timer was inserted.
#[derive(Debug)]
pub(crate) struct Inserted {
    /// Its key from now on.
    pub(crate) key: Key,
    /// The wheel's next deadline is earlier than it was: a worker that sleeps until
    /// the old one sleeps too long.
    pub(crate) earliest: bool,
}

/// The wheel is closed: the runtime has shut down, and no thread advances it.
#[derive(Debug)]
pub(crate) struct Closed;

/// The result of resetting a timer.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Reset {
    /// It will fire at the new tick. If `earliest`, see [`Inserted::earliest`].
    Moved { earliest: bool },
    /// It has fired or was cancelled before.
    Gone,
}

impl Wheel {
    /// An empty wheel at tick 0. Allocates nothing.
    pub(crate) const fn new() -> Wheel {
        let state = State { levels: Levels::new(), closed: false };
        Wheel {
            state: Mutex::new(state),
            next: AtomicU64::new(u64::MAX),
            present: AtomicU64::new(0),
        }
    }

    /// Adds a timer that fires at the first `advance` to `deadline` or later.
    ///
    /// A deadline that has passed is fine: it fires at the next `advance`.
    pub(crate) fn insert(&self, deadline: u64, waker: &Waker) -> Result<Inserted, Closed> {
        let waker = waker.clone();
        let mut state = self.lock();
        if state.closed {
            return Err(Closed);
        }
        // Ordering: all stores are made under the lock.
        let next = self.next.load(Relaxed);
        state.levels.skip_to(self.present(), next);
        let (key, event) = state.levels.insert(deadline, waker);
        Ok(Inserted { key, earliest: self.look_at(event, next) })
    }

    /// Moves a timer to another deadline, behind the timers that are there already.
    pub(crate) fn reset(&self, key: Key, deadline: u64) -> Reset {
        let mut state = self.lock();
        match state.levels.reset(key, deadline) {
            // Ordering: all stores are made under the lock.
            Some(event) => Reset::Moved { earliest: self.look_at(event, self.next.load(Relaxed)) },
            None => Reset::Gone,
        }
    }

    /// Moves a timer that wakes `waker` to another deadline, as if it were cancelled and inserted.
    /// Gives what [`Inserted::earliest`] says; `None` if it has fired, was cancelled or wakes
    /// another, and then nothing has changed.
    pub(crate) fn renew(&self, key: Key, deadline: u64, waker: &Waker) -> Option<bool> {
        let mut state = self.lock();
        if !state.levels.waker_mut(key)?.will_wake(waker) {
            return None;
        }
        // Ordering: all stores are made under the lock.
        let next = self.next.load(Relaxed);
        state.levels.skip_to(self.present(), next);
        let event = state.levels.reset(key, deadline)?;
        Some(self.look_at(event, next))
    }

    /// Makes the timer wake `waker` from now on. False when it has fired or was
    /// cancelled. Clones the waker only if it is another one.
    pub(crate) fn update_waker(&self, key: Key, waker: &Waker) -> bool {
        match self.lock().levels.waker_mut(key) {
            Some(held) if held.will_wake(waker) => return true,
            Some(_) => {}
            None => return false,
        }
        let mut waker = waker.clone();
        match self.lock().levels.waker_mut(key) {
            Some(held) => std::mem::swap(held, &mut waker),
            None => return false,
        }
        true
    }

    /// Takes a timer out without waking it. False when it has fired or was
    /// cancelled before.
    pub(crate) fn cancel(&self, key: Key) -> bool {
        // The lock is released at the end of this statement, before the waker is dropped.
        let waker = self.lock().levels.cancel(key);
        waker.is_some()
    }

    /// The tick by which the wheel must be advanced, `u64::MAX` if it is empty.
    ///
    /// Takes no lock. Not later than the first timer, but perhaps earlier: many
    /// timers of a far deadline are first registered by their higher digits, and a
    /// cancelled timer is forgotten only when its tick comes.
    pub(crate) fn next_deadline(&self) -> u64 {
        // Ordering: pairs with the Release in `look_at` and `advance`. A worker that
        // parks by it still needs the fence of the park protocol, as does the thread
        // that was told `earliest`.
        self.next.load(Acquire)
    }

    /// The tick of the first timer, to be exact. Takes longer than [`next_deadline`](Self::next_deadline): the timers of
    /// one slot are looked at.
    pub(crate) fn first(&self) -> Option<u64> {
        // Most wheels of a runtime have no timer, and then need no lock.
        if self.next_deadline() == u64::MAX { None } else { self.lock().levels.first_exactly() }
    }

    /// Moves time to `now` and appends the wakers of all timers that are due, in
    /// the order of their ticks, and within a tick in the order in which they were
    /// inserted. The caller wakes them; the lock is released by then.
    ///
    /// One call moves a bounded number of timers. When it returns true there is
    /// more to do for this `now`, and the caller should come back soon.
    ///
    /// When nothing is due this costs a load and a store, and takes no lock. It is
    /// worth calling then too, because that is how the wheel knows the time.
    pub(crate) fn advance(&self, now: u64, wakers: &mut Vec<Waker>) -> bool {
        // Ordering: hint only. Any value was the present once.
        self.present.store(now, Relaxed);
        now >= self.next_deadline() && self.advance_by(now, wakers, BATCH)
    }

    /// The tick that the wheel was last advanced to. The present, if its worker is
    /// well; else in the past.
    pub(crate) fn present(&self) -> u64 {
        // Ordering: hint only.
        self.present.load(Relaxed)
    }

    fn advance_by(&self, now: u64, wakers: &mut Vec<Waker>, steps: usize) -> bool {
        let mut state = self.lock();
        let more = state.levels.advance(now, wakers, steps);
        // Ordering: pairs with the Acquire in `next_deadline`.
        self.next.store(state.levels.next_event(), Release);
        more
    }

    /// How many timers there are.
    pub(crate) fn len(&self) -> usize {
        self.lock().levels.len()
    }

    /// Ends the wheel: it takes no more timers. Returns the wakers of all timers that are left; the
    /// caller wakes them, so that their tasks learn of the end.
    pub(crate) fn close(&self) -> Vec<Waker> {
        let mut wakers = Vec::new();
        let mut state = self.lock();
        state.closed = true;
        state.levels.drain(&mut wakers);
        // Ordering: pairs with the Acquire in `next_deadline`.
        self.next.store(u64::MAX, Release);
        drop(state);
        wakers
    }

    /// Lowers the next deadline to `event`. True if that changed it.
    fn look_at(&self, event: u64, next: u64) -> bool {
        let earlier = event < next;
        if earlier {
            // Ordering: pairs with the Acquire in `next_deadline`.
            self.next.store(event, Release);
        }
        earlier
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The lock is poisoned only if memory ran out, and no operation is
        // interrupted half-way by that.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Wheel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wheel")
            .field("next_deadline", &self.next_deadline())
            .finish_non_exhaustive()
    }
}
