//! Without the feature `record`, nothing is recorded or replayed.

use crate::hooks::slots::SchedulerSlot;
use crate::kernel::lane::base::{Held, Lane, LanePtr};
use crate::kernel::lane::held::Head;
use crate::kernel::queue::{Kind, Node};
use crate::kernel::task::TaskRef;
use std::panic::Location;
use std::ptr::NonNull;
use std::task::{Context, Poll};

/// Neither.
#[derive(Clone, Copy, Debug, Default)]
pub struct Order(());

impl Order {
    #[expect(clippy::unused_self, reason = "as with the feature")]
    pub(crate) const fn fill(self, _slot: &mut SchedulerSlot) {}
}

#[inline(always)]
pub(crate) const fn is_on(_lane: &Lane) -> bool {
    false
}

#[inline(always)]
pub(crate) const fn pushes_again(_lane: &Lane) -> bool {
    false
}

#[inline(always)]
pub(crate) const fn forget(_lane: &Lane, _head: &Head) {}

#[inline(always)]
pub(crate) const fn cancels(_lane: &Lane, _task: TaskRef<LanePtr>, _closing: bool) -> Option<bool> {
    None
}

#[inline(always)]
pub(crate) const fn turn_begins(_lane: Held<'_>, _head: &Head, closing: bool) -> bool {
    closing
}

#[inline(always)]
pub(crate) const fn turn_end(_lane: Held<'_>) -> TurnEnd {
    TurnEnd
}

/// Nothing.
pub(crate) struct TurnEnd;

impl TurnEnd {
    #[inline(always)]
    pub(crate) const fn end(self) {}
}

/// False.
///
/// # Safety
///
/// None.
#[inline(always)]
pub(crate) const unsafe fn hold_back(_lane: LanePtr, _node: NonNull<Node>) -> bool {
    false
}

/// As with the feature.
#[derive(Clone, Copy, Debug)]
pub(crate) enum How {
    Join,
    Call,
}

/// As with the feature.
pub(crate) trait Awaited {
    type Output;

    fn poll_now(&mut self, cx: &mut Context<'_>) -> Poll<Self::Output>;

    #[expect(dead_code, reason = "as with the feature")]
    fn is_there(&self) -> bool;

    #[expect(dead_code, reason = "as with the feature")]
    fn wait_only(&mut self, cx: &mut Context<'_>);
}

#[inline(always)]
pub(crate) fn poll<A: Awaited>(
    _how: How,
    awaited: &mut A,
    cx: &mut Context<'_>,
) -> Poll<A::Output> {
    awaited.poll_now(cx)
}

/// Nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallOrder;

impl CallOrder {
    pub(crate) const fn new(_number: u64, _site: &'static Location<'static>) -> Self {
        Self
    }

    #[inline(always)]
    #[expect(clippy::unused_self, reason = "as with the feature")]
    pub(crate) fn run<R>(&self, run: impl FnOnce() -> R) -> R {
        run()
    }
}

/// Nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndSerial;

impl EndSerial {
    pub(crate) const fn new(_lane: &Lane) -> Self {
        Self
    }
}

pub(crate) fn end_node(_lane: &Lane, _serial: EndSerial) -> Node {
    Node::new(Kind::Callback, 0)
}

#[inline(always)]
pub(crate) fn is_over(ask: impl Fn() -> bool) -> bool {
    ask()
}

#[inline(always)]
pub(crate) const fn is_wanted(is_wanted: bool) -> bool {
    is_wanted
}

/// Nothing.
#[inline(always)]
pub const fn refuse(_what: &str) {}

/// Nothing.
#[inline(always)]
pub(crate) const fn refuse_at(_what: &str, _place: &Location<'static>) {}
