//! A semaphore: so many inside at once, the others in a line. It counts, and knows no lane.
//!
//! The word ([`word`](super::word)) decides everything; the line is changed under its lock, and
//! `WAITS` is set exactly while the line has somebody and nobody has the lock. So one exchange
//! suffices on either side while nobody waits, and whoever finds `WAITS` takes the lock and hands
//! its permit to the first: that one is inside before it has noticed. What it must not do is forget
//! the permit; so a waiter that goes away looks whether it was called, and then leaves as everybody
//! does.
//!
//! The record of a wait ([`wait`](crate::wait)) is kept in the line: so it ends when the waiter is called, or
//! dismissed, before that one learns of it.

use super::items::Items;
use super::state::{Entry, Exit, MAX_CAPACITY, State};
use super::wait_queue::{WaitQueue, WaiterId, WaiterState};
use crate::contain::contain;
use crate::sync::{Arc, Mutex};
use crate::task::{Deadlock, Record};
use crate::wait::WaitSlot;
use crate::wait::room::{Caller, Room, Ways};
use std::mem;
use std::ptr::NonNull;
use std::task::Waker;

pub(crate) struct Semaphore {
    state: State,
    capacity: usize,
    waiters: Mutex<WaitQueue<Waiting>>,
    items: Items,
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
    Waits(WaiterId),
    Closed,
    /// Not in the line: there would never be room.
    Deadlock(Deadlock),
}

impl Semaphore {
    /// # Panics
    ///
    /// If the capacity is zero or more than [`MAX_CAPACITY`].
    #[track_caller]
    pub(crate) fn new(capacity: usize) -> Self {
        assert!(
            (1..=MAX_CAPACITY).contains(&capacity),
            "a limit with capacity {capacity}: it must be from 1 to {MAX_CAPACITY}"
        );
        let (waiters, items) = (Mutex::new(WaitQueue::default()), Items::default());
        Self { state: State::new(), capacity, waiters, items }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(crate) fn inside(&self) -> usize {
        self.state.inside()
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiters.lock().len()
    }

    /// Which of those inside are at home.
    pub(crate) fn items(&self) -> &Items {
        &self.items
    }

    /// By what room comes, if that is known of all who are inside. For who knows somebody that waits.
    pub(crate) fn ways(&self) -> Option<Ways> {
        self.items.ways(|| self.state.inside())
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state.is_closed()
    }

    /// Goes in if there is room, and nobody in the line.
    #[inline]
    pub(crate) fn try_enter(&self) -> Result<(), Refused> {
        refused(self.state.enter(self.capacity))
    }

    /// Goes in whether or not there is room, past the line.
    pub(crate) fn enter_over(&self) -> Result<(), Refused> {
        refused(self.state.enter_over())
    }

    /// Goes in, or to the end of the line. `waits` records the wait, if it comes to that.
    #[inline]
    pub(crate) fn enter_or_wait(&self, waker: &Waker, waits: impl Recorder) -> Waited {
        match self.state.enter(self.capacity) {
            Entry::Inside => Waited::Entered,
            Entry::Closed => Waited::Closed,
            Entry::Full => self.wait(waker.clone(), waits),
        }
    }

    #[cold]
    fn wait(&self, waker: Waker, waits: impl Recorder) -> Waited {
        let mut waiters = self.waiters.lock();
        match self.state.enter_or_wait(self.capacity) {
            Entry::Inside => Waited::Entered,
            Entry::Closed => Waited::Closed,
            Entry::Full => {
                let mut wait = WaitSlot::default();
                let kept = waits(&mut wait);
                Waited::Waits(waiters.join(Waiting { waker, wait, kept }))
            }
        }
    }

    /// Looks whether it is the waiter's turn; if not, `waker` is woken when it is. `waits` records the wait
    /// again.
    pub(crate) fn look(&self, waiter: WaiterId, waker: &Waker, waits: impl Recorder) -> Waited {
        // A waker is anybody's code: it is cloned before the lock, and dropped after it.
        let mut waker = waker.clone();
        let (_left, _caller, _before);
        let mut waiters = self.waiters.lock();
        let state = waiters.state(&waiter);
        let Some(waiting) = waiters.waiting(&waiter) else {
            _caller = self.items.notices(waiter.number());
            return if state == WaiterState::Called { Waited::Entered } else { Waited::Closed };
        };
        mem::swap(&mut waiting.waker, &mut waker);
        if let Some(deadlock) = waiting.wait.begins_poll() {
            _left = waiters.leave(waiter);
            self.has_left(&waiters);
            return Waited::Deadlock(deadlock);
        }
        let kept = waits(&mut waiting.wait);
        _before = mem::replace(&mut waiting.kept, kept);
        Waited::Waits(waiter)
    }

    /// The waker of the wait with this record, if it stands in the line. To be woken: nobody else will.
    pub(crate) fn take_waker(&self, record: NonNull<Record>) -> Option<Waker> {
        let mut waiters = self.waiters.lock();
        let waiting = waiters.iter_mut().find(|waiting| waiting.wait.record() == Some(record))?;
        Some(mem::replace(&mut waiting.waker, Waker::noop().clone()))
    }

    /// One who waited has gone. Under the lock of the line.
    fn has_left(&self, waiters: &WaitQueue<Waiting>) {
        if waiters.is_empty() {
            self.state.nobody_waits();
        }
    }

    /// Gives a waiter back, and with it the permit if there is one by now. True as for
    /// [`leave`](Self::leave), of that permit.
    pub(crate) fn cancel(&self, waiter: WaiterId) -> bool {
        let (unused, called, waiting) = {
            let mut waiters = self.waiters.lock();
            let caller = self.items.notices(waiter.number());
            let (state, waiting) = waiters.leave(waiter);
            if state == WaiterState::Waiting {
                self.has_left(&waiters);
            }
            let owns_place = state == WaiterState::Called;
            let called = owns_place.then(|| self.hand_on(&mut waiters)).flatten();
            ((waiting, caller), called, owns_place && !waiters.is_empty())
        };
        drop(unused);
        wake(called);
        waiting
    }

    /// Leaves; the permit goes to the first of the line. True if others are in the line then.
    #[inline]
    pub(crate) fn leave(&self) -> bool {
        match self.state.leave(self.capacity) {
            Exit::Outside => false,
            Exit::StillFull => true,
            Exit::HandOn => self.leave_to_the_line(),
        }
    }

    #[cold]
    fn leave_to_the_line(&self) -> bool {
        let (called, waiting) = {
            let mut waiters = self.waiters.lock();
            (self.hand_on(&mut waiters), !waiters.is_empty())
        };
        wake(called);
        waiting
    }

    /// Leaves, under the lock of the line; returns who is to be woken after it.
    fn hand_on(&self, waiters: &mut WaitQueue<Waiting>) -> Option<Waker> {
        // Looks again: the line may have ended before the lock was taken.
        if self.state.leave(self.capacity) != Exit::HandOn {
            return None;
        }
        let waiter = waiters.first();
        let called = waiters.call();
        debug_assert!(called.is_some(), "`WAITS` is set while there is a line");
        self.has_left(waiters);
        let Waiting { waker, kept, .. } = called?;
        if let Some((waiter, caller)) = waiter.zip(kept.caller) {
            self.items.call(waiter, caller);
        }
        Some(waker)
    }

    /// Lets nobody in any more. Who waits is told; who is inside stays.
    pub(crate) fn close(&self) {
        let dismissed = {
            let mut waiters = self.waiters.lock();
            self.state.close();
            waiters.dissolve()
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
