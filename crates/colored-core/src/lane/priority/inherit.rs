//! Lending urgency: a color that a color of the highest class waits for is of that class too.
//!
//! Otherwise the urgent color would wait for as long as the other has to: priority inversion, with inheritance as the
//! remedy (Sha, Rajkumar and Lehoczky 1990). A call, a reader or a claim that a lane of the highest class schedules on
//! another lane, and waits for, is urgent there, as an urgent task is: that lane is of the highest class until the node
//! has had its turn ([`priority`](crate::lane::priority)).
//!
//! Whether a node is urgent is decided once, when it is made: by the class of the lane that the thread holds at that
//! time. Urgency goes one lane far. If that lane itself waits for others, in a section or as one of several lanes of a
//! behavior, it queued those nodes before.
//!
//! A join lends nothing. Lent urgency belongs to a node in a lane. A task that is joined may be in no lane, and may
//! pass several before it ends. So each wake and hop of any task would have to ask which task joins it, and each joiner
//! that goes or is no longer urgent would have to find it. A program that knows that the end of a task is urgent can
//! say so when it spawns the task.

use crate::lane::held::Held;
use crate::lane::{Lane, LanePtr, LaneRef, Priority, ReadyLane};
use crate::queue::Node;
use crate::sync::Arc;
use std::ptr::NonNull;

/// Whether this thread holds a lane that lends urgency to a node that it makes now, and is going to wait for.
pub(crate) fn lends_urgency() -> bool {
    Held::with_current(|own| {
        own.is_some_and(|own| own.priority.is_high() && own.port.common().has_classes())
    })
}

impl LanePtr {
    /// Whether a node that this thread makes for the lane now, and is going to wait for, is urgent there.
    ///
    /// # Safety
    ///
    /// The lane is alive.
    pub(in crate::lane) unsafe fn is_lent_urgency(self) -> bool {
        // SAFETY: the caller promises that the lane is alive.
        lends_urgency() && unsafe { self.takes_urgency() }
    }

    /// Whether a node may be urgent in the lane, which may belong to another scheduler.
    ///
    /// # Safety
    ///
    /// The lane is alive.
    pub(in crate::lane) unsafe fn takes_urgency(self) -> bool {
        // SAFETY: the caller promises that the lane is alive.
        unsafe { self.get() }.port.common().has_classes()
    }

    /// Adds an urgent node, and sees to it that it runs.
    ///
    /// # Safety
    ///
    /// As for [`LanePtr::push`]. `pin` is the node's.
    #[cold]
    pub(in crate::lane) unsafe fn push_urgent(self, node: NonNull<Node>, pin: u32) {
        // The lane is raised before the node is there: the node's turn takes the urgency back.
        // SAFETY: the node's reference, or the caller's, keeps the lane alive.
        let risen = unsafe { self.raise() };
        // SAFETY: the node's reference, or the caller's, keeps the lane alive.
        let lane = unsafe { self.get() };
        // SAFETY: the caller promises that the node is in no chain yet, so this thread may read it.
        lane.record_push(unsafe { node.as_ref() });
        // SAFETY: the caller promises that the node is in no chain, and stays until it has run.
        let is_claimed = unsafe { lane.push_node(node) };
        // The node may have run, and its reference be gone: `risen` has its own.
        if let Some(risen) = risen {
            risen.tell();
        }
        if is_claimed {
            ReadyLane(self).dispatch(pin);
        }
    }

    /// An urgent node is about to be pushed. Returns the lane if a ticket is needed: the caller tells it when the node
    /// has its place, and the caller has no lock any more.
    ///
    /// # Safety
    ///
    /// Something keeps the lane alive meanwhile.
    #[cold]
    pub(in crate::lane) unsafe fn raise(self) -> Option<Risen> {
        // SAFETY: the caller promises that something keeps the lane alive meanwhile.
        let lane = unsafe { self.get() };
        lane.priority.raise().then(|| {
            lane.retain(1);
            // SAFETY: the reference was counted just now.
            Risen(unsafe { LaneRef::from_counted(self) })
        })
    }
}

/// A lane that waits in a queue of too low a class. The lane's word says already that a ticket for the highest class is
/// on its way.
#[must_use]
pub(in crate::lane) struct Risen(LaneRef);

impl Risen {
    /// Makes the ticket. This may run foreign code: in a shutdown, the destructors of queued work.
    pub(in crate::lane) fn tell(self) {
        let port = Arc::clone(&self.0.port);
        port.rise(self.0.into_counted(), Priority::High);
    }
}

impl Lane {
    /// Settles the node of a reader that is inside.
    pub(in crate::lane) fn settle_admitted(&self, node: &Node) {
        self.record_admitted(node);
        if node.urgent {
            self.priority.lower();
        }
    }
}
