//! [`Id`]: the name of a task.

use crate::kernel::color::{SIMULATED, shown};
use crate::sync::thread_slot;
use std::cell::Cell;
use std::fmt;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

/// Names a task. No other task of the process, past or present, has the same.
///
/// Threads take ids in blocks, so the order of ids is not the order of spawns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(NonZeroU64);

/// Ids a thread takes at once, so that spawning does not bounce one cache line between all cores.
const BLOCK: u64 = 1024;

static NEXT_BLOCK: AtomicU64 = AtomicU64::new(1);

thread_slot!(static NEXT: Cell<u64> = Cell::new(0));

thread_slot!(static OUTPUT_OF: Cell<Option<Id>> = Cell::new(None));

impl Id {
    #[inline]
    pub(crate) fn next() -> Self {
        let id = NEXT.with(|next| {
            let mut id = next.get();
            if id % BLOCK == 0 && id < SIMULATED {
                // Ordering: only the distinctness of the blocks matters.
                id = NEXT_BLOCK.fetch_add(1, Ordering::Relaxed) * BLOCK;
            }
            next.set(id + 1);
            id
        });
        Self(NonZeroU64::new(id).expect("blocks begin above zero"))
    }

    /// The number of the first id of a simulation.
    pub(crate) const FIRST_SIMULATED: u64 = SIMULATED + 1;

    /// Sets the number of this thread's next id, and returns the earlier one. After 0 the ids are of no simulation.
    pub(crate) fn set_next(number: u64) -> u64 {
        NEXT.with(|next| next.replace(number))
    }

    /// Runs `drop`, which drops the output of the task with this id.
    pub(super) fn drop_output(self, drop: impl FnOnce()) {
        let _outer = Outer(OUTPUT_OF.with(|id| id.replace(Some(self))));
        drop();
    }

    /// The id of the task whose output this thread drops.
    #[inline]
    pub(crate) fn of_dropped_output() -> Option<Self> {
        OUTPUT_OF.with(Cell::get)
    }

    /// The id with this number, as from a log; none for 0. There need be no such task.
    #[must_use]
    pub fn from_number(number: u64) -> Option<Self> {
        NonZeroU64::new(number).map(Self)
    }

    /// The id as a number, for logs and traces.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0.get()
    }
}

/// Restores the task whose output this thread dropped before, also when the destructor panics.
struct Outer(Option<Id>);

impl Drop for Outer {
    fn drop(&mut self) {
        OUTPUT_OF.with(|id| id.set(self.0));
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task {self}")
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        shown(self.get()).fmt(f)
    }
}
