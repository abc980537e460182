//! Tickets: several places in a queue for one lane.
//!
//! The rule is that a queue holds [`ReadyLane`]s: who takes one out may run the lane. A queue with an
//! entry for every task (`sched/lab/flat.rs`) has many for one lane, and the right to run it is
//! one. So there an entry is a [`Ticket`], which owns a reference and no right. The right is *left*
//! in the lane itself, and whoever takes it out, by whichever ticket, has it. A ticket that finds no
//! right is one of a lane that runs, or of one that has become idle.
//!
//! # What keeps a lane from being forgotten
//!
//! A right that is left has a ticket that is in a queue, or is about to be. Whoever leaves it sees to
//! that, and then looks for sleepers; whoever puts a ticket into a queue looks for sleepers as well.
//! So of the two things that make a lane findable, the later one is followed by a look (G6).

use super::{LanePtr, LaneRef, ReadyLane};
use crate::queue::{Node, Pushed};
use crate::sync::Ordering;
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
    /// Adds a node, sees that it will run, and tells the scheduler of it.
    ///
    /// # Safety
    ///
    /// As for [`LanePtr::push`]. `pin` is the node's.
    #[cold]
    pub(super) unsafe fn push_announced(self, node: NonNull<Node>, pin: u32) {
        // SAFETY: the node's reference, or the caller's.
        let lane = unsafe { self.get() };
        // The node may have run, and its reference be gone, when the scheduler is told.
        lane.retain(1);
        // SAFETY: just counted.
        let kept = unsafe { LaneRef::from_counted(self) };
        // SAFETY: by contract.
        match unsafe { lane.chain.push(node) } {
            Pushed::Claimed => lane.dispatch(ReadyLane(self), pin),
            Pushed::Behind if pin == 0 => lane.port.announce(&kept),
            Pushed::Behind => {}
        }
    }
}

/// An entry of a queue in which a lane may be more than once.
pub(crate) struct Ticket(LaneRef);

impl Ticket {
    pub(crate) fn new(lane: LaneRef) -> Self {
        // Ordering: the queue's lock orders it with whoever finds the ticket; the holder, who asks
        // whether there is one, is content with an old one.
        lane.tickets.fetch_add(1, Ordering::Relaxed);
        Self(lane)
    }

    /// Takes the right to run the lane, if it is there.
    pub(crate) fn take(&self) -> Option<ReadyLane> {
        // Ordering: Acquire pairs with the Release in `leave`: the content of the lane comes with
        // the right.
        let taken = self.is_live() && self.0.left.swap(false, Ordering::Acquire);
        taken.then(|| ReadyLane(self.0.ptr()))
    }

    /// Whether the right to run the lane is there.
    pub(crate) fn is_live(&self) -> bool {
        // Ordering: a hint for `take`. A worker that goes to sleep has fenced between its
        // announcement and this look, and who left the right between that and its own.
        self.0.left.load(Ordering::Relaxed)
    }

    /// Whether the lane has become idle: what the ticket was for has run. To be asked by whoever
    /// has taken the queue's lock after the ticket was put in: so it has seen its node.
    pub(crate) fn is_void(&self) -> bool {
        self.0.chain.is_idle()
    }

    pub(crate) fn is_for(&self, lane: &ReadyLane) -> bool {
        self.0.ptr() == lane.0
    }

    /// Ends the ticket under the lock of its queue; what is left is to be dropped after it.
    pub(crate) fn redeem(self) -> LaneRef {
        let lane = self.0.ptr();
        std::mem::forget(self);
        // SAFETY: the ticket's reference.
        let lane = unsafe { LaneRef::from_counted(lane) };
        // Ordering: see `new`.
        lane.tickets.fetch_sub(1, Ordering::Relaxed);
        lane
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        // Ordering: see `new`.
        self.0.tickets.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ReadyLane {
    /// A ticket for the lane.
    pub(crate) fn ticket(&self) -> Ticket {
        self.lane().retain(1);
        // SAFETY: just counted.
        Ticket::new(unsafe { LaneRef::from_counted(self.0) })
    }

    /// Whether there is a ticket that will be found: none can be used up before this right is left.
    pub(crate) fn has_ticket(&self) -> bool {
        // Ordering: see `Ticket::new`.
        self.lane().tickets.load(Ordering::Relaxed) > 0
    }

    /// Leaves the right in the lane, for whoever has a ticket.
    pub(crate) fn leave(self) {
        // Ordering: Release pairs with the Acquire in `Ticket::take`.
        self.lane().left.store(true, Ordering::Release);
    }
}
