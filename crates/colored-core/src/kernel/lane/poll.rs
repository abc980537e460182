//! The turn of a task: a poll, and what the task asked for in it.

use crate::hooks;
use crate::kernel::lane::base::{AfterTurn, Held, LanePtr};
use crate::kernel::lane::current::{self, Hold};
use crate::kernel::lane::refs::LaneRef;
use crate::kernel::task::{Ended, Schedule, TaskRef, Wants};

/// Polls the task at the head of the lane, or cancels it.
///
/// # Safety
///
/// `task` is at the head, and this thread may run it.
#[inline(always)]
pub(in crate::kernel::lane) unsafe fn run(
    lane: Held<'_>,
    task: TaskRef<LanePtr>,
    closing: bool,
) -> AfterTurn {
    // SAFETY: this thread holds the lane, at whose head the task is, and the caller promises that it may run the task.
    let (done, asked) = current::polling(task, || unsafe { task.run(closing) });
    // SAFETY: the task's hop left a reference with the lane, and this is the only use of it.
    let hop = asked.hop.map(|lane| unsafe { LaneRef::from_counted(lane) });
    let has_held = lane.inner(|inner| {
        if done || hop.is_some() {
            // SAFETY: this thread holds the task's lane, and the task is alive until its node leaves the chain.
            unsafe { inner.live.remove(task) };
        } else {
            // SAFETY: this thread holds the task's lane. The task is not complete, so the runtime's reference keeps it
            // in the list.
            unsafe { inner.live.insert(task) };
        }
        inner.holds.is_on()
    });
    let wants = if done { Wants::Wait } else { task.wants() };
    if has_held && wants != Wants::Lane {
        // The task at the head does not want to keep the lane any longer.
        lane.forget_section();
    }
    if done {
        // SAFETY: this thread holds the lane, and `poll` or `cancel` has stored the output.
        hooks::completing(task, || unsafe { task.complete() });
        return AfterTurn::Unlink;
    }
    if let Some(to) = hop {
        debug_assert!(to.ptr() != lane.ptr(), "a hop goes to another lane");
        // SAFETY: the owner that polled may move the task, which takes the hop's reference along.
        unsafe { task.set_lane(to.into_counted()) };
        return AfterTurn::Unlink;
    }
    match wants {
        Wants::Lane => {
            if asked.yielded {
                task.wake();
            }
            AfterTurn::Park
        }
        Wants::Wait if !asked.yielded => AfterTurn::Unlink,
        Wants::Wait | Wants::Again => AfterTurn::Rotate,
    }
}

/// Does what remains after the turn of a task.
///
/// # Safety
///
/// The task has had its turn under the lane of `hold`, and is in no chain.
#[inline(always)]
pub(in crate::kernel::lane) unsafe fn finish(task: TaskRef<LanePtr>, hold: &Hold) {
    if task.is_complete() {
        hold.owe(-1);
        current::count_completed();
        // SAFETY: the task is complete and its node in no chain; the runtime's reference ends here.
        return unsafe { task.release() };
    }
    let lane = task.lane();
    if lane != hold.ptr() {
        hold.owe(-1);
    // SAFETY: the owner that polled may move the task, up to this call.
    } else if unsafe { task.end() } == Ended::Waiting {
        return;
    }
    // SAFETY: the task hops, or was woken meanwhile: it is scheduled and in no chain, so it is still this owner's to
    // move.
    let schedule = || unsafe { lane.schedule(task.node()) };
    // The record says that the task itself goes on, not that something outside has woken it.
    hooks::completing(task, schedule);
}
