//! Pointers to lanes, and references that are counted.

use super::{Dispatch, Lane, ReadyLane, current, ticket};
use crate::queue::{Node, Pushed};
use crate::sync::{Arc, Ordering};
use crate::task::{self, Schedule, TaskRef};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::task::RawWakerVTable;

/// A pointer to a lane that something else keeps alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LanePtr(pub(super) NonNull<Lane>);

// SAFETY: a lane is `Send` and `Sync`, and the pointer says nothing about its life.
unsafe impl Send for LanePtr {}
// SAFETY: as for `Send`.
unsafe impl Sync for LanePtr {}

impl LanePtr {
    /// A pointer for a task that is never put on a lane.
    pub(crate) fn nowhere() -> Self {
        Self(NonNull::dangling())
    }

    pub(crate) fn from_box(lane: Box<Lane>) -> Self {
        Self(NonNull::from(Box::leak(lane)))
    }

    /// # Safety
    ///
    /// Made by [`LanePtr::from_box`], and nobody uses the lane any more.
    pub(crate) unsafe fn into_box(self) -> Box<Lane> {
        // SAFETY: by contract.
        unsafe { Box::from_raw(self.0.as_ptr()) }
    }

    /// # Safety
    ///
    /// The lane is alive while the reference is used.
    #[inline]
    pub(crate) unsafe fn get<'a>(self) -> &'a Lane {
        // SAFETY: by contract.
        unsafe { self.0.as_ref() }
    }

    /// Gives `refs` references back.
    ///
    /// # Safety
    ///
    /// The caller owns them and does not use the lane afterwards.
    pub(crate) unsafe fn release(self, refs: usize) {
        // SAFETY: the caller's references.
        let lane = unsafe { self.get() };
        // Ordering: Acquire pairs with the Release below: whoever is the last must see what all
        // holders did, above all whether one has published the lane.
        let mut before = lane.refs.load(Ordering::Acquire);
        while before > refs {
            // Ordering: Release orders this owner's use before the free. Never to zero: that
            // happens under the table's lock, so that a lookup cannot meet a dead lane.
            match lane.refs.compare_exchange_weak(
                before,
                before - refs,
                Ordering::Release,
                Ordering::Acquire,
            ) {
                Ok(_) => return,
                Err(now) => before = now,
            }
        }
        if !lane.port.retire_here(self, refs) {
            retire_from_outside(&lane.port, self, refs);
        }
    }

    /// Adds a node and sees that it will run.
    ///
    /// # Safety
    ///
    /// As for [`Chain::push`](crate::queue::Chain::push), and the node owns a reference to this lane or is
    /// [`Kind::Uncounted`](crate::queue::Kind::Uncounted).
    #[inline(always)]
    pub(crate) unsafe fn push(self, node: NonNull<Node>) {
        // SAFETY: by contract.
        unsafe { self.push_under(node, ()) };
    }

    /// As [`push`](Self::push), by somebody who keeps the scheduler alive: so a thread that is no worker
    /// need not, by a count that all threads share.
    ///
    /// # Safety
    ///
    /// As for `push`, and `port` is the lane's.
    #[inline(always)]
    pub(crate) unsafe fn push_in(self, node: NonNull<Node>, port: &impl Dispatch) {
        let dispatch = |_: &Lane, ready, pin| {
            if let Err(ready) = port.dispatch_here(ready, pin) {
                dispatch_from_outside(port, ready, pin);
            }
        };
        // SAFETY: by contract.
        unsafe { self.push_with(node, (), dispatch) };
    }

    /// As [`push`](Self::push). `guard` is dropped when the node has its place, and before anybody is
    /// told, which may run foreign code.
    ///
    /// # Safety
    ///
    /// As for `push`.
    #[inline(always)]
    pub(crate) unsafe fn push_under<G>(self, node: NonNull<Node>, guard: G) {
        // SAFETY: by contract.
        unsafe { self.push_with(node, guard, Lane::dispatch) };
    }

    /// # Safety
    ///
    /// As for [`push`](Self::push).
    #[inline(always)]
    unsafe fn push_with<G>(
        self,
        node: NonNull<Node>,
        guard: G,
        dispatch: impl FnOnce(&Lane, ReadyLane, u32),
    ) {
        // SAFETY: the node's reference, or the caller's.
        let lane = unsafe { self.get() };
        // SAFETY: in no chain yet, so it is ours to read.
        let Node { pin, urgent, .. } = *unsafe { node.as_ref() };
        if urgent | ticket::are_announced() {
            // SAFETY: by contract.
            return unsafe { self.push_unusual(node, pin, urgent, guard) };
        }
        // SAFETY: by contract.
        let pushed = unsafe { lane.chain.push(node) };
        drop(guard);
        if let Pushed::Claimed = pushed {
            dispatch(lane, ReadyLane(self), pin);
        }
    }
}

