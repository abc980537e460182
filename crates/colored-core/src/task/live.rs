//! The list of a lane's tasks that have been polled and wait.
//!
//! Tracking costs no atomic operation: the list belongs to the lane's holder. A task that is done
//! after its first poll is never in it; one that has never been polled is found in the chain.

use super::Schedule;
use super::header::{Header, Links, TaskRef};
use std::ptr::NonNull;

/// The list. Holder only.
#[derive(Debug)]
pub(crate) struct LiveList<S: Schedule> {
    first: Option<NonNull<Header<S>>>,
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
        if unsafe { with(task.0, |links| links.previous) } != Some(task.0) {
            return;
        }
        let next = self.first.replace(task.0);
        // SAFETY: the caller promises that the task is alive and of a lane that it holds.
        unsafe { with(task.0, |links| (links.previous, links.next) = (None, next)) };
        if let Some(next) = next {
            // SAFETY: a task in the list stays alive until it is removed (`insert`), and the caller
            // holds its lane.
            unsafe { with(next, |links| links.previous = Some(task.0)) };
        }
    }

    /// Removes a task, if it is in the list.
    ///
    /// # Safety
    ///
    /// As for [`LiveList::insert`].
    #[inline]
    pub(crate) unsafe fn remove(&mut self, task: TaskRef<S>) {
        let take = |links: &mut Links<S>| {
            let previous = links.previous.replace(task.0);
            (previous != Some(task.0)).then(|| (previous, links.next.take()))
        };
        // SAFETY: the caller promises that the task is alive and of a lane that it holds.
        let Some((previous, next)) = (unsafe { with(task.0, take) }) else { return };
        match previous {
            // SAFETY: a task in the list stays alive until it is removed (`insert`), and the caller
            // holds its lane.
            Some(previous) => unsafe { with(previous, |links| links.next = next) },
            None => self.first = next,
        }
        if let Some(next) = next {
            // SAFETY: a task in the list stays alive until it is removed (`insert`), and the caller
            // holds its lane.
            unsafe { with(next, |links| links.previous = previous) };
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
        unsafe { with(task.0, |links| links.previous) != Some(task.0) }
    }

    /// The task behind one that is in the list.
    ///
    /// # Safety
    ///
    /// As for [`LiveList::has`], and the task is in the list.
    pub(crate) unsafe fn behind(&self, task: TaskRef<S>) -> Option<TaskRef<S>> {
        // SAFETY: the caller promises that the task is alive and of a lane that it holds.
        unsafe { with(task.0, |links| links.next) }.map(TaskRef)
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
            let turn = |links: &mut Links<S>| {
                std::mem::swap(&mut links.previous, &mut links.next);
                links.previous
            };
            // SAFETY: a task in the list stays alive until it is removed (`insert`), and the caller holds its lane.
            next = unsafe { with(task, turn) };
        }
    }

    /// Removes the first task and returns it.
    ///
    /// # Safety
    ///
    /// The caller holds the lane.
    pub(crate) unsafe fn pop(&mut self) -> Option<TaskRef<S>> {
        let task = TaskRef(self.first?);
        // SAFETY: a task in the list stays alive until it is removed (`insert`), and the caller
        // holds its lane.
        unsafe { self.remove(task) };
        Some(task)
    }
}

/// # Safety
///
/// The task is alive and the caller holds its lane.
unsafe fn with<S: Schedule, R>(task: NonNull<Header<S>>, f: impl FnOnce(&mut Links<S>) -> R) -> R {
    // SAFETY: the caller promises that the task is alive.
    let header = unsafe { task.as_ref() };
    header.live.with_mut(|links| {
        // SAFETY: the caller promises that it holds the lane, so no other thread uses the links;
        // `f` cannot reach them again.
        f(unsafe { &mut *links })
    })
}
