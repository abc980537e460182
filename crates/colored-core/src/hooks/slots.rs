//! What listeners keep in a lane and in a scheduler: one field each, into which the kernel does not look. Priorities have a
//! field in each, too.

use crate::ext::meter::{Level, Meter, Switch};
use crate::ext::observe::profile::Profile;
use crate::ext::observe::times::Times;
use crate::ext::trace::{Event, Ring, SharedRing};
use crate::ext::usage::Usage;
use crate::kernel::color::Color;
use crate::sync::{AtomicPtr, Mutex, Ordering};
use std::any::Any;
use std::ptr;
use std::sync::OnceLock;

// What a task waits for without a record.
pub(crate) use crate::ext::leaf::Leaf;
#[cfg(feature = "leaves")]
pub(crate) use crate::ext::leaf::LeafSlot;
// How urgent a lane is.
pub(crate) use crate::ext::priority::{Priority, PriorityWord};

/// What listeners keep in a lane: one word. It points to the meter, once the lane has been recorded, and its lowest bit says
/// that a dump asks the holder to show the lane.
pub(crate) struct LaneSlot(AtomicPtr<Meter>);

const ASKED: usize = 1;

impl LaneSlot {
    pub(crate) fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// The meter, if the lane has been recorded.
    #[inline]
    pub(crate) fn meter(&self) -> Option<&Meter> {
        // Ordering: Acquire pairs with the Release of `make`.
        let meter = meter_of(self.0.load(Ordering::Acquire));
        // SAFETY: the pointer is null, or from a box that only the drop of this slot frees.
        unsafe { meter.as_ref() }
    }

    /// The meter, which is made if there is none.
    #[inline]
    pub(crate) fn meter_or_make(&self) -> &Meter {
        self.meter().unwrap_or_else(|| self.make())
    }

    /// The meter of a lane that no other thread uses.
    #[inline]
    pub(crate) fn meter_mut(&mut self) -> Option<&mut Meter> {
        // Ordering: exclusive access.
        let meter = meter_of(self.0.load(Ordering::Relaxed));
        // SAFETY: the pointer is null, or from a box that only the drop of this slot frees; `&mut self` keeps every other
        // access out.
        unsafe { meter.as_mut() }
    }

    #[cold]
    fn make(&self) -> &Meter {
        let made: *mut Meter = Box::into_raw(Box::default());
        let place = |word: *mut Meter| {
            meter_of(word).is_null().then(|| made.map_addr(|address| address | word.addr()))
        };
        // Ordering: Release publishes the meter, to `meter` as well; Acquire takes one that another thread has made.
        if self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, place).is_err() {
            // SAFETY: another thread was first, and none has seen this one, which is from the box above.
            drop(unsafe { Box::from_raw(made) });
        }
        self.meter().expect("it has just been made")
    }

    /// Asks the holder to [show](crate::kernel::lane::Dispatch::show) the lane when its next slice begins, or no longer. A
    /// hint.
    pub(crate) fn ask(&self, asked: bool) {
        let set =
            |word: *mut Meter| Some(word.map_addr(|address| address & !ASKED | usize::from(asked)));
        // Ordering: a hint (`snapshot.rs`); the meter stays published, for an exchange goes on with what the word has.
        let _before = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, set);
    }

    #[inline]
    pub(crate) fn is_asked(&self) -> bool {
        // Ordering: as in `ask`.
        self.0.load(Ordering::Relaxed).addr() & ASKED != 0
    }
}

/// The pointer without the bit.
fn meter_of(word: *mut Meter) -> *mut Meter {
    word.map_addr(|address| address & !ASKED)
}

impl Drop for LaneSlot {
    #[inline]
    fn drop(&mut self) {
        if let Some(meter) = self.meter_mut() {
            // SAFETY: `make` took the pointer from a box, and nobody uses the slot any more.
            drop(unsafe { Box::from_raw(meter) });
        }
    }
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

    /// A lane that retires, or that the table does not have, has used so much.
    fn keep_usage(&self, color: Color, usage: Usage);
}
