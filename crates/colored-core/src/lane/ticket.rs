//! Tickets: several places in a queue for one lane.
//!
//! The rule is that a queue holds [`ReadyLane`]s: who takes one out may run the lane. A queue with an
//! entry for every task (`sched/lab/flat.rs`) has many for one lane, and the right to run it is
//! one; and where lanes are queued by class
//! (`sched/ranks.rs`), a lane that is raised gets a second entry in another queue. So there an entry is a [`Ticket`], which owns a reference and no right. The right is *left*
//! in the lane itself, and whoever takes it out, by whichever ticket, has it. A ticket that finds no
//! right is one of a lane that runs, or of one that has become idle.
//!
//! # What keeps a lane from being forgotten
//!
//! A right that is left has a ticket that is in a queue, or is about to be. Whoever leaves it sees to
//! that, and then looks for sleepers; whoever puts a ticket into a queue looks for sleepers as well.
//! So of the two things that make a lane findable, the later one is followed by a look (G6).

use super::{Lane, LanePtr, LaneRef, Priority, ReadyLane};
use crate::color::Color;
use crate::queue::{Node, Pushed};
use std::ops::Deref;
use std::ptr::NonNull;

/// How many schedulers want to hear of every task ([`Dispatch::announce`](super::Dispatch)).
#[cfg(not(colored_loom))]
mod listeners {
    use std::sync::atomic::{AtomicUsize, Ordering};

    static LISTENERS: AtomicUsize = AtomicUsize::new(0);

    #[inline]
    pub(super) fn are_there() -> bool {
        // Ordering: who has a lane of such a scheduler has it from a thread that saw the count.
        LISTENERS.load(Ordering::Relaxed) != 0
    }

    pub(super) fn add(n: isize) {
        // Ordering: see above.
        LISTENERS.fetch_add(n.cast_unsigned(), Ordering::Relaxed);
    }
}

// All threads of a model are one thread of the system, which may run other models before and after.
#[cfg(colored_loom)]
mod listeners {
    use std::cell::Cell;

    std::thread_local!(static LISTENERS: Cell<isize> = const { Cell::new(0) });

    pub(super) fn are_there() -> bool {
        LISTENERS.with(Cell::get) != 0
    }

    pub(super) fn add(n: isize) {
        LISTENERS.with(|listeners| listeners.set(listeners.get() + n));
    }
}

/// While this lives, schedulers are told of everything that is scheduled.
#[derive(Debug)]
pub(crate) struct FlatQueues(());

impl FlatQueues {
    pub(crate) fn new() -> Self {
        listeners::add(1);
        Self(())
    }
}

impl Drop for FlatQueues {
    fn drop(&mut self) {
        listeners::add(-1);
    }
}

/// Whether somebody wants to hear of every task.
#[inline]
pub(super) fn are_announced() -> bool {
    listeners::are_there()
}

impl LanePtr {
    /// Adds a node that is urgent, or of which a scheduler may want to hear, and sees that it will run.
    ///
    /// # Safety
    ///
    /// As for [`LanePtr::push`]. `pin` is the node's.
    #[cold]
    pub(super) unsafe fn push_unusual(self, node: NonNull<Node>, pin: u32, urgent: bool) {
        // SAFETY: the node's reference, or the caller's.
        let lane = unsafe { self.get() };
        // The node may have run, and its reference be gone, when the scheduler is told.
        lane.retain(1);
        // SAFETY: just counted.
        let kept = unsafe { LaneRef::from_counted(self) };
        // Before the node is there: its turn takes the urgency back.
        // SAFETY: just counted.
        let risen = if urgent { unsafe { self.raise() } } else { None };
        // SAFETY: by contract.
        let pushed = unsafe { lane.chain.push(node) };
        if let Some(risen) = risen {
            risen.tell();
        }
        match pushed {
            Pushed::Claimed => {
                // The right to run keeps the lane. One reference more would tell the end of its values,
                // which may run at once, that the color is in use; and then the drop of that reference
                // would schedule the next end.
                drop(kept);
                ReadyLane(self).dispatch(pin);
            }
            Pushed::Behind if pin == 0 && are_announced() => lane.port.announce(&kept),
            Pushed::Behind => {}
        }
    }
}

/// An entry of a queue in which a lane may be more than once.
pub(crate) struct Ticket(LaneRef);

impl Ticket {
    pub(crate) fn new(lane: LaneRef) -> Self {
        Self(lane)
    }

    /// Takes the right to run the lane, if it is there.
    pub(crate) fn take(&self) -> Option<ReadyLane> {
        self.0.desk.take().then(|| ReadyLane(self.0.ptr()))
    }

    /// The same for a ticket of a queue of that class, which has just been taken out there.
    pub(crate) fn redeem(self, class: Priority) -> Option<ReadyLane> {
        self.0.desk.redeem(class).then(|| ReadyLane(self.0.ptr()))
    }

    /// Whether the right to run the lane is there.
    pub(crate) fn is_live(&self) -> bool {
        self.0.desk.has_right()
    }

    /// Whether the lane has become idle: what the ticket was for has run. To be asked by whoever
    /// has taken the queue's lock after the ticket was put in: so it has seen its node.
    pub(crate) fn is_void(&self) -> bool {
        self.0.chain.is_idle()
    }

    /// Whether it is for that lane. It asks for the color, in the memory of the lane, as a walk through a
    /// queue of events asks each event: that memory is what such a walk costs. While there is a ticket
    /// its color has no other lane.
    pub(crate) fn is_of_color(&self, color: Color) -> bool {
        self.0.color() == color
    }
}

/// A [`Ticket`] that its lane counts, in a flat queue.
pub(crate) struct Counted(Ticket);

impl Counted {
    pub(crate) fn new(ticket: Ticket) -> Self {
        ticket.0.desk.add_ticket();
        Self(ticket)
    }

    /// Ends it under the lock of its queue; what is left is to be dropped after it.
    pub(crate) fn redeem(self) -> Ticket {
        self.0.0.desk.remove_ticket();
        self.0
    }
}

impl Deref for Counted {
    type Target = Ticket;

    fn deref(&self) -> &Ticket {
        &self.0
    }
}

impl ReadyLane {
    /// A ticket for the lane.
    pub(crate) fn ticket(&self) -> Ticket {
        self.lane().retain(1);
        // SAFETY: just counted.
        Ticket::new(unsafe { LaneRef::from_counted(self.0) })
    }

    /// Whether there is a counted ticket that will be found: none can be used up before this right is
    /// left.
    pub(crate) fn has_ticket(&self) -> bool {
        self.lane().desk.has_ticket()
    }

    /// Leaves the right in the lane, for whoever has a ticket of a flat queue.
    pub(crate) fn leave_flat(self) {
        self.lane().desk.leave_flat();
    }

    /// Leaves the right in the lane, for whoever has a ticket of its class; the class, if one must be
    /// made.
    pub(crate) fn leave(self) -> Option<Priority> {
        self.lane().desk.leave()
    }
}

impl Lane {
    /// Sets the color's priority; see [`Desk::set_base`](super::desk::Desk).
    pub(crate) fn set_priority(&self, priority: Priority) -> Option<Priority> {
        self.desk.set_base(priority)
    }
}
