//! The rights to a task, as values. None can be cloned, or sent to another thread while it borrows.
//!
//! | right | who has it | until |
//! |---|---|---|
//! | [`TaskTurn`] | the holder of the lane, at whose head the task is | the task leaves the head |
//! | [`EndedTurn`] | the same thread, when the node is in no chain | the task waits, is scheduled, or is freed |
//! | [`PolledTask`] | the code inside a poll of the task | the poll ends |
//! | [`Paused`] | a thread that keeps a task, which waits, from running | it is dropped |
//! | [`Section`] | the future of an open section: for as long as it is there, the task keeps its lane | it is dropped |
//! | [`Unpolled`] | a thread that knows that no other one polls the task | it has read what it wants |
//!
//! The function that makes one says what its maker must know. From then on the methods are safe, and one that ends the right
//! takes the value.

use super::Schedule;
use super::TaskRef;
use super::join::Abort;
use super::state::{Begun, Completed, Ended, Kept, MOST_SECTIONS, State, Wants};
use super::wait_record::WaitRecord;
#[cfg(feature = "leaves")]
use crate::hooks::slots::Leaf;
use crate::kernel::budget;
use crate::kernel::memory::Boxed;
use crate::kernel::task::contain;
use crate::sync::Ordering;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// The turn of a task at the head of a lane that this thread holds for `'h`.
#[must_use]
pub(crate) struct TaskTurn<'h, S: Schedule> {
    task: TaskRef<S>,
    hold: PhantomData<&'h ()>,
}

/// A turn has stored the output of its task, or that the task was cancelled.
#[must_use]
pub(crate) struct Stored(());

impl<S: Schedule> TaskTurn<'_, S> {
    /// # Safety
    ///
    /// For the lifetime of the value this thread holds the task's lane, at whose head the task is, and may run it, or has
    /// taken a task that is on no lane to run it. The task is not complete, and no other value of this type is for it.
    #[inline]
    pub(crate) unsafe fn new(task: TaskRef<S>) -> Self {
        Self { task, hold: PhantomData }
    }

    #[inline]
    pub(crate) fn task(&self) -> TaskRef<S> {
        self.task
    }

    /// Polls the future once, or drops it if `cancel` says so or the task has been aborted.
    #[inline]
    pub(crate) fn run(&mut self, cancel: bool) -> Option<Stored> {
        let begun = self.task.header().state.begin();
        if cancel || begun == Begun::Cancel {
            // SAFETY: this thread holds the lane and may run the task, and the turn has begun.
            unsafe { (self.task.header().vtable.cancel)(self.task) };
            return Some(Stored(()));
        }
        #[cfg(feature = "leaves")]
        // SAFETY: this thread holds the lane, at whose head the task is, so it is the owner that may move the task.
        self.task.header().leaf.with_mut(|leaf| unsafe { (*leaf).age() });
        // SAFETY: this thread holds the lane and may run the task, and the turn has begun.
        let done = budget::fresh(|| unsafe { (self.task.header().vtable.poll)(self.task) });
        done.then_some(Stored(()))
    }

    /// The action that the task needs after its poll.
    #[inline]
    pub(crate) fn wants(&self) -> Wants {
        self.task.header().state.wants()
    }

    /// Whether the task has been woken since its poll began. False may be out of date.
    #[inline]
    pub(crate) fn is_notified(&self) -> bool {
        self.task.header().state.is_notified()
    }

    /// Has the task go on under that lane, a reference to which the caller gives.
    #[inline]
    pub(crate) fn hop(self, lane: S) {
        // Ordering: as in `TaskRef::lane`.
        self.task.header().lane.store(lane.into_raw().as_ptr(), Ordering::Release);
    }

    /// Makes the stored output known to the handle. The runtime's reference stays.
    pub(crate) fn complete(self, _output: Stored) {
        let header = self.task.header();
        header.records.with_mut(|records| {
            // SAFETY: this thread holds the lane, and the task is still `SCHEDULED`, so no other thread can poll or
            // pause it.
            let records = unsafe { &mut *records };
            if !records.is_empty() {
                records.dissolve();
            }
        });
        match header.state.complete() {
            // SAFETY: the exchange found no handle, so the output belongs to the holder of the lane, which is this
            // thread.
            Completed::DropOutput => unsafe { (header.vtable.drop_output)(self.task) },
            Completed::Keep => {}
            Completed::WakeJoiner => {
                let waker = header.joiner.with_mut(|waker| {
                    // SAFETY: `JOINER` was set when `COMPLETE` was, and the handle never takes a waker back that it
                    // finds `COMPLETE` with: only this owner uses the waker.
                    unsafe { &mut *waker }.take()
                });
                // The waker must not stay: the task would keep its joiner for as long as a reference keeps the task. A
                // foreign waker may panic; the worker must survive that.
                if let Some(waker) = waker {
                    contain(|| waker.wake());
                }
            }
        }
    }

    /// The poll was not ready, and the task keeps its lane.
    pub(crate) fn end_keeping(self) -> Kept {
        self.task.header().state.end_keeping()
    }
}

