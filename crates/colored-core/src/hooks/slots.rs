//! What listeners keep in a lane and in a scheduler: one field each, into which the kernel does not look.

use crate::ext::meter::{Level, Place, Switch};
use crate::ext::observe::profile::Profile;
use crate::ext::observe::times::Times;
use crate::ext::trace::{Event, Ring, SharedRing};
use crate::ext::usage::Usage;
use crate::kernel::color::Color;
use crate::sync::Mutex;
use std::any::Any;
use std::sync::OnceLock;

/// What listeners keep in a lane.
#[derive(Default)]
pub(crate) struct LaneSlot {
    /// Made when the lane is recorded first.
    pub(crate) meter: Place,
}

/// What listeners keep in the state that all lanes of a scheduler share.
pub(crate) struct SchedulerSlot {
    /// The level at which the scheduler records.
    pub(crate) switch: Switch,
    /// The flight recorder of all threads that are no workers.
    pub(crate) outside: SharedRing,
    /// The requests of a dump, from the first one on.
    pub(crate) dump: OnceLock<Box<dyn Any + Send + Sync>>,
}

impl SchedulerSlot {
    /// For a scheduler with rings of at most so many bytes.
    pub(crate) fn new(ring_bytes: usize) -> Self {
        Self {
            switch: Switch::default(),
            outside: SharedRing::new(ring_bytes),
            dump: OnceLock::new(),
        }
    }
}

/// What listeners keep in the part of a worker that other threads see.
pub(crate) struct WorkerSlot {
    pub(crate) times: Times,
    /// Written by the worker's thread only.
    pub(crate) ring: Ring,
    pub(crate) profile: Mutex<Profile>,
}

impl WorkerSlot {
    /// For a ring of at most so many bytes.
    pub(crate) fn new(ring_bytes: usize) -> Self {
        Self {
            times: Times::default(),
            ring: Ring::new(ring_bytes),
            profile: Mutex::new(Profile::new()),
        }
    }
}

/// What lanes tell the scheduler that they belong to.
pub(crate) trait Listen {
    /// Records an event of this thread, if the scheduler records events of that level.
    fn record(&self, level: Level, event: Event);

    /// A lane that the table does not have has used so much.
    fn keep_usage(&self, color: Color, usage: Usage);
}
