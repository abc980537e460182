//! The lists of tasks that wait: of each lane, those that have been polled; and of a scheduler, those that keep their lanes.
//!
//! # Of a lane
//!
//! Tracking costs no atomic operation: the list belongs to the lane's holder. A task that is done
//! after its first poll is never in it; one that has never been polled is found in the chain.
//!
//! # Of tasks in sections, which keep their lanes
//!
//! A shutdown aborts these, and the search for deadlocks starts from them.
//!
//! A node that a shutdown pushes on such a lane has no turn before the task's section ends, and the
//! section may never end. The holder of a lane enters the task when it waits with its lane for the
//! first time, and removes it before it leaves the lane. So an entered task is alive.

use crate::kernel::task::turn::TaskTurn;
use crate::kernel::task::{Abort, Schedule};
use crate::kernel::task::{Header, Links, TaskRef};
use crate::sync::Mutex;
use crossbeam_utils::CachePadded;
use std::num::NonZeroU32;
use std::ptr::NonNull;

/// The list, in the part of a lane that belongs to the holder. So who has a reference to it holds the lane.
#[derive(Debug)]
pub(crate) struct LiveList<S: Schedule> {
    first: Option<NonNull<Header<S>>>,
}

/// A task in the list of its lane, or one that is added or looked for. Who has one may use its [`Links`]: the task is
/// alive, and this thread holds its lane. A task that is in the list stays alive until it is removed
/// ([`LiveList::insert`]), so a member leads to others.
struct Member<S: Schedule>(NonNull<Header<S>>);

impl<S: Schedule> Member<S> {
    #[inline]
    fn of(turn: &TaskTurn<'_, S>) -> Self {
        Self(turn.task().0)
    }

    /// # Safety
    ///
    /// The task is alive, and the caller holds its lane, for as long as the member is used.
    #[inline]
    unsafe fn new(task: TaskRef<S>) -> Self {
        Self(task.0)
    }

    #[inline]
    fn with<R>(&self, f: impl FnOnce(&mut Links<S>) -> R) -> R {
        // SAFETY: a member is alive.
        let header = unsafe { self.0.as_ref() };
        header.live.with_mut(|links| {
            // SAFETY: this thread holds the lane of a member, so no other thread uses the links; `f` cannot reach them
            // again.
            f(unsafe { &mut *links })
        })
    }

    #[inline]
    fn is_in_list(&self) -> bool {
        self.with(|links| links.previous) != Some(self.0)
    }
}

impl<S: Schedule> LiveList<S> {
    pub(crate) fn new() -> Self {
        Self { first: None }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Adds the task, unless it is in the list. The list is that of the task's lane, and the task stays alive until it is
    /// removed: its next turn removes it before it completes.
    #[inline]
    pub(crate) fn insert(&mut self, turn: &TaskTurn<'_, S>) {
        let task = Member::of(turn);
        if task.is_in_list() {
            return;
        }
        let next = self.first.replace(task.0);
        task.with(|links| (links.previous, links.next) = (None, next));
        if let Some(next) = next {
            Member(next).with(|links| links.previous = Some(task.0));
        }
    }

    /// Removes the task, if it is in the list. The list is that of the task's lane.
    #[inline]
    pub(crate) fn remove(&mut self, turn: &TaskTurn<'_, S>) {
        self.take_out(&Member::of(turn));
    }

    #[inline]
    fn take_out(&mut self, task: &Member<S>) {
        let take = |links: &mut Links<S>| {
            let previous = links.previous.replace(task.0);
            (previous != Some(task.0)).then(|| (previous, links.next.take()))
        };
        let Some((previous, next)) = task.with(take) else { return };
        match previous {
            Some(previous) => Member(previous).with(|links| links.next = next),
            None => self.first = next,
        }
        if let Some(next) = next {
            Member(next).with(|links| links.previous = previous);
        }
    }

    /// The youngest task of the list.
    pub(crate) fn first(&self) -> Option<TaskRef<S>> {
        self.first.map(TaskRef)
    }

    /// Whether the task is in the list.
    ///
    /// # Safety
    ///
    /// The caller holds the lane whose list this is and whose task it is; the task is alive.
    pub(crate) unsafe fn has(&self, task: TaskRef<S>) -> bool {
        // SAFETY: the caller promises that the task is alive and of a lane that it holds.
        unsafe { Member::new(task) }.is_in_list()
    }

    /// The task behind one that is in the list.
    ///
    /// # Safety
    ///
    /// As for [`LiveList::has`], and the task is in the list.
    pub(crate) unsafe fn behind(&self, task: TaskRef<S>) -> Option<TaskRef<S>> {
        // SAFETY: the caller promises that the task is alive and of a lane that it holds.
        let next = unsafe { Member::new(task) }.with(|links| links.next);
        next.map(TaskRef)
    }

    /// Turns the list around: the oldest task is the first one then.
    pub(crate) fn reverse(&mut self) {
        let mut next = self.first;
        while let Some(task) = next {
            self.first = Some(task);
            next = Member(task).with(|links| {
                std::mem::swap(&mut links.previous, &mut links.next);
                links.previous
            });
        }
    }

    /// Removes the first task and returns it.
    pub(crate) fn pop(&mut self) -> Option<TaskRef<S>> {
        let first = self.first?;
        self.take_out(&Member(first));
        Some(TaskRef(first))
    }
}

/// Counts the times in which a task has the lane for its sections: from the first one until the task leaves the head.
/// Odd during such a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Holds(u32);

impl Holds {
    #[inline]
    pub(crate) fn is_on(self) -> bool {
        self.0 & 1 != 0
    }

