//! Lending urgency: a color for which one of the highest class waits is of that class too.
//!
//! Otherwise the urgent one would wait for as long as the other has to: priority inversion, with
//! inheritance as the remedy (Sha, Rajkumar and Lehoczky 1990). A call, a reader or a claim that a lane of
//! the highest class schedules on another lane, and waits for, is urgent there, as an urgent task is: that
//! lane is of the highest class until the node has had its turn ([`priority`](crate::lane::priority)).
//!
//! Whether it is urgent is decided once, when it is made: by the class of the lane that the thread then
//! holds. It goes one lane far: what that lane waits for in its turn, in a section or as one of several
//! lanes of a behavior, it asked for before.
//!
//! A join lends nothing. What is lent belongs to a node that stands in a lane; a task that is joined may
//! stand in none, and come by several before it ends: each wake and hop of any task would have to ask
//! who joins it, and each joiner that goes or is no more urgent to find it. Who knows that the end of a
//! task is urgent can say so when it is spawned.

use crate::lane::{Lane, LanePtr, LaneRef, Priority, ReadyLane, current};
use crate::queue::{Node, Pushed};
use std::ptr::NonNull;

/// Whether this thread holds a lane that lends urgency to what it makes now, and is going to wait for.
pub(crate) fn lends_urgency() -> bool {
    current::lane().is_some_and(|own| {
        // SAFETY: this thread holds it.
        let own = unsafe { own.get() };
        own.priority.is_high() && own.port.has_classes()
    })
}

impl LanePtr {
    /// Whether what this thread makes for the lane now, and is going to wait for, is urgent there.
    ///
    /// # Safety
    ///
    /// The lane is alive.
    pub(in crate::lane) unsafe fn is_lent_urgency(self) -> bool {
        // SAFETY: by contract.
        lends_urgency() && unsafe { self.takes_urgency() }
    }

    /// Whether something may be urgent in the lane: it may belong to another scheduler.
    ///
    /// # Safety
    ///
    /// The lane is alive.
    pub(in crate::lane) unsafe fn takes_urgency(self) -> bool {
        // SAFETY: by contract.
        unsafe { self.get() }.port.has_classes()
    }

    /// Adds an urgent node, and sees that it will run.
    ///
    /// # Safety
    ///
    /// As for [`LanePtr::push`]. `pin` is the node's.
    #[cold]
    pub(in crate::lane) unsafe fn push_urgent(self, node: NonNull<Node>, pin: u32) {
        // Before the node is there: its turn takes the urgency back.
        // SAFETY: the node's reference, or the caller's.
        let risen = unsafe { self.raise() };
        // SAFETY: the node's reference, or the caller's.
        let lane = unsafe { self.get() };
        // SAFETY: the caller promises that the node is in no chain, and stays until it has run.
        let pushed = unsafe { lane.chain.push(node) };
        // The node may have run, and its reference be gone: this one has its own.
        if let Some(risen) = risen {
            risen.tell();
        }
        if let Pushed::Claimed = pushed {
            ReadyLane(self).dispatch(pin);
        }
    }

    /// Something urgent is about to be pushed; what is to be told of it when it has its place, and the
    /// caller has no lock any more.
    ///
    /// # Safety
    ///
    /// Something keeps the lane alive meanwhile.
    #[cold]
    pub(in crate::lane) unsafe fn raise(self) -> Option<Risen> {
        // SAFETY: by contract.
        let lane = unsafe { self.get() };
        lane.priority.raise().then(|| {
            lane.retain(1);
            // SAFETY: just counted.
            Risen(unsafe { LaneRef::from_counted(self) })
        })
    }
}

/// A lane that waits in a queue of too low a class: the word of the lane says already that a ticket for
/// the highest one is on its way.
#[must_use]
pub(in crate::lane) struct Risen(LaneRef);

impl Risen {
    /// Makes the ticket. This may run foreign code: in a shutdown, the destructors of what is queued.
    pub(in crate::lane) fn tell(self) {
        self.0.port.rise(&self.0, Priority::High);
    }
}

impl Lane {
    /// An urgent node has been taken out by an admitter, not by a holder.
    pub(in crate::lane) fn has_let_in(&self, urgent: bool) {
        if urgent {
            self.priority.lower();
        }
    }
}
