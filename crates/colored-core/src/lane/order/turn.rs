//! The places in a lane where the order of its color is asked.

use super::color::ColorOrder;
use super::early::Pushed;
use super::here;
use crate::lane::LanePtr;
use crate::lane::held::{Head, Held};
use crate::queue::{Kind, Node};
use crate::sync::Arc;
use crate::task::TaskRef;
use colored_record::{Event, Mark};
use std::ptr::NonNull;

/// The order of the lane's color, if its scheduler records or replays.
pub(crate) struct LaneOrder(Option<Arc<ColorOrder>>);

impl LaneOrder {
    pub(super) fn new(order: Option<Arc<ColorOrder>>) -> Self {
        Self(order)
    }

    #[inline(always)]
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn get(&self) -> Option<&Arc<ColorOrder>> {
        self.0.as_ref()
    }

    /// Whether a task that goes on is pushed, in place of moving it behind the others.
    #[inline(always)]
    pub(crate) fn pushes_again(&self) -> bool {
        self.0.as_ref().is_some_and(|order| order.book.replay().is_some())
    }

    /// The task at the head has had its last turn in this lane: it is over, or hops.
    #[inline(always)]
    pub(in crate::lane) fn forget(&self, head: &Head) {
        if let Some(order) = &self.0
            && let Some(task) = head.task()
        {
            order.forget(head.tag(), task.id().get());
        }
    }

    /// Whether the task whose turn begins is to be cancelled: `None` if its state and `closing` decide.
    #[inline(always)]
    pub(crate) fn cancels(&self, task: TaskRef<LanePtr>, closing: bool) -> Option<bool> {
        let order = self.0.as_ref()?;
        if closing { None } else { order.cancels(task) }
    }
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

impl Held<'_> {
    /// The turn of the head begins. Returns whether it is to be cancelled.
    #[inline(always)]
    pub(in crate::lane) fn begin_turn(self, head: &Head, closing: bool) -> bool {
        match self.order.get() {
            Some(order) if !closing => order.begin(head.kind, head.pin, head.node, head.tag()),
            _ => closing,
        }
    }

    /// What [ends](TurnEnd::end) the turn of the head.
    #[inline(always)]
    pub(in crate::lane) fn turn_end(self) -> TurnEnd {
        let is_turn = |order: &&Arc<ColorOrder>| {
            order.book.replay().is_some() && self.head().kind != Kind::Inline
        };
        TurnEnd(self.order.get().filter(is_turn).cloned())
    }
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

impl LanePtr {
    /// Takes a node that is about to be pushed, if it may have to wait for its turn: then true, and the node is this
    /// lane's.
    ///
    /// # Safety
    ///
    /// As for [`LanePtr::push`].
    #[inline(always)]
    pub(in crate::lane) unsafe fn hold_back(self, node: NonNull<Node>) -> bool {
        // SAFETY: the node's reference, or the caller's, keeps the lane alive.
        match unsafe { self.get() }.order.get() {
            None => false,
            // SAFETY: the caller promises it.
            Some(order) => unsafe { hold_back(order, self, node) },
        }
    }
}

/// # Safety
///
/// As for [`LanePtr::push`].
#[inline(never)]
unsafe fn hold_back(order: &Arc<ColorOrder>, lane: LanePtr, node: NonNull<Node>) -> bool {
    // From the moment at which the node waits, another thread may let it in and free the lane.
    let order = Arc::clone(order);
    // SAFETY: the node is in no chain, so this thread may read it.
    let Node { kind, tag, .. } = unsafe { node.as_ref() };
    let pushed = Pushed { node, lane, is_task: *kind == Kind::Task };
    let is_held = order.hold_back(pushed, tag);
    if is_held {
        order.go_on(false);
    }
    is_held
}
