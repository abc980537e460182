//! The state word of a semaphore: how many items are inside, whether something waits, whether it is
//! closed.
//!
//! | `WAITS` | `CLOSED` | inside | is |
//! |---|---|---|---|
//! | – | – | below the capacity | open: a new item enters |
//! | – | – | the capacity or more | full: a new item waits |
//! | x | – | the capacity or more | full, with a queue of waiters |
//! | – | x | any | closed: no item enters, items inside leave |
//!
//! The other states are unreachable. Above all, **every waiter waits for an item inside**: the
//! queue begins only in an exchange that finds the semaphore full, and the count falls below the
//! capacity only in an exchange that finds no queue. So no wake-up can be lost: an item that would
//! free room while others wait passes its permit on instead.

use colored_core::port::sync::{AtomicUsize, Ordering};
use std::convert::Infallible;

const WAITS: usize = 1;
const CLOSED: usize = 2;
const ONE: usize = 4;

/// The largest capacity. The word has room for items that enter over the capacity.
pub(super) const MAX_CAPACITY: usize = usize::MAX / ONE / 2;

/// The result of an attempt to enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Inside,
    /// There is no room, or others wait for it.
    Full,
    Closed,
}

/// The result of an attempt to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    Outside,
    /// More items were inside than the capacity, and others still wait.
    StillFull,
    /// The item still counts: its permit belongs to the first waiter.
    HandOn,
}

pub(super) struct State(AtomicUsize);

impl State {
    pub(super) fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    pub(super) fn inside(&self) -> usize {
        // Ordering: a figure, not a signal.
        self.0.load(Ordering::Relaxed) / ONE
    }

    pub(super) fn is_closed(&self) -> bool {
        // Ordering: hint only; an attempt to enter gives a certain answer.
        self.0.load(Ordering::Relaxed) & CLOSED != 0
    }

    /// Enters if there is room and nothing waits.
    #[inline]
    pub(super) fn enter(&self, capacity: usize) -> Entry {
        self.change(|word| match word {
            _ if word & CLOSED != 0 => Err(Entry::Closed),
            _ if word & WAITS != 0 || word / ONE >= capacity => Err(Entry::Full),
            _ => Ok(word + ONE),
        })
        .map_or_else(|entry| entry, |()| Entry::Inside)
    }

    /// Enters whether or not there is room.
    pub(super) fn enter_over(&self) -> Entry {
        let over = |word| if word & CLOSED == 0 { Ok(word + ONE) } else { Err(Entry::Closed) };
        self.change(over).map_or_else(|entry| entry, |()| Entry::Inside)
    }

    /// Enters, or marks that the queue is not empty from now on. The caller has the lock of the
    /// queue.
    pub(super) fn enter_or_wait(&self, capacity: usize) -> Entry {
        let mut entry = Entry::Full;
        let chosen = self.change(|word| {
            if word & CLOSED != 0 {
                return Err(Entry::Closed);
            }
            let room = word & WAITS == 0 && word / ONE < capacity;
            entry = if room { Entry::Inside } else { Entry::Full };
            Ok(if room { word + ONE } else { word | WAITS })
        });
        chosen.map_or_else(|closed| closed, |()| entry)
    }

    /// Leaves, unless the permit belongs to a waiter. If the caller has the lock of the queue, a
    /// waiter exists.
    #[inline]
    pub(super) fn leave(&self, capacity: usize) -> Exit {
        let mut exit = Exit::Outside;
        let chosen = self.change(|word| {
            if word & WAITS == 0 {
                exit = Exit::Outside;
            } else if word / ONE <= capacity {
                return Err(Exit::HandOn);
            } else {
                exit = Exit::StillFull;
            }
            Ok(word - ONE)
        });
        chosen.map_or_else(|hand_on| hand_on, |()| exit)
    }

    /// Notes that the queue is empty. The caller has its lock.
    pub(super) fn nobody_waits(&self) {
        // Ordering: the next item to enter need not see anything of the last waiter.
        self.0.fetch_and(!WAITS, Ordering::Relaxed);
    }

    /// Admits nothing any more. The caller has the lock of the queue, and dissolves it.
    pub(super) fn close(&self) {
        let Ok(()) = self.change(|word| Ok::<_, Infallible>((word | CLOSED) & !WAITS));
    }

    /// Applies a transition until it takes effect, or is refused.
    #[inline]
    fn change<E>(&self, mut to: impl FnMut(usize) -> Result<usize, E>) -> Result<(), E> {
        // Ordering: a hint only; the exchange decides.
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            // Ordering: Release publishes the item's work inside to the item that takes the permit
            // with Acquire.
            match self.0.compare_exchange_weak(word, to(word)?, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => return Ok(()),
                Err(now) => word = now,
            }
        }
    }
}
