//! The seam: the moments of lanes and tasks, which the kernel calls, and the one place that calls who listens.
//!
//! | who listens | when | what a moment costs otherwise |
//! |---|---|---|
//! | meters and the flight recorder ([`observe`]) | some scheduler of the process records | a look at one word of the process |
//! | a dump ([`Dispatch::show`](crate::kernel::lane::Dispatch::show)) | it has asked the lane | a look at a bit of the lane's slot, once a slice |
//! | a simulation ([`points`](crate::ext::points)) | feature `sim` | nothing |
//! | spans of tasks ([`span`](crate::ext::span)) | feature `tracing` | nothing |
//!
//! The calls are static, so what is absent leaves no instruction. Who listens keeps what it knows of a lane, of a scheduler and
//! of a node in one field of each ([`slots`], [`mark`]); the kernel does not look into it. A new counter, or a new listener,
//! has a call here, and is written in `ext`.
//!
//! A moment that comes before an exchange which gives the right to run a lane away is called before it: another thread may
//! free the lane afterwards.

pub(crate) mod looks;
pub(crate) mod mark;
pub(crate) mod queues;
pub(crate) mod slots;
pub(crate) mod workers;

use crate::ext::{meter, observe};
use crate::kernel::chain::Node;
use crate::kernel::lane::base::{AfterTurn, Held, Lane, LanePtr};
use crate::kernel::lane::current::{self, Head, Hold};
use crate::kernel::task::TaskRef;

// A thread is about to act on the lane of another color: to push a node there, or to take the lane at once.
pub(crate) use crate::ext::points::{Act, Acts, at_site};
// A closure runs at once, on the thread of its caller.
pub(crate) use crate::ext::observe::inline_call::InlineCall;
// A slice that somebody listens to.
pub(crate) use crate::ext::observe::lane::{SliceListener, turn_begins};
// The lane, which this thread holds, is closed: the values of its color are dropped behind all that is scheduled.
pub(crate) use crate::ext::locals::close as color_closes;
// Nodes that make their lanes urgent while they are scheduled, where some color has a priority.
pub(crate) use crate::ext::priority::lent::{
    is_lent_urgency, lends_urgency, lower, raise, restore, takes_urgency,
};
// A task is spawned, or a closure is sent, by something that a subscriber knows.
pub(crate) use crate::ext::span::{Carried, Origin, TaskSpan};

/// Runs `tell` if some scheduler of the process records.
#[inline(always)]
fn if_on(tell: impl FnOnce()) {
    #[cold]
    #[inline(never)]
    fn out_of_line(tell: impl FnOnce()) {
        tell();
    }
    if meter::is_on() {
        out_of_line(tell);
    }
}

/// A task is about to be pushed: it has been woken, perhaps by the task that this thread polls.
#[inline(always)]
pub(crate) fn task_woken(lane: &Lane, node: &Node, task: TaskRef<LanePtr>) {
    if_on(|| {
        observe::lane::woken(lane, task.id());
        observe::lane::pushed(lane, node);
    });
}

/// A closure is about to be posted.
#[inline(always)]
pub(crate) fn posted(lane: &Lane) {
    if_on(|| observe::lane::posted(lane));
}

/// A call or a read is about to begin or to be queued.
#[inline(always)]
pub(crate) fn called(lane: &Lane) {
    if_on(|| observe::lane::called(lane));
}

/// A task that no other thread knows yet is about to be pushed.
#[inline(always)]
pub(crate) fn task_spawned(lane: &Lane, task: TaskRef<LanePtr>) {
    if_on(|| observe::lane::spawned(lane, task.named()));
}

/// A node is about to be pushed.
#[inline(always)]
pub(crate) fn pushed(lane: &Lane, node: &Node) {
    if_on(|| observe::lane::pushed(lane, node));
}

/// The caller is about to give the right to run the lane to a queue.
#[inline(always)]
pub(crate) fn queued(lane: &Lane) {
    if_on(|| observe::lane::queued(lane));
}

/// The wait of a node is over: its behavior has the lane, or its reader is inside.
#[inline]
pub(crate) fn entered(lane: &Lane, node: &Node) {
    if node.mark.take() {
        observe::lane::entered(lane);
    }
}

/// A behavior, or readers, are about to get the lane.
#[inline(always)]
pub(crate) fn taken(lane: &Lane) {
    if_on(|| observe::lane::taken(lane));
}

/// A reader is about to leave.
#[inline(always)]
pub(crate) fn left(lane: &Lane) {
    if_on(|| observe::lane::left(lane));
}

/// The next exchange may end the hold.
#[inline(always)]
pub(crate) fn idle(lane: &Lane) {
    if_on(|| observe::lane::idle(lane));
}

/// A slice begins.
#[inline(always)]
pub(crate) fn slice_begins(lane: Held<'_>, listener: Option<&mut (dyn SliceListener + '_)>) {
    if let Some(listener) = listener {
        observe::lane::slice_begins(lane, listener);
    }
    if lane.slot.is_asked() {
        lane.port.show(lane);
    }
}

/// A slice ends, and the lane goes back to a queue.
#[inline(always)]
pub(crate) fn slice_ends(lane: &Lane, listener: Option<&mut (dyn SliceListener + '_)>) {
    if let Some(listener) = listener {
        observe::lane::queued_at(lane, listener.last());
    }
}

/// The turn of the head is over, and has not given the lane away.
#[inline(always)]
pub(crate) fn turn_ends(
    hold: &Hold,
    head: &Head,
    then: AfterTurn,
    listener: Option<&mut (dyn SliceListener + '_)>,
) {
    if let Some(listener) = listener
        && !matches!(then, AfterTurn::LaneGone | AfterTurn::Retry)
    {
        observe::lane::turn_ends(hold.lane(), head, then, listener);
    }
}

/// Runs the work behind the poll of a task: its end, which wakes others, or that it is scheduled again. The wakes are the
/// task's.
#[inline]
pub(crate) fn completing(task: TaskRef<LanePtr>, end: impl FnOnce()) {
    let id = if meter::is_on() { Some(task.id()) } else { None };
    let Some(id) = id else { return end() };
    let before = current::replace_completing(Some(id));
    end();
    current::replace_completing(before);
}
