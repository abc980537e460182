//! The turn of a task: a poll, and what the task asked for in it.

use crate::hooks;
use crate::kernel::lane::base::{AfterTurn, Held, LanePtr};
use crate::kernel::lane::current::{self, Hold};
use crate::kernel::lane::refs::LaneRef;
use crate::kernel::task::{EndedTurn, TaskTurn, Wants};

/// Polls the task at the head of the lane, or cancels it.
#[inline(always)]
pub(in crate::kernel::lane) fn run(
    lane: Held<'_>,
    mut turn: TaskTurn<'_, LanePtr>,
    closing: bool,
) -> AfterTurn {
    let (stored, asked) = current::poll(&mut turn, closing);
    // SAFETY: the task's hop left a reference with the lane, and this is the only use of it.
    let hop = asked.hop.map(|lane| unsafe { LaneRef::from_counted(lane) });
    let has_held = lane.inner(|inner| {
        if stored.is_some() || hop.is_some() {
            inner.live.remove(&turn);
        } else {
            inner.live.insert(&turn);
        }
        inner.holds.is_on()
    });
    let wants = if stored.is_some() { Wants::Wait } else { turn.wants() };
    if has_held && wants != Wants::Lane {
        // The task at the head does not want to keep the lane any longer.
        lane.forget_section();
    }
    if let Some(stored) = stored {
        hooks::completing(turn.task(), || turn.complete(stored));
        return AfterTurn::Unlink;
    }
    if let Some(to) = hop {
        debug_assert!(to.ptr() != lane.ptr(), "a hop goes to another lane");
        turn.hop(to.into_counted());
        return AfterTurn::Unlink;
    }
    match wants {
        Wants::Lane => {
            if asked.yielded {
                turn.task().wake();
            }
            AfterTurn::Park
        }
        Wants::Wait if !asked.yielded => AfterTurn::Unlink,
        Wants::Wait | Wants::Again => AfterTurn::Rotate,
    }
}

/// Does what remains after the turn of a task, which it had under the lane of `hold`.
#[inline(always)]
pub(in crate::kernel::lane) fn finish(turn: EndedTurn<'_, LanePtr>, hold: &Hold) {
    let Err(turn) = turn.release() else {
        hold.owe(-1);
        return current::count_completed();
    };
    let scheduled = if turn.task().lane() != hold.ptr() {
        hold.owe(-1);
        Some(turn)
    } else {
        turn.end()
    };
    // The task hops, or was woken meanwhile.
    if let Some(turn) = scheduled {
        // The record says that the task itself goes on, not that something outside has woken it.
        hooks::completing(turn.task(), || turn.schedule());
    }
}
