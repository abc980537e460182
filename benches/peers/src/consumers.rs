//! Consumers of one log: ours, and what is written by hand in its place.
//!
//! All read the same embedded engine, handle at most [`AT_ONCE`] records at a time, hold at most [`HELD`], keep the order
//! of a key and commit twice a second. Ours also commits what is done above the low-water mark, and hands over in a
//! rebalance; those by hand do not.

mod actors;
mod by_partition;
mod feed;
mod log;
mod ours;
mod progress;
mod queues;

use crate::executors::Timed;
use crate::setup::Setup;
use colored_benches::spin::{PER_MICROSECOND, spin};
use colored_consumer::Record;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

pub(crate) use log::Log;

/// Handlers at a time.
const AT_ONCE: usize = 100;

/// Records that are read and not done.
const HELD: usize = 100_000;

/// The names of all, ours first.
pub(crate) const NAMES: [&str; 5] =
    ["colored", "tokio partitions", "tokio queues", "tokio actors", "colored queues"];

/// What a handler does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    /// All together need at least `bound`.
    Sleep {
        time: Duration,
        bound: Duration,
    },
    Compute {
        micros: u64,
    },
}

impl Work {
    async fn run(self, on: impl Timed) {
        match self {
            Work::Sleep { time, .. } => on.sleep(time).await,
            Work::Compute { micros } => spin(micros * PER_MICROSECOND),
        }
    }
}

/// Batches of records of a partition each.
type Batches = mpsc::Receiver<Vec<Record>>;

/// Handles all records of the log, as a group of its own.
pub(crate) fn consume(setup: &Setup, name: &str, log: &Arc<Log>, work: Work) -> Box<dyn FnMut()> {
    // With fine timers: a handler's sleep stands for a wait that ends in time.
    let (on, fine, log) = (setup.runtimes(), setup.fine(), Arc::clone(log));
    match name {
        "colored" => Box::new(move || ours::consume(fine, &log, work)),
        "tokio partitions" => Box::new(move || {
            feed::consume(on, on.tokio(), &log, move |batches, progress| {
                by_partition::consume(on.tokio(), batches, work, progress)
            });
        }),
        "tokio queues" => Box::new(move || {
            feed::consume(on, on.tokio(), &log, move |batches, progress| {
                queues::consume(on.tokio(), batches, work, progress)
            });
        }),
        "tokio actors" => Box::new(move || {
            feed::consume(on, on.tokio(), &log, move |batches, progress| {
                actors::consume(on.tokio(), batches, work, progress)
            });
        }),
        "colored queues" => Box::new(move || {
            feed::consume(on, fine, &log, move |batches, progress| {
                queues::consume(fine, batches, work, progress)
            });
        }),
        other => unreachable!("{other} is none of the names"),
    }
}
