//! Readers that are admitted together, and run on few lanes.
//!
//! A lane for each reader would cost more than many a read: it is made, queued, found, run and retired. So the readers
//! run as a batch: as many lanes as there are workers, each under a fresh color, take readers from the batch, one after
//! the other, in the order in which the readers came. An urgent reader runs alone, before the batch.
//!
//! A lane leaves the batch after [`TURNS`] readers, or after [`LONG_NANOS`]; if there are more readers, another
//! fresh lane goes on, so that other work comes in between. A lane also leaves the batch after a reader that has
//! left a value under the lane's color, or has asked for that color: no other reader finds the same color.
//!
//! In a shutdown, the first lane drops all readers that no lane has taken: a reader that runs may wait for one of them.

use crate::kernel::chain::Node;
use crate::kernel::lane::base::{Held, Lane};
use crate::kernel::lane::refs::LaneRef;
use crate::kernel::lane::{callback, current};
use crate::sync::{Arc, Mutex};
use std::mem;
use std::ptr::NonNull;
use std::task::Waker;
use std::vec::IntoIter;

/// How many readers one lane takes: as many as a worker polls between two looks at the clock.
#[cfg(not(colored_loom))]
const TURNS: usize = 8;
#[cfg(colored_loom)]
const TURNS: usize = 1;

/// Nanoseconds after which a lane takes no more readers. From then on a worker, too, looks at the clock after each
/// poll.
const LONG_NANOS: u64 = 16_000;

/// Takes a reader, which reads, or is dropped if the second argument is true, and then leaves. Returns the waker to
/// wake.
pub(super) type Read = unsafe fn(NonNull<Node>, bool) -> Option<Waker>;

/// A reader that is counted in, and has not begun. It leaves when this is dropped.
pub(super) struct AdmittedRead {
    node: NonNull<Node>,
    read: Read,
}

// SAFETY: a queued read is `Send`, and an `AdmittedRead` owns its queued read.
unsafe impl Send for AdmittedRead {}

impl AdmittedRead {
    /// # Safety
    ///
    /// `read` takes nodes such as `node`, which is in no chain and has been counted in. The caller gives it.
    pub(super) unsafe fn new(node: NonNull<Node>, read: Read) -> Self {
        Self { node, read }
    }

    pub(super) fn is_urgent(&self) -> bool {
        // SAFETY: `new` was given the node, which is in no chain.
        unsafe { self.node.as_ref() }.urgent
    }

    /// Reads, and leaves. The task that waits for it is woken behind the tasks that are in the line.
    pub(super) fn read(self) {
        let Self { node, read } = self;
        mem::forget(self);
        // SAFETY: `new` was given a node that `read` takes, and this is its only use, since the `Drop` is forgotten.
        if let Some(waker) = unsafe { read(node, false) } {
            current::wake_last(waker);
        }
    }

    /// Sends the reader to a fresh lane of the same scheduler.
    pub(super) fn read_elsewhere(self, lane: &Lane) {
        callback::post_urged(&lane.spare(), self.is_urgent(), move || self.read());
    }
}

impl Drop for AdmittedRead {
    fn drop(&mut self) {
        // SAFETY: `new` was given a node that `read` takes, and this is its only use, since a reader that reads is
        // forgotten.
        let _nobody = unsafe { (self.read)(self.node, true) };
    }
}

/// Sends the readers to as many fresh lanes of the same scheduler as may run at once.
pub(super) fn read_elsewhere(mut readers: Vec<AdmittedRead>, lane: &Lane) {
    if readers.len() < 2 {
        if let Some(only) = readers.pop() {
            only.read_elsewhere(lane);
        }
        return;
    }
    let lanes = readers.len().min(lane.port.common().lanes_at_once);
    let batch = Arc::new(Mutex::new(readers.into_iter()));
    for _ in 0..lanes {
        BatchTurn(Some(Arc::clone(&batch))).read_elsewhere(lane);
    }
}

/// Readers that are counted in, and wait for a lane to run on.
type Batch = Mutex<IntoIter<AdmittedRead>>;

fn drop_all(batch: &Batch) {
    let rest = mem::take(&mut *batch.lock());
    drop(rest);
}

/// The turn of a lane. If it is dropped unused, in a shutdown, no reader runs any more.
struct BatchTurn(Option<Arc<Batch>>);

impl BatchTurn {
    fn read_elsewhere(self, lane: &Lane) {
        let spare = lane.spare();
        let here = spare.clone();
        callback::post(&spare, move || self.read(&here));
    }

    /// Runs under `here`, in a callback.
    fn read(mut self, here: &LaneRef) {
        let Some(batch) = self.0.take() else { return };
        let start = here.port.now();
        for _ in 0..TURNS {
            if here.is_closing() {
                return drop_all(&batch);
            }
            let next = batch.lock().next();
            let Some(admitted) = next else { return };
            admitted.read();
            // This runs in a callback under `here`.
            let has_locals = Held::with_current(|lane| lane.is_some_and(Held::has_locals));
            let is_known = has_locals || here.is_published() || !here.chain.has_head_only();
            if is_known || here.port.now() > start + LONG_NANOS {
                break;
            }
        }
        if batch.lock().len() > 0 {
            Self(Some(batch)).read_elsewhere(here);
        }
    }
}

impl Drop for BatchTurn {
    fn drop(&mut self) {
        if let Some(batch) = self.0.take() {
            drop_all(&batch);
        }
    }
}