/// A task that has had its turn, and whose node is in no chain: this thread may still move it.
#[must_use]
pub(crate) struct EndedTurn<'h, S: Schedule> {
    task: TaskRef<S>,
    hold: PhantomData<&'h ()>,
}

impl<S: Schedule> EndedTurn<'_, S> {
    /// # Safety
    ///
    /// The task has had its turn on this thread, its node has left the chain since, and no other value of this type is for
    /// that turn.
    #[inline]
    pub(crate) unsafe fn new(task: TaskRef<S>) -> Self {
        Self { task, hold: PhantomData }
    }

    #[inline]
    pub(crate) fn task(&self) -> TaskRef<S> {
        self.task
    }

    /// Gives back the runtime's reference, if the task is complete.
    #[inline]
    pub(crate) fn release(self) -> Result<(), Self> {
        if !self.task.is_complete() {
            return Err(self);
        }
        self.task.release_late();
        Ok(())
    }

    /// The task waits, unless it has been woken since its poll began: then its owner still has it.
    #[inline]
    pub(crate) fn end(self) -> Option<Self> {
        match self.task.header().state.end() {
            Ended::Waiting => None,
            Ended::Reschedule => Some(self),
        }
    }

    /// Puts the task on its lane.
    #[inline]
    pub(crate) fn schedule(self) {
        // SAFETY: the task is scheduled and in no chain, so it is still this owner's to move.
        unsafe { self.task.lane().schedule(self.task.node()) };
    }
}

/// A task, for code inside a poll of it.
pub(crate) struct PolledTask<'p, S: Schedule> {
    task: TaskRef<S>,
    poll: PhantomData<&'p ()>,
}

impl<S: Schedule> PolledTask<'_, S> {
    /// # Safety
    ///
    /// For the lifetime of the value this thread is inside a poll of the task.
    #[inline]
    pub(crate) unsafe fn new(task: TaskRef<S>) -> Self {
        Self { task, poll: PhantomData }
    }

    #[inline]
    pub(crate) fn task(&self) -> TaskRef<S> {
        self.task
    }

    /// From now on only this thread polls the task.
    pub(crate) fn pin_to(&self, pin: u32) {
        self.task.header().node.pin_to(pin);
    }

    /// Notes that a leaf has returned `Pending`.
    #[cfg(feature = "leaves")]
    #[inline]
    pub(crate) fn note_leaf(&self, leaf: Leaf, is_guard: bool, now: u64) {
        // SAFETY: the poll of the task has the slot to itself, and `set` runs no other code.
        self.task.header().leaf.with_mut(|slot| unsafe { (*slot).set(leaf, is_guard, now) });
    }

    /// Forgets the leaf of this poll, if `is_it` says so. `is_it` runs no code that could come here again.
    #[cfg(feature = "leaves")]
    #[inline]
    pub(crate) fn forget_leaf(&self, is_it: impl FnOnce(Leaf) -> bool) {
        // SAFETY: the poll of the task has the slot to itself, and `is_it` does not come here again.
        self.task.header().leaf.with_mut(|slot| unsafe { (*slot).forget(is_it) });
    }

    /// Adds a fresh record of a wait, of which the future has the returned half.
    #[inline]
    pub(crate) fn insert_record(&self, record: Boxed<WaitRecord>) -> NonNull<WaitRecord> {
        self.task.header().records.with_mut(|records| {
            // SAFETY: only a poll of the task uses the list meanwhile; this code is inside it, and `insert` runs no
            // foreign code.
            unsafe { &mut *records }.insert(record)
        })
    }

    /// Takes a record out, and frees it.
    ///
    /// # Safety
    ///
    /// The record is in the list of this task, and the caller is the future that has it.
    #[inline]
    pub(crate) unsafe fn remove_record(&self, record: NonNull<WaitRecord>) {
        self.task.header().records.with_mut(|records| {
            // SAFETY: this code is inside the poll of the task, which has the list to itself, and `remove` runs no
            // foreign code.
            let records = unsafe { &mut *records };
            // SAFETY: the caller promises that it is the future of the record, which is in the list.
            unsafe { records.remove(record) };
        });
    }
}

