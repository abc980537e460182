//! A look at the tasks of a lane, for a dump. It polls nothing, and runs no code of the program.
//!
//! # The invariant
//!
//! A [`View`] is a lane that this thread has the right to run, at a moment between two turns. Only the holder of a lane
//! polls its tasks, so while a view lasts no thread changes the list of waiting tasks, a record or a leaf of one of
//! these tasks, or takes a node out of the chain. The right to run comes in one of these ways, and no other:
//!
//! | the lane is | the visitor | how it has the right |
//! |---|---|---|
//! | idle | the thread that dumps | the lane's own node, as for an inline call ([`view_idle`]) |
//! | queued or running | the holder, at the begin of its next slice | it runs the slice ([`Dispatch::show`](crate::kernel::lane::Dispatch::show)) |
//! | parked | the thread that dumps | it has paused the task that keeps the lane ([`view_kept`]) |
//! | running on the thread that dumps | that thread, from inside a turn | its own hold ([`view_own`]) |
//!
//! So exclusion (G1) is as for an inline call; the order (G2) too: a node that is pushed during the view of an idle lane
//! stands behind the lane's own node, and the end of the view hands the lane on with that node at its head. A view
//! looks at a page of tasks, and so delays the lane for some 50 µs at most (G7). The lane is taken out of no queue.
//!
//! A lane that is not idle is asked by a bit in its slot ([`LaneSlot::ask`](crate::hooks::slots::LaneSlot::ask)). The bit is
//! a hint: it says that the scheduler has a request, which the holder takes out under a lock. The thread that dumps also
//! tries the lane again and again, so a bit that is seen late, or never, delays the dump only.

use crate::kernel::chain::Kind;
use crate::kernel::color::Color;
use crate::kernel::lane::base::{Held, LanePtr};
use crate::kernel::lane::push::try_take;
use crate::kernel::lane::refs::LaneRef;
use crate::kernel::task::{Paused, TaskRef};

/// A lane that this thread has the right to run, between two turns or inside one of its own.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    lane: Held<'a>,
    /// The task that keeps the lane, which the visitor has paused: it waits, although that makes it look scheduled.
    paused: Option<TaskRef<LanePtr>>,
}

/// The work that is scheduled in a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// Closures: posts, calls, and claims and reads of cells.
    pub(crate) closures: usize,
    /// There is more than was looked at.
    pub(crate) goes_on: bool,
}

/// Calls `f` with the lane if it is idle. `f` runs no code of the program.
#[inline]
pub(crate) fn view_idle<R>(lane: &LaneRef, f: impl FnOnce(View<'_>) -> R) -> Option<R> {
    if !try_take(lane) {
        return None;
    }
    // SAFETY: this thread has just taken the lane by its own node, and `lane` keeps it alive.
    let held = unsafe { Held::new(lane.ptr()) };
    let result = f(View::of(held));
    // SAFETY: the lane's own node is at its head since `try_take`, nothing has run under the color, and `lane` keeps it.
    unsafe { lane.ptr().end_unused() };
    Some(result)
}

/// Calls `f` with the lane if this thread runs it. `f` runs no code of the program.
pub(crate) fn view_own<R>(lane: &LaneRef, f: impl FnOnce(View<'_>) -> R) -> Option<R> {
    if !lane.is_current() {
        return None;
    }
    // SAFETY: this thread holds the lane up to the end of a turn that is further up the stack.
    let held = unsafe { Held::new(lane.ptr()) };
    Some(f(View::of(held)))
}

/// Calls `f` with the lane of a paused task, if the task keeps it. `f` runs no code of the program.
pub(crate) fn view_kept<R>(paused: &Paused<LanePtr>, f: impl FnOnce(View<'_>) -> R) -> Option<R> {
    if !paused.keeps_lane() {
        return None;
    }
    let task = paused.task();
    // SAFETY: the right to run a kept lane goes with the right to move its task, which is paused up to the end of this
    // call; the task's node is in the chain, and keeps the lane.
    let lane = unsafe { Held::new(task.lane()) };
    Some(f(View { paused: Some(task), ..View::of(lane) }))
}

impl<'a> View<'a> {
    pub(crate) fn of(lane: Held<'a>) -> Self {
        Self { lane, paused: None }
    }

    /// The lane's address, to compare it.
    pub(crate) fn ptr(self) -> LanePtr {
        self.lane.ptr()
    }

    pub(crate) fn color(self) -> Color {
        self.lane.color()
    }

    pub(crate) fn ask(self, asked: bool) {
        self.lane.slot.ask(asked);
    }

    /// Whether the task, one of this lane, waits to be woken.
    pub(crate) fn is_waiting(self, task: TaskRef<LanePtr>) -> bool {
        task.is_waiting() || self.paused == Some(task)
    }

    /// Whether the task is on the lane's list of tasks that have been polled and are not complete.
    ///
    /// The caller keeps the task alive.
    pub(crate) fn has(self, task: TaskRef<LanePtr>) -> bool {
        // A task whose lane is another one may be on that lane's list, which this thread must not read. Only the holder
        // of a lane moves a task away from it; a task that comes has left its last list before.
        // SAFETY: this thread holds the lane, whose task it is; the maker of the view promised that it is alive.
        task.lane() == self.ptr() && self.lane.inner(|inner| unsafe { inner.live.has(task) })
    }

    /// The task behind `last` on that list, or the first one. `last` is on the list.
    pub(crate) fn task_behind(self, last: Option<TaskRef<LanePtr>>) -> Option<TaskRef<LanePtr>> {
        self.lane.inner(|inner| match last {
            None => inner.live.first(),
            // SAFETY: this thread holds the lane, and the caller says that the task is on its list.
            Some(last) => unsafe { inner.live.behind(last) },
        })
    }

    /// Shows at most `most` nodes that are scheduled, in their order: calls `f` for each task that is on no list yet.
    pub(crate) fn line(self, most: usize, mut f: impl FnMut(TaskRef<LanePtr>)) -> Line {
        let mut line = Line::default();
        let mut next = Some((self.lane.head().node, self.lane.head().kind));
        for _ in 0..most {
            let Some((node, kind)) = next else { return line };
            match kind {
                Kind::Task => {
                    // SAFETY: the node is of `Kind::Task`, and a task in a chain is alive.
                    let task: TaskRef<LanePtr> = unsafe { TaskRef::from_node(node) };
                    // A completed task may still be here, behind which a producer is half done.
                    if !task.is_complete() && !self.has(task) {
                        f(task);
                    }
                }
                Kind::Inline => {}
                Kind::Callback | Kind::Uncounted | Kind::Claim | Kind::Read => line.closures += 1,
            }
            next = self.lane.chain.next(node);
        }
        line.goes_on = next.is_some();
        line
    }
}
