//! A gate: so many inside at once, the others in a line. It counts, and knows no lane.
//!
//! The word ([`word`](super::word)) decides everything; the line is changed under its lock, and
//! `WAITS` is set exactly while the line has somebody and nobody has the lock. So one exchange
//! suffices on either side while nobody waits, and whoever finds `WAITS` takes the lock and hands
//! its place to the first: that one is inside before it has noticed. What it must not do is forget
//! the place; so a waiter that goes away looks whether it was called, and then leaves as everybody
//! does.
//!
//! The record of a wait ([`wait`](crate::wait)) is kept in the line: so it ends when the waiter is called, or
//! dismissed, before that one learns of it.

use super::home::Homes;
use super::line::{Line, Standing, Ticket};
use super::word::{Entry, Exit, MAX_CAPACITY, Word};
use crate::contain::contain;
use crate::sync::{Arc, Mutex};
use crate::task::{Deadlock, Record};
use crate::wait::WaitSlot;
use crate::wait::room::{Caller, Room, Ways};
use std::mem;
use std::ptr::NonNull;
use std::task::Waker;

pub(crate) struct Gate {
    word: Word,
    capacity: usize,
    line: Mutex<Line<Waiting>>,
    homes: Homes,
}

/// One in the line.
struct Waiting {
    waker: Waker,
    /// Goes before what it points to.
    wait: WaitSlot,
    kept: Kept,
}

/// What is kept for a wait that is recorded.
#[derive(Default)]
pub(crate) struct Kept {
    /// From the first section on.
    pub(crate) caller: Option<Caller>,
    /// The record points to it.
    pub(crate) _room: Option<Arc<dyn Room>>,
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
    /// Not in the line: there would never be room.
    Deadlock(Deadlock),
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
        let (line, homes) = (Mutex::new(Line::default()), Homes::default());
        Self { word: Word::new(), capacity, line, homes }
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

    /// Which of those inside are at home.
    pub(crate) fn homes(&self) -> &Homes {
        &self.homes
    }

    /// By what room comes, if that is known of all who are inside. For who knows somebody that waits.
    pub(crate) fn ways(&self) -> Option<Ways> {
        self.homes.ways(|| self.word.inside())
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

    /// Goes in, or to the end of the line. `waits` records the wait, if it comes to that.
    #[inline]
    pub(crate) fn enter_or_wait(&self, waker: &Waker, waits: impl Recorder) -> Waited {
        match self.word.enter(self.capacity) {
            Entry::Inside => Waited::Entered,
            Entry::Closed => Waited::Closed,
            Entry::Full => self.wait(waker.clone(), waits),
        }
    }

    #[cold]
    fn wait(&self, waker: Waker, waits: impl Recorder) -> Waited {
        let mut line = self.line.lock();
        match self.word.enter_or_wait(self.capacity) {
            Entry::Inside => Waited::Entered,
            Entry::Closed => Waited::Closed,
            Entry::Full => {
                let mut wait = WaitSlot::default();
                let kept = waits(&mut wait);
                Waited::Waits(line.join(Waiting { waker, wait, kept }))
            }
        }
    }

    /// Looks whether it is the ticket's turn; if not, `waker` is woken when it is. `waits` records the wait
    /// again.
    pub(crate) fn look(&self, ticket: Ticket, waker: &Waker, waits: impl Recorder) -> Waited {
        // A waker is anybody's code: it is cloned before the lock, and dropped after it.
        let mut waker = waker.clone();
        let (_left, _caller, _before);
        let mut line = self.line.lock();
        let standing = line.standing(&ticket);
        let Some(waiting) = line.waiting(&ticket) else {
            _caller = self.homes.notices(ticket.number());
            return if standing == Standing::Called { Waited::Entered } else { Waited::Closed };
        };
        mem::swap(&mut waiting.waker, &mut waker);
        if let Some(deadlock) = waiting.wait.begins_poll() {
            _left = line.leave(ticket);
            self.has_left(&line);
            return Waited::Deadlock(deadlock);
        }
        let kept = waits(&mut waiting.wait);
        _before = mem::replace(&mut waiting.kept, kept);
        Waited::Waits(ticket)
    }

    /// The waker of the wait with this record, if it stands in the line. To be woken: nobody else will.
    pub(crate) fn take_waker(&self, record: NonNull<Record>) -> Option<Waker> {
        let mut line = self.line.lock();
        let waiting = line.iter_mut().find(|waiting| waiting.wait.record() == Some(record))?;
        Some(mem::replace(&mut waiting.waker, Waker::noop().clone()))
    }

    /// One who waited has gone. Under the lock of the line.
    fn has_left(&self, line: &Line<Waiting>) {
        if line.is_empty() {
            self.word.nobody_waits();
        }
    }

    /// Gives a ticket back, and with it the place if there is one by now. True as for
    /// [`leave`](Self::leave), of that place.
    pub(crate) fn cancel(&self, ticket: Ticket) -> bool {
        let (unused, called, waiting) = {
            let mut line = self.line.lock();
            let caller = self.homes.notices(ticket.number());
            let (standing, waiting) = line.leave(ticket);
            if standing == Standing::Waits {
                self.has_left(&line);
            }
            let owns_place = standing == Standing::Called;
            let called = owns_place.then(|| self.hand_on(&mut line)).flatten();
            ((waiting, caller), called, owns_place && !line.is_empty())
        };
        drop(unused);
        wake(called);
        waiting
    }

    /// Leaves; the place goes to the first of the line. True if others are in the line then.
    #[inline]
    pub(crate) fn leave(&self) -> bool {
        match self.word.leave(self.capacity) {
            Exit::Outside => false,
            Exit::StillFull => true,
            Exit::HandOn => self.leave_to_the_line(),
        }
    }

    #[cold]
    fn leave_to_the_line(&self) -> bool {
        let (called, waiting) = {
            let mut line = self.line.lock();
            (self.hand_on(&mut line), !line.is_empty())
        };
        wake(called);
        waiting
    }

    /// Leaves, under the lock of the line; returns who is to be woken after it.
    fn hand_on(&self, line: &mut Line<Waiting>) -> Option<Waker> {
        // Looks again: the line may have ended before the lock was taken.
        if self.word.leave(self.capacity) != Exit::HandOn {
            return None;
        }
        let ticket = line.first();
        let called = line.call();
        debug_assert!(called.is_some(), "`WAITS` is set while there is a line");
        self.has_left(line);
        let Waiting { waker, kept, .. } = called?;
        if let Some((ticket, caller)) = ticket.zip(kept.caller) {
            self.homes.call(ticket, caller);
        }
        Some(waker)
    }

    /// Lets nobody in any more. Who waits is told; who is inside stays.
    pub(crate) fn close(&self) {
        let dismissed = {
            let mut line = self.line.lock();
            self.word.close();
            line.dissolve()
        };
        for Waiting { waker, .. } in dismissed {
            wake(Some(waker));
        }
    }
}

/// Records that the calling task waits, and says what is to be kept for it.
pub(crate) trait Recorder: FnOnce(&mut WaitSlot) -> Kept {}

impl<F: FnOnce(&mut WaitSlot) -> Kept> Recorder for F {}

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
