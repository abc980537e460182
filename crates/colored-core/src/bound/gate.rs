//! A gate: so many inside at once, the others in a line. It counts, and knows no lane.
//!
//! The word ([`word`](super::word)) decides everything; the line is changed under its lock, and
//! `WAITS` is set exactly while the line has somebody and nobody has the lock. So one exchange
//! suffices on either side while nobody waits, and whoever finds `WAITS` takes the lock and hands
//! its place to the first: that one is inside before it has noticed. What it must not do is forget
//! the place; so a waiter that goes away looks whether it was called, and then leaves as everybody
//! does.

use super::line::{Line, Standing, Ticket};
use super::word::{Entry, Exit, MAX_CAPACITY, Word};
use crate::contain::contain;
use crate::sync::Mutex;
use std::task::Waker;

pub(crate) struct Gate {
    word: Word,
    capacity: usize,
    line: Mutex<Line>,
}

/// Why nobody comes in right now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    Full,
    Closed,
}

/// What came of waiting.
#[derive(Debug)]
pub(crate) enum Waited {
    /// Inside.
    Entered,
    /// In the line.
    Waits(Ticket),
    Closed,
}

impl Gate {
    /// # Panics
    ///
    /// If the capacity is zero or more than [`MAX_CAPACITY`].
    #[track_caller]
    pub(crate) fn new(capacity: usize) -> Self {
        assert!(
            (1..=MAX_CAPACITY).contains(&capacity),
            "a bound with capacity {capacity}: it must be from 1 to {MAX_CAPACITY}"
        );
        Self { word: Word::new(), capacity, line: Mutex::new(Line::default()) }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(crate) fn inside(&self) -> usize {
        self.word.inside()
    }

    pub(crate) fn waiting(&self) -> usize {
        self.line.lock().len()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.word.is_closed()
    }

    /// Goes in if there is room, and nobody in the line.
    #[inline]
    pub(crate) fn try_enter(&self) -> Result<(), Refused> {
        refused(self.word.enter(self.capacity))
    }

    /// Goes in whether or not there is room, past the line.
    pub(crate) fn enter_over(&self) -> Result<(), Refused> {
        refused(self.word.enter_over())
    }

    /// Goes in, or to the end of the line.
    #[inline]
    pub(crate) fn enter_or_wait(&self, waker: &Waker) -> Waited {
        match self.word.enter(self.capacity) {
            Entry::Inside => Waited::Entered,
            Entry::Closed => Waited::Closed,
            Entry::Full => self.wait(waker.clone()),
        }
    }

    #[cold]
    fn wait(&self, waker: Waker) -> Waited {
        let mut line = self.line.lock();
        match self.word.enter_or_wait(self.capacity) {
            Entry::Inside => Waited::Entered,
            Entry::Closed => Waited::Closed,
            Entry::Full => Waited::Waits(line.join(waker)),
        }
    }

    /// Looks whether it is the ticket's turn; if not, `waker` is woken when it is.
    pub(crate) fn look(&self, ticket: Ticket, waker: &Waker) -> Waited {
        // A waker is anybody's code: it is cloned before the lock, and dropped after it.
        let mut waker = waker.clone();
        let standing = self.line.lock().look(&ticket, &mut waker);
        match standing {
            Standing::Waits => Waited::Waits(ticket),
            Standing::Called => Waited::Entered,
            Standing::Dismissed => Waited::Closed,
        }
    }

    /// Gives a ticket back, and with it the place if there is one by now.
    pub(crate) fn cancel(&self, ticket: Ticket) {
        let (unused, called) = {
            let mut line = self.line.lock();
            let (standing, waker) = line.leave(ticket);
            if standing == Standing::Waits && line.is_empty() {
                self.word.nobody_waits();
            }
            let owns_place = standing == Standing::Called;
            (waker, owns_place.then(|| self.hand_on(&mut line)).flatten())
        };
        drop(unused);
        wake(called);
    }

    /// Leaves; the place goes to the first of the line.
    #[inline]
    pub(crate) fn leave(&self) {
        if self.word.leave(self.capacity) == Exit::HandOn {
            self.leave_to_the_line();
        }
    }

    #[cold]
    fn leave_to_the_line(&self) {
        let called = self.hand_on(&mut self.line.lock());
        wake(called);
    }

    /// Leaves, under the lock of the line; returns who is to be woken after it.
    fn hand_on(&self, line: &mut Line) -> Option<Waker> {
        // Looks again: the line may have ended before the lock was taken.
        if self.word.leave(self.capacity) == Exit::Outside {
            return None;
        }
        let called = line.call();
        debug_assert!(called.is_some(), "`WAITS` is set while there is a line");
        if line.is_empty() {
            self.word.nobody_waits();
        }
        called
    }

    /// Lets nobody in any more. Who waits is told; who is inside stays.
    pub(crate) fn close(&self) {
        let dismissed = {
            let mut line = self.line.lock();
            self.word.close();
            line.dissolve()
        };
        for waker in dismissed {
            wake(Some(waker));
        }
    }
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        contain(|| waker.wake());
    }
}

fn refused(entry: Entry) -> Result<(), Refused> {
    match entry {
        Entry::Inside => Ok(()),
        Entry::Full => Err(Refused::Full),
        Entry::Closed => Err(Refused::Closed),
    }
}
