//! What lanes and their scheduler keep of sections: the tasks that wait and keep their lanes. A shutdown aborts them, and the search for deadlocks
//! starts from them.
//!
//! A node that a shutdown pushes on such a lane has no turn before the task's section ends, and the
//! section may never end. The holder of a lane enters the task when it waits with its lane for the
//! first time, and removes it before it leaves the lane. So an entered task is alive.

use crate::kernel::task::{Abort, Schedule, TaskRef};
use crate::sync::Mutex;
use crossbeam_utils::CachePadded;
use std::num::NonZeroU32;

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
