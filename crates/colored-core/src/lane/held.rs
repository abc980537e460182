//! [`Held`]: the proof that this thread holds a lane.

use crate::lane::current::{self, Hold};
use crate::lane::node::Then;
use crate::lane::{Inner, Lane, LanePtr};
use crate::queue::{Kind, Node};
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;

/// A lane that this thread holds for `'a`. Only the holder reaches the lane's inner part.
#[derive(Clone, Copy)]
pub(crate) struct Held<'a> {
    ptr: LanePtr,
    _on_this_thread: PhantomData<(&'a Lane, *const ())>,
}

impl Hold {
    /// The lane, up to the [end](Self::end) of the hold.
    #[inline]
    pub(super) fn lane(&self) -> Held<'_> {
        debug_assert!(current::is(self.ptr()), "the hold has ended");
        // SAFETY: `begin` was promised that this thread holds the lane, and that it is alive, up to the end of the hold.
        unsafe { Held::new(self.ptr()) }
    }
}

impl<'a> Held<'a> {
    /// # Safety
    ///
    /// This thread holds the lane for `'a`, and the lane is alive meanwhile.
    #[inline]
    pub(super) unsafe fn new(ptr: LanePtr) -> Self {
        Self { ptr, _on_this_thread: PhantomData }
    }

    #[inline]
    pub(super) fn ptr(self) -> LanePtr {
        self.ptr
    }

    /// Calls `f` with the lane that this thread holds, if it holds one.
    #[inline]
    pub(super) fn with_current<R>(f: impl FnOnce(Option<Held<'_>>) -> R) -> R {
        f(current::lane().map(|lane| {
            // SAFETY: this thread holds the lane up to the end of a turn that is further up the stack than `f`, and a
            // held lane is alive.
            unsafe { Held::new(lane) }
        }))
    }

    /// Calls `f` with the part that belongs to the holder. `f` runs no user code, so it cannot come here again.
    #[inline]
    pub(super) fn inner<R>(self, f: impl FnOnce(&mut Inner) -> R) -> R {
        self.inner.with_mut(|inner| {
            // SAFETY: this thread holds the lane, and no other call of this function is in progress: `f` runs no user
            // code.
            f(unsafe { &mut *inner })
        })
    }

    /// The node at the head.
    #[inline]
    pub(super) fn head(self) -> Head {
        let node = self.chain.head();
        // SAFETY: the head is alive: only the holder, which is this thread, takes it out.
        let at_head = unsafe { node.as_ref() };
        Head { node, kind: at_head.kind, pin: at_head.pin(), urgent: at_head.urgent }
    }

    /// Whether the node at the head, whose turn begins, was counted.
    #[inline]
    pub(super) fn was_counted(self, head: &Head) -> bool {
        // SAFETY: the head is alive: only the holder, which is this thread, takes it out.
        unsafe { head.node.as_ref() }.counted.take()
    }

    /// Takes what becomes of a head that has had its turn and is still where it was.
    #[inline]
    pub(super) fn take_stalled(self) -> Option<Then> {
        // SAFETY: this thread holds the lane, and only the holder uses the field.
        self.stalled.with_mut(|stalled| unsafe { (*stalled).take() })
    }

    /// The head has had its turn, and a producer behind it is half done.
    pub(super) fn set_stalled(self, then: Then) {
        // SAFETY: this thread holds the lane, and only the holder uses the field.
        self.stalled.with_mut(|stalled| unsafe { *stalled = Some(then) });
    }
}

/// The node at the head of a held lane, and the fields of it that do not change while it is scheduled.
#[derive(Clone, Copy)]
pub(super) struct Head {
    pub(super) node: NonNull<Node>,
    pub(super) kind: Kind,
    pub(super) pin: u32,
    pub(super) urgent: bool,
}

#[cfg(feature = "record")]
impl Head {
    /// What has pushed it.
    #[inline]
    pub(super) fn tag(&self) -> &crate::queue::Tag {
        // SAFETY: the head is alive: only the holder, which is this thread, takes it out.
        &unsafe { self.node.as_ref() }.tag
    }
}

impl Deref for Held<'_> {
    type Target = Lane;

    #[inline]
    fn deref(&self) -> &Lane {
        // SAFETY: `new` was promised that the lane is alive.
        unsafe { self.ptr.get() }
    }
}
