//! Lent urgency, and what a lane does with its [word](super::PriorityWord). The kernel calls the functions by
//! [`hooks`](crate::hooks).
//!
//! A color that a color of the highest class waits for is of that class too.
//! Otherwise the urgent color would wait for as long as the other has to: priority inversion, with inheritance as the
//! remedy (Sha, Rajkumar and Lehoczky 1990). A call, a reader or a claim that a lane of the highest class schedules on
//! another lane, and waits for, is urgent there, as an urgent task is: that lane is of the highest class until the node
//! has had its turn ([`PriorityWord`](super::PriorityWord)).
//!
//! Whether a node is urgent is decided once, when it is made: by the class of the lane that the thread holds at that
//! time. Urgency goes one lane far. If that lane itself waits for others, in a section or as one of several lanes of a
//! behavior, it queued those nodes before.
//!
//! A join lends nothing. Lent urgency belongs to a node in a lane. A task that is joined may be in no lane, and may
//! pass several before it ends. So each wake and hop of any task would have to ask which task joins it, and each joiner
//! that goes or is no longer urgent would have to find it. A program that knows that the end of a task is urgent can
//! say so when it spawns the task.

use super::Priority;
use crate::kernel::lane::base::{Held, Lane};
use crate::sync::Ordering;

/// Whether this thread holds a lane that lends urgency to a node that it makes now, and is going to wait for.
pub(crate) fn lends_urgency() -> bool {
    Held::with_current(|own| {
        own.is_some_and(|own| own.priority() == Priority::High && takes_urgency(&own))
    })
}

/// Whether a node that this thread makes for the lane now, and is going to wait for, is urgent there.
pub(crate) fn is_lent_urgency(lane: &Lane) -> bool {
    lends_urgency() && takes_urgency(lane)
}

/// Whether a node may be urgent in the lane, which may belong to another scheduler.
pub(crate) fn takes_urgency(lane: &Lane) -> bool {
    lane.port.common().has_classes()
}

/// Makes the lane urgent for a node that the caller pushes next: the node's turn takes the urgency back. Takes the
/// lock of a queue, and may wake a worker.
#[cold]
pub(crate) fn raise(lane: &Lane) {
    if let Some(class) = lane.priority.add_urgent() {
        lane.port.raise(lane, class);
    }
}

/// An urgent node has had its turn. Only the holder calls this, or the thread that lets a reader in.
#[inline]
pub(crate) fn lower(lane: &Lane) {
    lane.priority.lower();
}

/// Undoes [`lower`]: the urgent node is still in the chain. Only the holder calls this.
#[inline]
pub(crate) fn restore(lane: &Lane) {
    lane.priority.restore();
}

impl Lane {
    /// How urgent the color is at the moment.
    pub(in crate::ext) fn priority(&self) -> Priority {
        self.priority.class()
    }

    /// The lane is about to enter a queue by class, under the lock of the queue. Returns its class.
    pub(super) fn enter_class_queue(&self, place: usize) -> Priority {
        let place = u16::try_from(place).expect("fewer than 2¹⁶ queues");
        // Ordering: the Release of `enter_queue` publishes it.
        self.class_place.store(place, Ordering::Relaxed);
        self.priority.enter_queue()
    }

    /// The queue by class in which the lane is, for a thread that has learned that it is in one. It may be in another
    /// one by now, or in none.
    pub(super) fn class_place(&self) -> usize {
        // Ordering: an exchange of the word, with Acquire, has told this thread that the lane is in a queue.
        usize::from(self.class_place.load(Ordering::Relaxed))
    }
}
