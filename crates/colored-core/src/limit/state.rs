//! The state word of a semaphore: how many are inside, whether somebody waits, whether it is closed.
//!
//! | `WAITS` | `CLOSED` | inside | is |
//! |---|---|---|---|
//! | – | – | below the capacity | open: who comes goes in |
//! | – | – | the capacity or more | full: who comes waits |
//! | x | – | the capacity or more | full, with a line of those who wait |
//! | – | x | any | closed: nobody comes in any more, those inside leave |
//!
//! The other states cannot be reached. Above all, **whoever waits waits for somebody inside**: a
//! line begins only in an exchange that finds the semaphore full, and the count falls below the capacity
//! only in an exchange that finds no line. So no wake-up can be lost: who would leave the last
//! permit that is too much is told to hand it on instead.

use crate::sync::{AtomicUsize, Ordering};
use std::convert::Infallible;

const WAITS: usize = 1;
const CLOSED: usize = 2;
const ONE: usize = 4;

/// The largest capacity. Above it there is room for those who are let in over it.
pub(super) const MAX_CAPACITY: usize = usize::MAX / ONE / 2;

/// What came of an attempt to go in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Inside,
    /// No room, or a line to wait behind.
    Full,
    Closed,
}

/// What came of an attempt to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    Outside,
    /// There were more inside than there is room for, and somebody waits still.
    StillFull,
    /// Still counted: the permit belongs to the first in the line.
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
        // Ordering: hint only; who wants to know for certain tries to go in.
        self.0.load(Ordering::Relaxed) & CLOSED != 0
    }

    /// Goes in if there is room and no line.
    #[inline]
    pub(super) fn enter(&self, capacity: usize) -> Entry {
        self.change(|word| match word {
            _ if word & CLOSED != 0 => Err(Entry::Closed),
            _ if word & WAITS != 0 || word / ONE >= capacity => Err(Entry::Full),
            _ => Ok(word + ONE),
        })
        .map_or_else(|entry| entry, |()| Entry::Inside)
    }

    /// Goes in whether or not there is room.
    pub(super) fn enter_over(&self) -> Entry {
        let over = |word| if word & CLOSED == 0 { Ok(word + ONE) } else { Err(Entry::Closed) };
        self.change(over).map_or_else(|entry| entry, |()| Entry::Inside)
    }

    /// Goes in, or says that there is a line from now on. Under the lock of the line.
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

    /// Leaves, unless the permit is somebody's who waits. If the caller has the lock of the line,
    /// there is somebody.
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

    /// The line is empty. Under its lock.
    pub(super) fn nobody_waits(&self) {
        // Ordering: who goes in next has left no trace here that others must see.
        self.0.fetch_and(!WAITS, Ordering::Relaxed);
    }

    /// Lets nobody in any more; the line is dissolved. Under its lock.
    pub(super) fn close(&self) {
        let Ok(()) = self.change(|word| Ok::<_, Infallible>((word | CLOSED) & !WAITS));
    }

    /// Applies a transition until it takes effect, or is refused.
    #[inline]
    fn change<E>(&self, mut to: impl FnMut(usize) -> Result<usize, E>) -> Result<(), E> {
        // Ordering: hint only, the exchange decides.
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            // Ordering: Release hands what was done inside to whoever takes the permit with Acquire.
            match self.0.compare_exchange_weak(word, to(word)?, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) => return Ok(()),
                Err(now) => word = now,
            }
        }
    }
}
