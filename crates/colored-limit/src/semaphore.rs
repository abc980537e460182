//! A counting semaphore with a first-in first-out wait queue. It knows no lane.
//!
//! The state word ([`state`]) decides everything. The wait queue changes under its
//! lock, and `WAITS` is set exactly while the queue is not empty and the lock is free. So one
//! exchange suffices to enter or leave while nothing waits. A thread that leaves and finds `WAITS`
//! takes the lock and passes its permit to the first waiter, which is inside before it take_called. A
//! waiter must not lose such a permit: so a waiter that gives up checks whether it was called, and
//! then leaves as any other item does.
//!
//! The wait queue keeps the record of a wait ([`RoomWait`]), so the record ends when the waiter is
//! called or dismissed, before the waiter learns of it.

mod items;
mod state;

pub(crate) use self::items::{Items, Key};

use self::state::{Entry, Exit, MAX_CAPACITY, State};
use crate::wait_queue::{WaitQueue, WaiterId, WaiterState};
use colored_core::port::sync::Mutex;
use colored_core::port::{RoomWait, WaitId, WaitingTask, Ways};
use colored_core::{Deadlock, contain};
use std::mem;
use std::task::Waker;

pub(crate) struct Semaphore {
    state: State,
    capacity: usize,
    waiters: Mutex<WaitQueue<Waiting>>,
    items: Items,
}

/// A waiter in the queue.
struct Waiting {
    waker: Waker,
    wait: RoomWait,
    /// The task that waits. Set from the first section on.
    task: Option<WaitingTask>,
}

/// Why the semaphore admits nothing right now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    Full,
    Closed,
}

/// The result of waiting.
#[derive(Debug)]
pub(crate) enum Waited {
    /// The caller is inside.
    Entered,
    /// The waiter is in the queue.
    Waits(WaiterId),
    Closed,
    /// There would never be room; the waiter is not in the queue.
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

    /// The items inside, and which of them can leave only under the color.
    pub(crate) fn items(&self) -> &Items {
        &self.items
    }

    /// The ways in which there can be room, if they are known for all items inside. The caller
    /// knows that a task waits.
    pub(crate) fn ways(&self) -> Option<Ways> {
        self.items.ways(|| self.state.inside())
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state.is_closed()
    }

    /// Enters if there is room and nothing waits.
    #[inline]
    pub(crate) fn try_enter(&self) -> Result<(), Refused> {
        refused(self.state.enter(self.capacity))
    }

    /// Enters whether or not there is room, before all waiters.
    pub(crate) fn enter_over(&self) -> Result<(), Refused> {
        refused(self.state.enter_over())
    }

    /// Enters, or joins the end of the wait queue. In the second case `record` records the wait.
    #[inline]
    pub(crate) fn enter_or_wait(&self, waker: &Waker, record: impl Recorder) -> Waited {
        match self.state.enter(self.capacity) {
            Entry::Inside => Waited::Entered,
            Entry::Closed => Waited::Closed,
            Entry::Full => self.wait(waker.clone(), record),
        }
    }

    #[cold]
    fn wait(&self, waker: Waker, record: impl Recorder) -> Waited {
        let mut waiters = self.waiters.lock();
        match self.state.enter_or_wait(self.capacity) {
            Entry::Inside => Waited::Entered,
            Entry::Closed => Waited::Closed,
            Entry::Full => {
                let mut wait = RoomWait::default();
                let task = record(&mut wait);
                Waited::Waits(waiters.join(Waiting { waker, wait, task }))
            }
        }
    }

    /// Checks whether the waiter has been called; if not, the call will wake `waker`, and `record`
    /// records the wait again.
    pub(crate) fn look(&self, waiter: WaiterId, waker: &Waker, record: impl Recorder) -> Waited {
        // A waker is foreign code, so it is cloned before the lock, and dropped after it.
        let mut waker = waker.clone();
        let (_left, _task, _before);
        let mut waiters = self.waiters.lock();
        let state = waiters.state(&waiter);
        let Some(waiting) = waiters.waiting(&waiter) else {
            _task = self.items.take_called(waiter.number());
            return if state == WaiterState::Called { Waited::Entered } else { Waited::Closed };
        };
        mem::swap(&mut waiting.waker, &mut waker);
        if let Some(deadlock) = waiting.wait.begin_poll() {
            _left = waiters.leave(waiter);
            self.clear_waits(&waiters);
            return Waited::Deadlock(deadlock);
        }
        let task = record(&mut waiting.wait);
        _before = mem::replace(&mut waiting.task, task);
        Waited::Waits(waiter)
    }

    /// Takes the waker of this wait, if it is in the queue. The caller must wake it, because no
    /// other thread will.
    pub(crate) fn take_waker(&self, wait: WaitId) -> Option<Waker> {
        let mut waiters = self.waiters.lock();
        let waiting = waiters.iter_mut().find(|waiting| waiting.wait.is(wait))?;
        Some(mem::replace(&mut waiting.waker, Waker::noop().clone()))
    }

    /// Clears the wait records after a waiter has left, under the lock of the queue.
    fn clear_waits(&self, waiters: &WaitQueue<Waiting>) {
        if waiters.is_empty() {
            self.state.nobody_waits();
        }
    }

    /// Removes a waiter, and releases its permit if it has been called. Returns true as
    /// [`leave`](Self::leave) does for that permit.
    pub(crate) fn cancel(&self, waiter: WaiterId) -> bool {
        let (unused, called, waiting) = {
            let mut waiters = self.waiters.lock();
            let task = self.items.take_called(waiter.number());
            let (state, waiting) = waiters.leave(waiter);
            if state == WaiterState::Waiting {
                self.clear_waits(&waiters);
            }
            let owns_permit = state == WaiterState::Called;
            let called = owns_permit.then(|| self.hand_on(&mut waiters)).flatten();
            ((waiting, task), called, owns_permit && !waiters.is_empty())
        };
        drop(unused);
        wake(called);
        waiting
    }

    /// Leaves, and passes the permit to the first waiter. Returns true if others wait then.
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

    /// Leaves, under the lock of the queue; returns the waker to wake after the lock.
    fn hand_on(&self, waiters: &mut WaitQueue<Waiting>) -> Option<Waker> {
        // Checks again: the queue may have become empty before the lock was taken.
        if self.state.leave(self.capacity) != Exit::HandOn {
            return None;
        }
        let waiter = waiters.first();
        let called = waiters.call();
        debug_assert!(called.is_some(), "`WAITS` is set while there is a line");
        self.clear_waits(waiters);
        let Waiting { waker, wait, task } = called?;
        drop(wait);
        if let Some((waiter, task)) = waiter.zip(task) {
            self.items.call(waiter, task);
        }
        Some(waker)
    }

    /// Closes the semaphore: it dismisses all waiters; items inside stay.
    pub(crate) fn close(&self) {
        let dismissed = {
            let mut waiters = self.waiters.lock();
            self.state.close();
            waiters.dissolve()
        };
        for Waiting { waker, wait, .. } in dismissed {
            drop(wait);
            wake(Some(waker));
        }
    }
}

/// Records that the calling task waits, and returns the task if the search for deadlocks needs it.
pub(crate) trait Recorder: FnOnce(&mut RoomWait) -> Option<WaitingTask> {}

impl<F: FnOnce(&mut RoomWait) -> Option<WaitingTask>> Recorder for F {}

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
