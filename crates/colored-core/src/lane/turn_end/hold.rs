//! The end of a hold that is not a slice: of an inline call or a claim.

use crate::lane::current::Hold;
use crate::lane::held::Held;
use crate::lane::turn_end::after::After;
use crate::lane::{LanePtr, ReadyLane};
use crate::queue::Unlinked;
use std::ptr::NonNull;

impl LanePtr {
    /// Takes the head out, which has had its turn, and hands on the lane if nodes are behind it.
    ///
    /// # Safety
    ///
    /// This thread holds the lane, by `hold`, the head has had its turn, and something that outlives this call keeps
    /// the lane alive. `closing` is as for [`LanePtr::unlink`].
    #[inline]
    pub(in crate::lane) unsafe fn end_hold(self, after: After, hold: Hold, closing: Option<bool>) {
        // SAFETY: the caller promises that something that outlives this call keeps the lane alive.
        unsafe { self.get() }.record_idle();
        // SAFETY: the caller promises that this thread holds the lane, and that the head has had its turn.
        let unlinked = unsafe { self.unlink(after, &hold, closing) };
        if unlinked == Unlinked::Idle {
            return;
        }
        // SAFETY: the head is still in the chain, or a node behind it is, so this thread still holds the lane. The
        // caller promises that something that outlives this call keeps the lane alive.
        let lane = unsafe { Held::new(self) };
        if unlinked == Unlinked::Stalled && after == After::Inline {
            // The node stays in the chain for now, so like every node there it owns a reference.
            lane.retain(1);
            lane.set_stalled(After::InlineCounted);
        }
        // SAFETY: the caller promises that `hold` is of this lane, and that something that outlives this call keeps
        // the lane.
        unsafe { self.settle(&hold) };
        let pin = lane.head().pin;
        hold.end();
        ReadyLane(self).dispatch(pin);
    }

    /// Ends a hold by the lane's own node; no node is behind it as a rule. Costs one exchange then.
    ///
    /// # Safety
    ///
    /// As for [`end_hold`](Self::end_hold); the lane's own node is at the head, and no task has been
    /// polled.
    #[inline]
    pub(in crate::lane) unsafe fn end_inline(self, hold: Hold) {
        // SAFETY: the caller promises that something that outlives this call keeps the lane alive.
        let lane = unsafe { self.get() };
        if hold.owed() != 0 || !lane.chain.try_release(NonNull::from(&lane.inline)) {
            // SAFETY: the caller promises the hold, and that something keeps the lane alive. The own node is still
            // at the head: the exchange was left out, or has failed.
            unsafe { self.end_crowded(hold) };
        }
    }

    /// As [`end_inline`](Self::end_inline), for a lane under whose color nothing has run.
    ///
    /// # Safety
    ///
    /// As for `end_inline`.
    #[inline]
    pub(in crate::lane) unsafe fn end_unused(self) {
        // SAFETY: the caller promises that something that outlives this call keeps the lane alive.
        let lane = unsafe { self.get() };
        if !lane.chain.try_release(NonNull::from(&lane.inline)) {
            // SAFETY: the exchange has failed, so this thread still holds the lane, by the hold that begins here.
            // The caller promises that something keeps the lane alive.
            unsafe { self.end_crowded(Hold::begin(self)) };
        }
    }

    /// # Safety
    ///
    /// As for [`end_inline`](Self::end_inline).
    #[cold]
    unsafe fn end_crowded(self, hold: Hold) {
        // SAFETY: the caller promises that the own node, which has had its turn, is at the head, that something
        // keeps the lane alive, and that no task has been polled.
        unsafe { self.end_hold(After::Inline, hold, None) };
    }

    /// Counts the references that were taken and given back during `hold`.
    ///
    /// # Safety
    ///
    /// `hold` is of this lane, and a reference beside those that are given back keeps the lane alive.
    pub(in crate::lane) unsafe fn settle(self, hold: &Hold) {
        let owed = hold.take_owed();
        if owed > 0 {
            // SAFETY: the caller promises that a reference keeps the lane alive.
            unsafe { self.get() }.retain(owed.unsigned_abs());
        } else if owed < 0 {
            // SAFETY: their owners gave these references to the holder, which gives them back here, once.
            unsafe { self.release(owed.unsigned_abs()) };
        }
    }
}
