//! The end of a turn, and of a hold: the head leaves the chain, and what remains of its turn is done.
//!
//! The exchange that takes the last node out ends the hold, and from then on another thread may run the lane. So all
//! that needs the hold comes before it: the references taken are counted, and waiting tasks are made known to the
//! scheduler. The rest is about the node alone, which is this thread's until it gives it away.
//!
//! A head behind which a producer is half done cannot leave yet. The lane remembers what becomes of it
//! ([`Held::set_stalled`](crate::kernel::lane::base::Held::set_stalled)), goes back to its worker, and begins with that the next time.

use crate::hooks::{self, Act};
use crate::kernel::lane::base::{AfterTurn, LanePtr, ReadyLane};
use crate::kernel::lane::current::{self, Hold};
use crate::kernel::lane::node;
use crate::kernel::queue::{Rotated, Unlinked};
use crate::kernel::task::Kept;
use std::ptr::NonNull;

impl Hold {
    /// Ends the turn of the head. After [`Unlinked::Idle`] this thread does not hold the lane any more.
    ///
    /// # Safety
    ///
    /// The turn of the head has answered `then`, in this slice, or in an earlier one that could not end it.
    #[inline(always)]
    pub(crate) unsafe fn end_turn(&self, then: AfterTurn, closing: bool) -> Unlinked {
        match then {
            // SAFETY: the caller promises that the head has had its turn.
            AfterTurn::Unlink => unsafe { self.unlink(closing) },
            AfterTurn::Rotate => {
                let act = Act::push(&self.lane());
                match self.lane().chain.rotate_head() {
                    Rotated::Moved | Rotated::Alone => {
                        act.end();
                        Unlinked::More
                    }
                    Rotated::Stalled => {
                        self.lane().set_stalled(AfterTurn::Rotate);
                        Unlinked::Stalled
                    }
                }
            }
            AfterTurn::Park => {
                // SAFETY: the head is still there, and the value of its poll is gone.
                let turn = unsafe { self.lane().head().task_turn(self) };
                match self.keep(turn.expect("only a task keeps a lane")) {
                    Kept::Waiting => Unlinked::Idle,
                    Kept::Again => Unlinked::More,
                    // SAFETY: the caller promises that the head has had its turn.
                    Kept::Over => unsafe { self.unlink(closing) },
                }
            }
            AfterTurn::LaneGone => Unlinked::Idle,
            AfterTurn::Retry => Unlinked::Stalled,
        }
    }

    /// Takes the head out of the chain and does what remains of its turn. After [`Unlinked::Idle`] this thread does not
    /// hold the lane any more.
    ///
    /// # Safety
    ///
    /// The head has had its turn.
    #[inline]
    unsafe fn unlink(&self, closing: bool) -> Unlinked {
        let lane = self.lane();
        let head = lane.head();
        if !lane.chain.has_more() {
            self.count_taken();
            lane.ensure_found(closing);
        }
        if head.urgent {
            lane.priority.lower();
        }
        let unlinked = lane.chain.unlink_head();
        if unlinked == Unlinked::Stalled {
            // The head is still in the chain, so this thread still holds the lane.
            if head.urgent {
                lane.priority.restore();
            }
            lane.set_stalled(AfterTurn::Unlink);
            return unlinked;
        }
        if unlinked == Unlinked::Idle {
            // `finish` may drop a foreign waker, whose code must not see the color.
            self.end();
        }
        // SAFETY: the head, which has had its turn, is out of the chain.
        unsafe { node::finish(head, self) };
        if unlinked == Unlinked::Idle {
            self.count_refs();
        }
        unlinked
    }

    /// Counts the references that were taken, before an exchange that may end the hold.
    #[inline]
    pub(crate) fn count_taken(&self) {
        if current::owed() > 0 {
            self.lane().retain(self.take_owed().unsigned_abs());
        }
    }

    /// Counts the references that were taken and given back meanwhile. Something else keeps a lane that is still held:
    /// as a rule the nodes in its chain, which own references.
    pub(crate) fn count_refs(&self) {
        self.count_taken();
        let owed = self.take_owed();
        if owed < 0 {
            // SAFETY: their owners gave these references to the holder, which gives them back here, once.
            unsafe { self.ptr().release(owed.unsigned_abs()) };
        }
    }

    /// Ends a hold that is not a slice: takes the head out, and hands on the lane if nodes are behind it.
    ///
    /// # Safety
    ///
    /// The head has had its turn, and something that outlives this call keeps the lane alive.
    #[inline]
    pub(crate) unsafe fn hand_on(self) {
        let lane = self.lane();
        hooks::idle(&lane);
        // SAFETY: the caller promises that the head has had its turn.
        if unsafe { self.unlink(lane.is_closing()) } != Unlinked::Idle {
            self.count_refs();
            let pin = lane.head().pin;
            self.end();
            ReadyLane(self.ptr()).dispatch(pin);
        }
    }

    /// Ends a hold by the lane's own node; no node is behind it as a rule. Costs one exchange then.
    ///
    /// # Safety
    ///
    /// The lane's own node is at the head, no task has been polled since it came there, and something that outlives this
    /// call keeps the lane alive.
    #[inline]
    pub(crate) unsafe fn end_inline(self) {
        let lane = self.lane();
        if current::owed() != 0 || !lane.chain.try_release(NonNull::from(&lane.inline)) {
            // SAFETY: the own node is still at the head: the exchange was left out, or has failed.
            unsafe { self.end_crowded() };
        }
    }

    /// # Safety
    ///
    /// As for [`end_inline`](Self::end_inline).
    #[cold]
    unsafe fn end_crowded(self) {
        // Like every node that has its turn in a slice, the own node owns a reference: it may be that a slice ends this.
        self.owe(1);
        // SAFETY: the caller promises that the own node is at the head, and that something keeps the lane alive.
        unsafe { self.hand_on() };
    }
}

impl LanePtr {
    /// As [`Hold::end_inline`], for a lane under whose color nothing has run.
    ///
    /// # Safety
    ///
    /// As for `end_inline`, and this thread holds the lane.
    #[inline]
    pub(crate) unsafe fn end_unused(self) {
        // SAFETY: the caller promises that something that outlives this call keeps the lane alive.
        let lane = unsafe { self.get() };
        if !lane.chain.try_release(NonNull::from(&lane.inline)) {
            // SAFETY: the exchange has failed, so this thread still holds the lane, which the caller keeps alive.
            let hold = unsafe { Hold::begin(self) };
            // SAFETY: the own node is still at the head.
            unsafe { hold.end_crowded() };
        }
    }
}
