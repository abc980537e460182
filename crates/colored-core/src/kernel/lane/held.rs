//! What the holder of a lane does with it: its inner part, the node at its head, and that node's turn.

use crate::hooks::mark::Mark;
use crate::kernel::color::Color;
use crate::kernel::lane::base::{AfterTurn, Held, Inner, LanePtr};
use crate::kernel::lane::current::{self, Hold};
use crate::kernel::queue::{Kind, Node};
use crate::kernel::task::{TaskRef, TaskTurn};
use std::ptr::NonNull;

impl Hold {
    /// The lane, up to the [end](Self::end) of the hold.
    #[inline]
    pub(crate) fn lane(&self) -> Held<'_> {
        debug_assert!(current::is(self.ptr()), "the hold has ended");
        // SAFETY: `begin` was promised that this thread holds the lane, and that it is alive, up to the end of the hold.
        unsafe { Held::new(self.ptr()) }
    }
}

impl Held<'_> {
    /// Calls `f` with the lane that this thread holds, if it holds one.
    #[inline]
    pub(crate) fn with_current<R>(f: impl FnOnce(Option<Held<'_>>) -> R) -> R {
        f(current::lane().map(|lane| {
            // SAFETY: this thread holds the lane up to the end of a turn that is further up the stack than `f`, and a
            // held lane is alive.
            unsafe { Held::new(lane) }
        }))
    }

    /// Calls `f` with the part that belongs to the holder. `f` runs no user code, so it cannot come here again.
    #[inline]
    pub(crate) fn inner<R>(self, f: impl FnOnce(&mut Inner) -> R) -> R {
        self.inner.with_mut(|inner| {
            // SAFETY: this thread holds the lane, and no other call of this function is in progress: `f` runs no user
            // code.
            f(unsafe { &mut *inner })
        })
    }

    /// The node at the head.
    #[inline]
    pub(crate) fn head(self) -> Head {
        let node = self.chain.head();
        // SAFETY: the head is alive: only the holder, which is this thread, takes it out.
        let at_head = unsafe { node.as_ref() };
        Head { node, kind: at_head.kind, pin: at_head.pin(), urgent: at_head.urgent }
    }

    /// The mark of the head, for listeners.
    #[inline]
    pub(crate) fn mark(self, head: &Head) -> &Mark {
        // SAFETY: the head is alive: only the holder, which is this thread, takes it out.
        &unsafe { head.node.as_ref() }.mark
    }

    /// Takes the mark of the head, whose turn begins, and returns whether it was there.
    #[inline]
    pub(crate) fn take_mark(self, head: &Head) -> bool {
        self.mark(head).take()
    }

    /// Takes what becomes of a head that has had its turn and is still where it was.
    #[inline]
    pub(crate) fn take_stalled(self) -> Option<AfterTurn> {
        // SAFETY: this thread holds the lane, and only the holder uses the field.
        self.stalled.with_mut(|stalled| unsafe { (*stalled).take() })
    }

    /// Whether its color has values.
    pub(crate) fn has_locals(self) -> bool {
        self.inner(|inner| inner.locals.is_some())
    }

    /// The head has had its turn, and a producer behind it is half done.
    pub(crate) fn set_stalled(self, then: AfterTurn) {
        // SAFETY: this thread holds the lane, and only the holder uses the field.
        self.stalled.with_mut(|stalled| unsafe { *stalled = Some(then) });
    }
}

/// The node at the head of a held lane, and the fields of it that do not change while it is scheduled.
#[derive(Clone, Copy)]
pub(crate) struct Head {
    pub(crate) node: NonNull<Node>,
    pub(crate) kind: Kind,
    pub(crate) pin: u32,
    pub(crate) urgent: bool,
}

impl Head {
    /// The task, if the node is one.
    #[inline]
    pub(crate) fn task(&self) -> Option<TaskRef<LanePtr>> {
        // SAFETY: the node is of `Kind::Task`, and the runtime's reference keeps the task up to the end of `finish`.
        (self.kind == Kind::Task).then(|| unsafe { TaskRef::from_node(self.node) })
    }

    /// The turn of the task, if the node is one.
    ///
    /// # Safety
    ///
    /// The node is at the head of the lane of `hold`, and its task is not complete. This thread may run it, and has no other
    /// [`TaskTurn`] of it.
    #[inline]
    pub(crate) unsafe fn task_turn<'h>(&self, _hold: &'h Hold) -> Option<TaskTurn<'h, LanePtr>> {
        // SAFETY: the caller promises that this is the one turn of the task, at the head of a lane that is held for `'h`.
        self.task().map(|task| unsafe { TaskTurn::new(task) })
    }
}

/// The turn of the node at the head of a lane. This thread holds the lane, and may run the node.
pub(crate) struct Turn<'a> {
    pub(crate) hold: &'a Hold,
    pub(crate) head: Head,
    /// Whether everything is to be cancelled.
    pub(crate) closing: bool,
}

impl Turn<'_> {
    pub(crate) fn lane(&self) -> Held<'_> {
        self.hold.lane()
    }
}

/// The color that this thread runs under; look-ups can find it from now on.
pub(crate) fn current_color() -> Option<Color> {
    Held::with_current(|lane| {
        let lane = lane?;
        lane.publish(lane.ptr());
        Some(lane.color())
    })
}

/// As [`current_color`], for a text: a fresh color gets no entry in the table.
#[cfg(feature = "tracing")]
pub(crate) fn shown_color() -> Option<Color> {
    Held::with_current(|lane| Some(lane?.color()))
}

/// The time in the scheduler of the lane that this thread holds; see [`noted_time`](crate::kernel::lane::Dispatch::noted_time).
#[inline]
pub(crate) fn noted_time() -> Option<u64> {
    Held::with_current(|lane| Some(lane?.port.noted_time()))
}
