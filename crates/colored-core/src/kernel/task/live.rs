//! The list of a lane's tasks that have been polled and wait.
//!
//! Tracking costs no atomic operation: the list belongs to the lane's holder. A task that is done
//! after its first poll is never in it; one that has never been polled is found in the chain.

use super::Schedule;
use super::header::{Header, Links, TaskRef};
use super::turn::TaskTurn;
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
