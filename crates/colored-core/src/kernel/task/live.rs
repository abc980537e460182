//! The list of a lane's tasks that have been polled and wait.
//!
//! Tracking costs no atomic operation: the list belongs to the lane's holder. A task that is done
//! after its first poll is never in it; one that has never been polled is found in the chain.

use super::Schedule;
use super::header::{Links, Member, TaskRef};

/// The list. Holder only.
#[derive(Debug)]
pub(crate) struct LiveList<S: Schedule> {
    first: Option<Member<S>>,
}

impl<S: Schedule> LiveList<S> {
    pub(crate) fn new() -> Self {
        Self { first: None }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Adds a task, unless it is in the list.
    ///
    /// # Safety
    ///
    /// The caller holds the lane whose list this is and whose task it is; the task stays alive
    /// until it is removed.
    #[inline]
    pub(crate) unsafe fn insert(&mut self, task: TaskRef<S>) {
        // SAFETY: the caller promises that the task is alive and of a lane that it holds.
        let task = unsafe { Member::new(task) };
        if task.is_in_list() {
            return;
        }
        let next = self.first.replace(task);
        task.with(|links| (links.previous, links.next) = (None, next));
        if let Some(next) = next {
            next.with(|links| links.previous = Some(task));
        }
    }

    /// Removes a task, if it is in the list.
    ///
    /// # Safety
    ///
    /// As for [`LiveList::insert`].
    #[inline]
    pub(crate) unsafe fn remove(&mut self, task: TaskRef<S>) {
        // SAFETY: the caller promises that the task is alive and of a lane that it holds.
        self.take_out(unsafe { Member::new(task) });
    }

    #[inline]
    fn take_out(&mut self, task: Member<S>) {
        let take = |links: &mut Links<S>| {
            let previous = links.previous.replace(task);
            (previous != Some(task)).then(|| (previous, links.next.take()))
        };
        let Some((previous, next)) = task.with(take) else { return };
        match previous {
            Some(previous) => previous.with(|links| links.next = next),
            None => self.first = next,
        }
        if let Some(next) = next {
            next.with(|links| links.previous = previous);
        }
    }

    /// The youngest task of the list.
    pub(crate) fn first(&self) -> Option<TaskRef<S>> {
        self.first.map(|first| TaskRef(first.0))
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
        next.map(|next| TaskRef(next.0))
    }

    /// Turns the list around: the oldest task is the first one then.
    ///
    /// # Safety
    ///
    /// The caller holds the lane.
    pub(crate) unsafe fn reverse(&mut self) {
        let mut next = self.first;
        while let Some(task) = next {
            self.first = Some(task);
            next = task.with(|links| {
                std::mem::swap(&mut links.previous, &mut links.next);
                links.previous
            });
        }
    }

    /// Removes the first task and returns it.
    ///
    /// # Safety
    ///
    /// The caller holds the lane.
    pub(crate) unsafe fn pop(&mut self) -> Option<TaskRef<S>> {
        let first = self.first?;
        self.take_out(first);
        Some(TaskRef(first.0))
    }
}
