//! The state that all lanes of a scheduler share.

use crate::lane::Order;
use crate::lane::order::Order as Recording;
use crate::lane::section::parked::ParkedSections;
use crate::meter::Switch;
use crate::sync::{AtomicBool, Ordering};

/// The state that all lanes of one scheduler share. The scheduler owns it, and lanes reach it through
/// [`Dispatch::common`](crate::lane::Dispatch::common).
pub(crate) struct Common {
    /// The locks under which the claims of one behavior are pushed.
    pub(crate) order: Order,
    /// The tasks that wait and keep their lanes.
    pub(crate) sections: ParkedSections,
    /// The level at which the scheduler records.
    pub(crate) switch: Switch,
    /// How many lanes may run at once, if idle workers find the lanes that wait elsewhere; else any number.
    pub(crate) lanes_at_once: usize,
    /// Whether the scheduler records, or replays.
    pub(crate) recording: Recording,
    /// A shutdown has begun: all tasks are to be cancelled.
    closing: AtomicBool,
    /// A color has been given a priority.
    classes: AtomicBool,
}

impl Common {
    /// For a scheduler with this number of workers, the spare ones included.
    pub(crate) fn new(workers: usize, lanes_at_once: usize, recording: Recording) -> Self {
        Self {
            order: Order::default(),
            sections: ParkedSections::new(workers),
            switch: Switch::default(),
            lanes_at_once,
            recording,
            closing: AtomicBool::new(false),
            classes: AtomicBool::new(false),
        }
    }

    /// Whether a shutdown has begun.
    #[inline]
    pub(crate) fn is_closing(&self) -> bool {
        // Ordering: the close nodes and the table's locks give the order that matters.
        self.closing.load(Ordering::Relaxed)
    }

    /// Begins a shutdown; false if one has begun before.
    pub(crate) fn close(&self) -> bool {
        // Ordering: the lanes' queues and the table's locks carry the flag to the holders.
        !self.closing.swap(true, Ordering::SeqCst)
    }

    /// Whether any color has been given a priority.
    #[inline]
    pub(crate) fn has_classes(&self) -> bool {
        // Ordering: a hint: a thread that has yet to see it works as before (`sched/classes.rs`).
        self.classes.load(Ordering::Relaxed)
    }

    /// Priorities are used from now on; false if they were before.
    pub(crate) fn use_classes(&self) -> bool {
        // Ordering: as in `has_classes`.
        !self.classes.swap(true, Ordering::Relaxed)
    }
}
