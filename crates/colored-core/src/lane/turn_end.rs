//! The end of a turn: the head leaves the chain, and its remaining work is done.
//!
//! The exchange that takes the last node out ends the hold, and from then on another thread may run the lane. So all
//! that needs the hold comes before it: the references taken are counted, and waiting tasks are made known to the
//! scheduler. The rest is about the node alone, which is this thread's until it gives it away.
//!
//! A head behind which a producer is half done cannot leave yet. The lane remembers what remains
//! ([`Held::set_stalled`]), goes back to its worker, and begins with that the next time.

pub(in crate::lane) mod after;
mod hold;

use self::after::After;
use crate::lane::behavior;
use crate::lane::current::Hold;
use crate::lane::held::{Head, Held};
use crate::lane::{LanePtr, callback, current};
use crate::meter;
use crate::queue::{Node, Rotated, Unlinked};
use crate::task::{Ended, Kept, Schedule, TaskRef};
use std::ptr::NonNull;

impl LanePtr {
    /// Takes the head out of the chain and does its remaining work.
    ///
    /// # Safety
    ///
    /// The caller holds the lane and the head has had its turn. After [`Unlinked::Idle`] it does
    /// not hold the lane any more. `closing` is `None` if no task can have been polled.
    #[inline]
    pub(super) unsafe fn unlink(
        self,
        after: After,
        hold: &Hold,
        closing: Option<bool>,
    ) -> Unlinked {
        // SAFETY: the caller holds the lane. The node at the head keeps it alive, or for the lane's own node the caller
        // does.
        let lane = unsafe { Held::new(self) };
        let Head { node: head, urgent, .. } = lane.head();
        let mut after = after;
        if after == After::Keep {
            // SAFETY: only tasks keep a lane, and a scheduled one is alive.
            let task = unsafe { TaskRef::<LanePtr>::from_node(head) };
            // SAFETY: the caller holds the lane, and the task at its head has been polled.
            match unsafe { self.keep(task, hold) } {
                Kept::Waiting => return Unlinked::Idle,
                Kept::Again => return Unlinked::More,
                Kept::Over => after = After::End,
            }
        }
        let unlinked = if after == After::Rotate {
            match lane.chain.rotate_head() {
                Rotated::Stalled => Unlinked::Stalled,
                Rotated::Moved | Rotated::Alone => return Unlinked::More,
            }
        } else {
            if !lane.chain.has_more() {
                // This may be the end of the hold: the references taken must be counted before.
                if hold.owed() > 0 {
                    lane.retain(hold.take_owed().unsigned_abs());
                }
                if let Some(closing) = closing {
                    lane.ensure_found(self, closing);
                }
            }
            if urgent {
                lane.priority.lower();
            }
            let unlinked = lane.chain.unlink_head();
            if urgent && unlinked == Unlinked::Stalled {
                lane.priority.restore();
            }
            unlinked
        };
        match unlinked {
            Unlinked::More => {
                if let After::Inline | After::InlineCounted = after {
                    // An idle unlink leaves the link null by itself, and gives the node away.
                    // SAFETY: the node lives in the lane, which is still held.
                    unsafe { head.as_ref() }.reset();
                }
                // SAFETY: the head, which has had its turn, is out of the chain.
                unsafe { after.settle(head, hold) };
            }
            Unlinked::Idle => {
                // `settle` may drop a foreign waker, whose code must not see the color.
                hold.end();
                // SAFETY: the head, which has had its turn, was the last node, and is out of the chain.
                unsafe { after.settle(head, hold) };
                let owed = hold.take_owed();
                debug_assert!(owed <= 0, "what was taken has been counted");
                if owed < 0 {
                    // SAFETY: their owners gave these references to the holder, which gives them back here, once.
                    unsafe { self.release(owed.unsigned_abs()) };
                }
            }
            // The head is still in the chain, so this thread still holds the lane.
            Unlinked::Stalled => lane.set_stalled(after),
        }
        unlinked
    }
}

impl After {
    /// # Safety
    ///
    /// The node has had its turn and is in no chain.
    unsafe fn settle(self, node: NonNull<Node>, hold: &Hold) {
        // A view only; used where the node is a task.
        // SAFETY: a task is alive until `Release` here, or until its next turn.
        let task = || unsafe { TaskRef::<LanePtr>::from_node(node) };
        match self {
            After::End => {
                // SAFETY: the owner that polled may move the task, up to this call.
                if let Ended::Reschedule = unsafe { task().end() } {
                    // SAFETY: the task was woken meanwhile, so it is still this owner's to move.
                    unsafe { schedule(task()) };
                }
            }
            After::Release => {
                hold.owe(-1);
                current::count_completed();
                // SAFETY: the task is complete and its node in no chain; the runtime's reference ends here.
                unsafe { task().release() };
            }
            After::Hop => {
                hold.owe(-1);
                // SAFETY: the task is scheduled and in no chain, so it is still this owner's to move.
                unsafe { schedule(task()) };
            }
            After::Free => {
                hold.owe(-1);
                // SAFETY: the callback has run and is in no chain.
                unsafe { callback::free(node) };
            }
            // SAFETY: the callback has run and is in no chain.
            After::FreeUncounted => unsafe { callback::free(node) },
            After::Inline => {}
            After::InlineCounted => hold.owe(-1),
            After::Rotate | After::Keep => unreachable!("it stays in the chain"),
            // SAFETY: the claim has had its turn and is in no chain.
            After::Claim => unsafe { behavior::free(node) },
        }
    }
}

/// # Safety
///
/// The caller may move the task, and gives that right away.
unsafe fn schedule(task: TaskRef<LanePtr>) {
    // SAFETY: the caller promises that it may move the task, and so may read its lane.
    let lane = task.lane();
    // SAFETY: the caller promises that it may move the task, and gives that right away here.
    let schedule = || unsafe { lane.schedule(task.node()) };
    if meter::is_on() {
        // The record says that the task itself goes on, not that something outside has woken it.
        current::completing(task.id(), schedule);
    } else {
        schedule();
    }
}
