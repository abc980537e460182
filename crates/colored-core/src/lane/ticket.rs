//! Tickets: several queue entries for one lane.
//!
//! The rule is that a queue holds [`ReadyLane`]s: a thread that takes one out may run the lane. Where lanes are queued
//! by class (`sched/classes.rs`), a lane that is raised gets a second entry in another queue, but there is only one
//! right to run it. So there an entry is a [`Ticket`], which owns a reference and no right. The right is *left* in the
//! lane itself, and the thread that takes it out, by any of the tickets, has it. If a ticket finds no right, its lane
//! runs, or has become idle.
//!
//! # No lane is forgotten
//!
//! A right that is left has a ticket that is in a queue, or is about to be. The thread that leaves it ensures that, and
//! then looks for sleepers; a thread that puts a ticket into a queue looks for sleepers as well. So the later of the
//! two steps that make a lane findable is followed by a look (G6).

use crate::lane::{Lane, LaneRef, Priority, ReadyLane};

/// An entry of a queue in which a lane may be more than once.
pub(crate) struct Ticket(LaneRef);

impl Ticket {
    pub(crate) fn new(lane: LaneRef) -> Self {
        Self(lane)
    }

    /// Takes the right to run the lane, if it is there. The ticket has just been taken out of the queue of
    /// that class.
    pub(crate) fn redeem(self, class: Priority) -> Option<ReadyLane> {
        self.0.priority.redeem(class).then(|| ReadyLane(self.0.ptr()))
    }
}

impl ReadyLane {
    /// A ticket for the lane.
    pub(crate) fn ticket(&self) -> Ticket {
        self.lane().retain(1);
        // SAFETY: the reference was counted just now.
        Ticket::new(unsafe { LaneRef::from_counted(self.0) })
    }

    /// Leaves the right in the lane, for the first thread with a ticket of its class. Returns the class, if a ticket
    /// must be made.
    pub(crate) fn leave(self) -> Option<Priority> {
        self.lane().priority.leave()
    }
}

impl Lane {
    /// Sets the color's priority; see [`PriorityWord::set_base`](crate::lane::priority::PriorityWord).
    pub(crate) fn set_priority(&self, priority: Priority) -> Option<Priority> {
        self.priority.set_base(priority)
    }
}