    pub(crate) fn begin(&mut self) {
        self.0 |= 1;
    }

    pub(crate) fn end(&mut self) {
        self.0 = self.0.wrapping_add(self.0 & 1);
    }
}

/// Where a task that keeps its lane is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SectionKey(NonZeroU32);

impl SectionKey {
    fn new(index: usize) -> Self {
        let number = u32::try_from(index + 1).ok().and_then(NonZeroU32::new);
        Self(number.expect("fewer than 2³² tasks keep their lanes"))
    }

    fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// The scheduler is shutting down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Closing;

/// The tasks of one scheduler. One list per worker, so that workers share no lock in normal operation.
pub(crate) struct ParkedSections<S: Schedule> {
    shards: Box<[CachePadded<Mutex<Slots<S>>>]>,
}

struct Slots<S: Schedule> {
    tasks: Vec<Option<TaskRef<S>>>,
    free: Vec<u32>,
    closed: bool,
}

// SAFETY: an entered task is alive until it is removed, which takes the lock; and other threads only
// take a reference to it.
unsafe impl<S: Schedule> Send for Slots<S> {}

impl<S: Schedule> Default for Slots<S> {
    fn default() -> Self {
        Self { tasks: Vec::new(), free: Vec::new(), closed: false }
    }
}

impl<S: Schedule> ParkedSections<S> {
    pub(crate) fn new(shards: usize) -> Self {
        let shard = |_| CachePadded::new(Mutex::new(Slots::default()));
        Self { shards: (0..shards).map(shard).collect() }
    }

    /// Enters a task, which is about to wait and keeps its lane, in the list of a worker. Fails if the scheduler is
    /// closing.
    pub(crate) fn enter(&self, worker: usize, task: TaskRef<S>) -> Result<SectionKey, Closing> {
        let mut slots = self.shards[worker].lock();
        if slots.closed {
            return Err(Closing);
        }
        let slot = slots.free.pop().map_or(slots.tasks.len(), |slot| slot as usize);
        if slot == slots.tasks.len() {
            slots.tasks.push(None);
        }
        slots.tasks[slot] = Some(task);
        let index = slot * self.shards.len() + worker;
        Ok(SectionKey::new(index))
    }

    /// Removes a task, before it leaves the lane.
    pub(crate) fn remove(&self, section: SectionKey) {
        let (shards, index) = (self.shards.len(), section.index());
        let mut slots = self.shards[index % shards].lock();
        let slot = index / shards;
        slots.tasks[slot] = None;
        // The slot fits, because the whole index does.
        slots.free.push(slot as u32);
    }

    /// How many tasks are entered.
    pub(crate) fn len(&self) -> usize {
        let count = |slots: &Slots<S>| slots.tasks.len() - slots.free.len();
        self.shards.iter().map(|shard| count(&shard.lock())).sum()
    }

    /// Closes the list to further tasks, and returns references to all entered ones.
    pub(crate) fn close(&self) -> Vec<Abort<S>> {
        self.all_and(|slots| slots.closed = true)
    }

    /// References to all entered tasks.
    pub(crate) fn all(&self) -> Vec<Abort<S>> {
        self.all_and(|_| ())
    }

    fn all_and(&self, with: impl Fn(&mut Slots<S>)) -> Vec<Abort<S>> {
        let mut tasks = Vec::new();
        for shard in &self.shards {
            let mut slots = shard.lock();
            with(&mut slots);
            tasks.extend(slots.tasks.iter().flatten().map(|task| task.abort_handle()));
        }
        tasks
    }
}
