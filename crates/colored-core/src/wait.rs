//! Waits: each is recorded while it lasts, and a cycle of them is found when it has lasted.
//!
//! # Records
//!
//! A future that returns `Pending` inside a task has a record in that task (`task/record.rs`), with or
//! without sections. It says what is waited for, how, where in the source, and since when. The record
//! belongs to the task that polled the future last, and to the innermost section whose future was being
//! polled.
//!
//! | the wait | its record points to | what is waited for |
//! |---|---|---|
//! | a [`JoinHandle`](crate::JoinHandle) | the task | the task |
//! | a call, a read, a `when` over one color, the call of a pinned cell | the slot of its result | the color, until the closure begins |
//! | a `when` over several colors | its behavior | the colors that this lacks |
//! | a hop to a color where something is scheduled | nothing | the task's own color, from then on |
//! | room under a color | the limit | whoever can give room ([`room`]) |
//!
//! # Deadlocks
//!
//! A deadlock does not go away by itself. So nobody looks for one when a wait begins:
//! [`look_for_deadlocks`] does, when a wait inside a section has lasted ([`search`]). It is called by the
//! shell now and then, and tells one wait of each cycle, which then ends with the error.

pub(crate) mod room;
mod search;

pub use self::search::look_for_deadlocks;

use self::room::Room;
use crate::lane::section::inside;
use crate::lane::{Behavior, LanePtr, LaneRef, current};
use crate::sched::noted_time;
use crate::sync::Arc;
use crate::task::{Abort, Cause, Deadlock, How, Record};
use std::panic::Location;
use std::ptr::{self, NonNull};
use std::task::Waker;

/// What is known of all waits of one sort. The functions are called while the future cannot go.
pub(crate) struct Kind {
    /// What is waited for, kept; `None` if the wait is over.
    pub(crate) target: unsafe fn(&Cause) -> Option<Target>,
    /// The waker that the future has left, to be woken later.
    pub(crate) waker: unsafe fn(&Cause) -> Option<Waker>,
}

/// What is waited for.
pub(crate) enum Target {
    Task(Abort<LanePtr>),
    Lane(LaneRef),
    Behavior(Behavior),
    Room(Arc<dyn Room>),
    /// The task's own lane.
    Own,
}

/// A wait that is recorded, until this is dropped.
pub(crate) struct Wait(NonNull<Record>);

// SAFETY: a record may be left on any thread; in a poll of its task the caller has the list.
unsafe impl Send for Wait {}
// SAFETY: a shared reference reaches only what never changes.
unsafe impl Sync for Wait {}

impl Wait {
    /// Records that the task which this thread polls waits, if it polls one.
    ///
    /// # Safety
    ///
    /// The cause's pointers are what its kind asks for, until this is dropped.
    #[inline]
    pub(crate) unsafe fn begin(cause: Cause) -> Option<Self> {
        Self::insert(cause, false)
    }

    /// Records a section that has begun.
    pub(crate) fn section(site: &'static Location<'static>) -> Option<Self> {
        const HOW: &How = &How { text: "is in", is_shared: false };
        let nothing = ptr::null();
        Self::insert(Cause { how: HOW, site, kind: &(), what: nothing, beside: nothing }, true)
    }

    #[inline]
    fn insert(cause: Cause, is_section: bool) -> Option<Self> {
        let (task, lane) = (current::task()?, current::lane()?);
        let section = inside::get().and_then(|inside| inside.record);
        let owner = task.as_ptr().cast::<()>();
        let record = Record::allocate(owner, cause, section, noted_time(lane), is_section);
        // SAFETY: this thread polls the task, and the record is fresh.
        unsafe { task.insert_record(record) };
        Some(Self(record))
    }

    pub(crate) fn record(&self) -> NonNull<Record> {
        self.0
    }

    fn get(&self) -> &Record {
        // SAFETY: the future frees it, or says that it goes.
        unsafe { self.0.as_ref() }
    }

    /// Whether this thread polls the task in whose list it is.
    #[inline]
    fn is_here(&self) -> bool {
        current::task().is_some_and(|task| self.get().is_of(task.as_ptr().cast()))
    }

    /// It is polled again, in its task, and not ready: it is in the section that is polled now.
    #[inline]
    fn is_polled_again(&self) {
        let section = inside::get().and_then(|inside| inside.record);
        // SAFETY: this thread polls the task.
        unsafe { self.get().set_section(section) };
    }
}

impl Drop for Wait {
    #[inline]
    fn drop(&mut self) {
        match current::task().filter(|_| self.is_here()) {
            // SAFETY: this thread polls the task, in whose list the record is.
            Some(task) => unsafe { task.remove_record(self.0) },
            // SAFETY: not used again.
            None => unsafe { Record::leave(self.0) },
        }
    }
}

/// Where a future has the record of its wait. To be dropped before what the record points to.
#[derive(Default)]
pub(crate) struct WaitSlot(Option<Wait>);

impl WaitSlot {
    /// To be called in each poll, before anything that the record points to is touched. What the wait is
    /// to end with, unless it is over.
    #[inline]
    pub(crate) fn begins_poll(&mut self) -> Option<Deadlock> {
        let wait = self.0.as_ref()?;
        if !wait.is_here() {
            // It has been moved.
            self.0 = None;
            return None;
        }
        // SAFETY: this thread polls the task.
        let told = unsafe { wait.get().take_told() };
        if told.is_some() {
            self.0 = None;
        }
        told
    }

    /// The poll is over, and the future waits.
    ///
    /// # Safety
    ///
    /// As for [`Wait::begin`], and this is dropped, or [`end`](Self::end)ed, before what the cause points to.
    #[inline]
    pub(crate) unsafe fn waits(&mut self, cause: impl FnOnce() -> Cause) {
        match &self.0 {
            Some(wait) => wait.is_polled_again(),
            // SAFETY: by contract.
            None => self.0 = unsafe { Wait::begin(cause()) },
        }
    }

    /// As [`waits`](Self::waits), for the lane that the task goes to when its poll ends: then that is its own.
    pub(crate) fn waits_to_move(&mut self, how: &'static How, site: &'static Location<'static>) {
        const OWN: &Kind = &Kind { target: |_| Some(Target::Own), waker: |_| None };
        let nothing = ptr::null();
        let cause = || Cause { how, site, kind: OWN, what: nothing, beside: nothing };
        // SAFETY: the kind asks for nothing.
        unsafe { self.waits(cause) };
    }

    /// The wait is over.
    #[inline]
    pub(crate) fn end(&mut self) {
        self.0 = None;
    }

    pub(crate) fn record(&self) -> Option<NonNull<Record>> {
        self.0.as_ref().map(Wait::record)
    }
}

/// A turn that is wanted under one color.
#[derive(Clone, Copy)]
pub(crate) struct Turn<'a> {
    pub(crate) lane: &'a LaneRef,
    pub(crate) how: &'static How,
    pub(crate) site: &'static Location<'static>,
}