/// Kept out of the way of the workers.
#[inline(never)]
fn dispatch_from_outside(port: &(impl Dispatch + ?Sized), lane: ReadyLane, pin: u32) {
    port.dispatch(lane, pin);
}

/// The lane may be what keeps its scheduler alive.
#[cold]
fn retire_from_outside(port: &Arc<dyn Dispatch>, lane: LanePtr, refs: usize) {
    Arc::clone(port).retire(lane, refs);
}

impl Lane {
    /// Hands this lane to a thread that may run what is pinned to `pin`.
    #[inline(always)]
    pub(super) fn dispatch(&self, ready: ReadyLane, pin: u32) {
        // The right to run keeps the lane alive up to the hand-over.
        if let Err(ready) = self.port.dispatch_here(ready, pin) {
            dispatch_from_outside(&*Arc::clone(&self.port), ready, pin);
        }
    }
}

impl Schedule for LanePtr {
    type Target = Lane;

    #[inline]
    fn into_raw(self) -> NonNull<Lane> {
        self.0
    }

    #[inline]
    fn from_raw(raw: NonNull<Lane>) -> Self {
        Self(raw)
    }

    #[inline]
    fn waker_table() -> &'static RawWakerVTable {
        static TABLE: RawWakerVTable = task::waker_table::<LanePtr>();
        &TABLE
    }

    #[inline]
    fn yields(task: TaskRef<Self>) -> bool {
        current::yields(task)
    }

    #[inline]
    unsafe fn schedule(self, node: NonNull<Node>) {
        // SAFETY: a task that is not complete owns a reference to its lane.
        unsafe { self.push(node) };
    }

    unsafe fn resume(self, node: NonNull<Node>) {
        // SAFETY: a task that is not complete owns a reference to its lane.
        let lane = unsafe { self.get() };
        // SAFETY: at the head of the chain of a lane that is the caller's to run.
        let pin = unsafe { node.as_ref() }.pin;
        lane.dispatch(ReadyLane(self), pin);
    }
}

/// An owner of a lane.
pub(crate) struct LaneRef(pub(super) LanePtr);

impl LaneRef {
    /// # Safety
    ///
    /// The caller gives one reference.
    pub(crate) unsafe fn from_counted(lane: LanePtr) -> Self {
        Self(lane)
    }

    /// A reference that is not counted, nor given back.
    ///
    /// # Safety
    ///
    /// The lane is alive while this is used.
    pub(crate) unsafe fn borrowed(lane: LanePtr) -> ManuallyDrop<Self> {
        ManuallyDrop::new(Self(lane))
    }

    /// A reference to the lane that this thread holds, if it holds one. Counted as by
    /// [`LaneRef::for_node`], and for the same use.
    pub(super) fn of_holder() -> Option<Self> {
        let lane = current::lane()?;
        current::retain(lane);
        Some(Self(lane))
    }

    /// A reference for a node that is pushed on this lane next. The holder counts it only when its
    /// slice ends: nobody else can run the node, and so give the reference back, before.
    #[inline]
    pub(crate) fn for_node(&self) -> Self {
        if !current::retain(self.0) {
            self.retain(1);
        }
        Self(self.0)
    }

    /// Gives the reference to something else.
    #[inline]
    pub(crate) fn into_counted(self) -> LanePtr {
        let lane = self.0;
        std::mem::forget(self);
        lane
    }

    #[inline]
    pub(crate) fn ptr(&self) -> LanePtr {
        self.0
    }

    /// Whether the calling thread holds this lane right now.
    #[inline]
    pub(crate) fn is_current(&self) -> bool {
        current::is(self.0)
    }
}

impl std::ops::Deref for LaneRef {
    type Target = Lane;

    #[inline]
    fn deref(&self) -> &Lane {
        // SAFETY: this reference keeps it alive.
        unsafe { self.0.get() }
    }
}

impl Clone for LaneRef {
    /// Counts at once, also for the holder: a clone can leave the thread, and be given back on
    /// another one before this slice ends.
    #[inline]
    fn clone(&self) -> Self {
        self.retain(1);
        Self(self.0)
    }
}

impl Drop for LaneRef {
    #[inline]
    fn drop(&mut self) {
        if !current::give_back(self.0) {
            // SAFETY: this reference, not used again.
            unsafe { self.0.release(1) };
        }
    }
}
