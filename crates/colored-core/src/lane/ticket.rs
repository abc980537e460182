//! Tickets: several places in a queue for one lane.
//!
//! The rule is that a queue holds [`ReadyLane`]s: who takes one out may run the lane. Where lanes are
//! queued by class (`sched/classes.rs`), a lane that is raised gets a second entry in another queue, and
//! the right to run it is one. So there an entry is a [`Ticket`], which owns a reference and no right.
//! The right is *left* in the lane itself, and whoever takes it out, by whichever ticket, has it. A
//! ticket that finds no right is one of a lane that runs, or of one that has become idle.
//!
//! # What keeps a lane from being forgotten
//!
//! A right that is left has a ticket that is in a queue, or is about to be. Whoever leaves it sees to
//! that, and then looks for sleepers; whoever puts a ticket into a queue looks for sleepers as well.
//! So of the two things that make a lane findable, the later one is followed by a look (G6).

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
        // SAFETY: just counted.
        Ticket::new(unsafe { LaneRef::from_counted(self.0) })
    }

    /// Leaves the right in the lane, for whoever has a ticket of its class; the class, if one must be
    /// made.
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
