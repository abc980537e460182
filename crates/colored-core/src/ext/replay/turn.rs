//! The places in a lane where the order of its color is asked.

use super::book::ColorOrder;
use super::early::Pushed;
use super::here::{self, order_of};
use crate::kernel::lane::base::{Held, Lane, LanePtr};
use crate::kernel::lane::held::Head;
use crate::kernel::queue::{Kind, Node};
use crate::kernel::task::TaskRef;
use crate::sync::Arc;
use colored_record::{Event, Mark};
use std::ptr::NonNull;

/// Whether the turns of the lane are recorded or replayed.
#[inline(always)]
pub(crate) fn is_on(lane: &Lane) -> bool {
    order_of(lane).is_some()
}

/// Whether a task that goes on is pushed, in place of moving it behind the others.
#[inline(always)]
pub(crate) fn pushes_again(lane: &Lane) -> bool {
    order_of(lane).is_some_and(|order| order.book.replay().is_some())
}

/// The task at the head has had its last turn in this lane: it is over, or hops.
#[inline(always)]
pub(crate) fn forget(lane: &Lane, head: &Head) {
    if let Some(order) = order_of(lane)
        && let Some(task) = head.task()
    {
        order.forget(head.tag(), task.id().get());
    }
}

/// Whether the task whose turn begins is to be cancelled: `None` if its state and `closing` decide.
#[inline(always)]
pub(crate) fn cancels(lane: &Lane, task: TaskRef<LanePtr>, closing: bool) -> Option<bool> {
    let order = order_of(lane)?;
    if closing { None } else { order.cancels(task) }
}

impl ColorOrder {
    #[cold]
    fn cancels(&self, task: TaskRef<LanePtr>) -> Option<bool> {
        if !self.book.is_open() {
            return None;
        }
        if self.book.replay().is_none() {
            let is_aborted = task.is_aborted();
            if is_aborted {
                here::note(Mark::Aborted, true);
            }
            return Some(is_aborted);
        }
        let is_aborted = self.peek() == Some(Event::Mark(Mark::Aborted, true));
        if is_aborted {
            self.take(&Mark::Aborted, |event| {
                (event == Event::Mark(Mark::Aborted, true)).then_some(())
            });
        }
        Some(is_aborted)
    }
}

/// The turn of the head begins. Returns whether it is to be cancelled.
#[inline(always)]
pub(crate) fn turn_begins(lane: Held<'_>, head: &Head, closing: bool) -> bool {
    match order_of(&lane) {
        Some(order) if !closing => order.begin(head.kind, head.pin, head.node, head.tag()),
        _ => closing,
    }
}

/// What [ends](TurnEnd::end) the turn of the head.
#[inline(always)]
pub(crate) fn turn_end(lane: Held<'_>) -> TurnEnd {
    let is_turn = |order: &&Arc<ColorOrder>| {
        order.book.replay().is_some() && lane.head().kind != Kind::Inline
    };
    TurnEnd(order_of(&lane).filter(is_turn).cloned())
}

/// The end of a turn, for when the node is out of the chain: another thread may have the lane by then.
pub(crate) struct TurnEnd(Option<Arc<ColorOrder>>);

impl TurnEnd {
    #[inline(always)]
    pub(crate) fn end(self) {
        if let Some(order) = self.0 {
            order.end_turn();
        }
    }
}

/// Takes a node that is about to be pushed, if it may have to wait for its turn: then true, and the node is this lane's.
///
/// # Safety
///
/// As for [`LanePtr::push`].
#[inline(always)]
pub(crate) unsafe fn hold_back(lane: LanePtr, node: NonNull<Node>) -> bool {
    // SAFETY: the node's reference, or the caller's, keeps the lane alive.
    match order_of(unsafe { lane.get() }) {
        None => false,
        // SAFETY: the caller promises it.
        Some(order) => unsafe { hold_back_in(order, lane, node) },
    }
}

/// # Safety
///
/// As for [`LanePtr::push`].
#[inline(never)]
unsafe fn hold_back_in(order: &Arc<ColorOrder>, lane: LanePtr, node: NonNull<Node>) -> bool {
    // SAFETY: the node is in no chain, so this thread may read it.
    let Node { kind, tag, .. } = unsafe { node.as_ref() };
    tag.set(here::source_in(&order.book));
    if order.book.replay().is_none() {
        return false;
    }
    // From the moment at which the node waits, another thread may let it in and free the lane.
    let order = Arc::clone(order);
    let pushed = Pushed { node, lane, is_task: *kind == Kind::Task };
    let is_held = order.hold_back(pushed, tag);
    if is_held {
        order.go_on(false);
    }
    is_held
}