/// A task that waits, and that does not run before this is dropped: this thread has the right to move it. Keeps the task alive.
#[must_use]
pub(crate) struct Paused<S: Schedule> {
    task: Abort<S>,
    keeps_lane: bool,
}

impl<S: Schedule> Abort<S> {
    /// Keeps the task from running. `None` if it does not wait.
    pub(crate) fn pause(&self) -> Option<Paused<S>> {
        let keeps_lane = self.task().header().state.pause()?;
        Some(Paused { task: self.clone(), keeps_lane })
    }
}

impl<S: Schedule> Paused<S> {
    pub(crate) fn task(&self) -> TaskRef<S> {
        self.task.task()
    }

    /// Whether the task keeps its lane. Then this thread has the right to run the lane.
    pub(crate) fn keeps_lane(&self) -> bool {
        self.keeps_lane
    }
}

impl<S: Schedule> Drop for Paused<S> {
    /// Gives the right back. A task that was woken meanwhile runs.
    fn drop(&mut self) {
        self.task().change(State::unpause);
    }
}

/// A task that no other thread polls for `'a`.
pub(crate) struct Unpolled<'a, S: Schedule> {
    task: TaskRef<S>,
    time: PhantomData<&'a ()>,
}

impl<'a, S: Schedule> Unpolled<'a, S> {
    /// # Safety
    ///
    /// For `'a` no other thread polls the task, and this one runs no code of it.
    pub(crate) unsafe fn new(task: TaskRef<S>) -> Self {
        Self { task, time: PhantomData }
    }

    /// The leaf that the task waits for, and for how many nanoseconds at `now`.
    #[cfg(feature = "leaves")]
    pub(crate) fn leaf(&self, now: u64) -> Option<(Leaf, u64)> {
        // SAFETY: only polls of the task write the slot, and no other thread polls it.
        self.task.header().leaf.with(|slot| unsafe { (*slot).read(now) })
    }

    /// The records of its waits, the youngest first.
    pub(crate) fn records(&self) -> Vec<&'a WaitRecord> {
        self.task.header().records.with(|records| {
            // SAFETY: no thread polls the task, so none changes the list.
            let records = unsafe { &*records }.iter();
            // SAFETY: only turns of the task free a record that is in its list, and no thread polls the task for `'a`.
            records.map(|record| unsafe { record.as_ref() }).collect()
        })
    }
}

/// A reference to a task that keeps its lane. Dropped anywhere, it ends the section.
pub(crate) struct Section<S: Schedule>(TaskRef<S>);

// SAFETY: only atomic operations can be reached. The drop may schedule the task, as a wake does, or
// free it, as an `Abort` does.
unsafe impl<S: Schedule> Send for Section<S> {}
// SAFETY: a shared reference reaches only the state word, which is atomic, and fields that never
// change.
unsafe impl<S: Schedule> Sync for Section<S> {}

/// The task has as many open sections as can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMany;

impl fmt::Display for TooMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a task has at most {MOST_SECTIONS} sections at once")
    }
}

impl<S: Schedule> Section<S> {
    /// Opens a section of the task that this thread polls.
    pub(crate) fn enter(task: &PolledTask<'_, S>) -> Result<Self, TooMany> {
        let task = task.task();
        if task.header().state.enter_section() { Ok(Self(task)) } else { Err(TooMany) }
    }

    /// The task. It is alive as long as this section.
    pub(crate) fn task(&self) -> TaskRef<S> {
        self.0
    }
}

impl<S: Schedule> Drop for Section<S> {
    fn drop(&mut self) {
        self.0.change(State::leave_section);
    }
}
