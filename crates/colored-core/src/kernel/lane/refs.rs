//! Counted references to lanes, and the end of the last one. An [`Address`] is one that programs have.

use crate::kernel::color::Color;
use crate::kernel::lane::base::{Dispatch, Held, Lane, LanePtr, Owner, Tenure};
use crate::kernel::lane::count::GivenBack;
use crate::kernel::lane::current::{self, NoTask};
use crate::sync::Arc;
use std::fmt;
use std::mem::ManuallyDrop;

impl LanePtr {
    /// Gives `refs` references back.
    ///
    /// # Safety
    ///
    /// The caller owns them, and uses the lane afterwards only by another reference.
    pub(crate) unsafe fn release(self, refs: usize) {
        // SAFETY: the caller's references keep the lane alive.
        let lane = unsafe { self.get() };
        // Never to zero: the scheduler takes the last reference, under the table's lock if the table has the lane, so
        // that a look-up cannot find a freed lane.
        if lane.refs.release_some(refs) {
            return;
        }
        // The reference is to the scheduler, not into the lane, which is freed during the call: that happens on a
        // worker, which keeps the scheduler.
        let port: &dyn Dispatch = &*lane.port;
        if !port.retire(self, refs, Owner::Worker) {
            // SAFETY: `retire` has refused, so the references are still the caller's.
            unsafe { self.retire_from_outside(refs) };
        }
    }

    /// The lane may be the only owner of its scheduler, so the caller keeps the scheduler too.
    ///
    /// # Safety
    ///
    /// As for [`release`](Self::release).
    #[cold]
    unsafe fn retire_from_outside(self, refs: usize) {
        // SAFETY: the caller's references keep the lane alive.
        let port = Arc::clone(&unsafe { self.get() }.port);
        port.retire(self, refs, Owner::Caller);
    }

    /// Gives references back that were the last ones when the caller looked, if the lane is not
    /// published.
    ///
    /// # Safety
    ///
    /// The caller owns them and does not use the lane afterwards. There are two exceptions: after
    /// [`GivenBack::Published`] it still owns them, and after [`GivenBack::Last`] it frees the lane.
    pub(crate) unsafe fn release_unpublished(self, refs: usize) -> GivenBack {
        // SAFETY: the caller's references keep the lane alive.
        let count = &unsafe { self.get() }.refs;
        count.release_unpublished(refs)
    }

    /// Gives references to a published lane back, under the lock of its table shard; true if none is
    /// left.
    ///
    /// # Safety
    ///
    /// The caller owns them and does not use the lane afterwards. After true it frees the lane.
    pub(crate) unsafe fn release_published(self, refs: usize) -> bool {
        // SAFETY: the caller's references keep the lane alive.
        let count = &unsafe { self.get() }.refs;
        count.release_published(refs)
    }
}

/// An owner of a lane.
pub(crate) struct LaneRef(pub(crate) LanePtr);

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
    pub(crate) fn of_holder() -> Option<Self> {
        let lane = current::lane()?;
        current::retain(lane);
        Some(Self(lane))
    }

    /// A reference for a node that is pushed on this lane next. The holder counts it only when its slice ends: no other
    /// thread can run the node, and so give the reference back, before.
    #[inline]
    pub(crate) fn for_node(&self) -> Self {
        if !current::retain(self.0) {
            self.retain(1);
        }
        Self(self.0)
    }

    /// Asks that the current task go on under this lane when its poll ends. If one poll asks twice, because a
    /// combinator polls two hops, the later request counts. Gives the reference back outside a task.
    pub(crate) fn hop(self) -> Result<(), Self> {
        match current::set_hop(self.0) {
            Ok(earlier) => {
                std::mem::forget(self);
                // SAFETY: the earlier request left its reference.
                drop(earlier.map(|lane| unsafe { Self::from_counted(lane) }));
                Ok(())
            }
            Err(NoTask) => Err(self),
        }
    }

    /// Forgets the reference, and gives its count to the caller.
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

    /// Whether no thread holds it, and nothing is scheduled. A hint.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.chain.is_idle()
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
        // SAFETY: this reference keeps the lane alive.
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
            // SAFETY: this reference is given back once, and not used again.
            unsafe { self.0.release(1) };
        }
    }
}

impl Lane {
    /// A lane of the same scheduler under a fresh color.
    pub(crate) fn spare(&self) -> LaneRef {
        let color = Color::unique();
        let lane = self.port.spare(color).unwrap_or_else(|| {
            Box::new(Self::new(color, Arc::clone(&self.port), Tenure::Unpublished))
        });
        // SAFETY: a fresh lane has one reference.
        unsafe { LaneRef::from_counted(LanePtr::from_box(lane)) }
    }
}

/// The end of a lane's last reference.
pub(crate) enum Last {
    /// The lane can be freed.
    Gone(LanePtr),
    /// The color has values: this is the lane's last reference again, for the end of these ([`locals`](crate::ext::locals)).
    Kept(LaneRef),
}

impl Last {
    /// # Safety
    ///
    /// The lane is unreferenced, and no thread finds it before this returns.
    pub(crate) unsafe fn of(ptr: LanePtr) -> Self {
        // SAFETY: the caller frees the lane only after this, so it is alive. An unreferenced lane is idle, and the
        // caller promises that no thread finds it: so this thread has it as a holder has.
        let lane = unsafe { Held::new(ptr) };
        if !lane.has_locals() {
            return Self::Gone(ptr);
        }
        lane.refs.revive();
        Self::Kept(LaneRef(ptr))
    }
}

/// A color of a runtime. It keeps the color's lane.
#[derive(Clone)]
pub struct Address(LaneRef);

impl Address {
    pub(crate) fn of(lane: LaneRef) -> Self {
        Self(lane)
    }

    /// The color.
    #[must_use]
    pub fn color(&self) -> Color {
        self.0.color()
    }

    /// Whether the calling thread runs under the color right now.
    #[inline]
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.0.is_current()
    }

    /// Whether the task that this thread polls goes on under the color after this poll: it has asked to hop there, or
    /// runs there and has not asked to hop away.
    #[must_use]
    pub fn is_next(&self) -> bool {
        current::hop().map_or_else(|| self.is_current(), |to| to == self.0.ptr())
    }

    #[inline]
    pub(crate) fn lane(&self) -> &LaneRef {
        &self.0
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Address").field(&self.color()).finish()
    }
}
