//! How far a consumer by hand is: the low-water mark of each partition.

use super::log::PARTITIONS;
use colored_consumer::Record;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

/// The low-water marks. A handler takes the lock of its partition only.
pub(super) struct Progress(Vec<Mutex<Row>>);

#[derive(Default)]
struct Row {
    /// All below are done.
    low: u64,
    /// Whether those from `low` on are done.
    done: VecDeque<bool>,
}

impl Progress {
    pub(super) fn new() -> Progress {
        Progress((0..PARTITIONS).map(|_| Mutex::default()).collect())
    }

    /// A record is done.
    pub(super) fn finish(&self, record: &Record) {
        let mut row = lock(&self.0[record.partition as usize]);
        let at = (record.offset - row.low) as usize;
        if row.done.len() <= at {
            row.done.resize(at + 1, false);
        }
        row.done[at] = true;
        while row.done.front() == Some(&true) {
            row.done.pop_front();
            row.low += 1;
        }
    }

    /// The offset that a partition may commit.
    pub(super) fn low(&self, partition: u32) -> u64 {
        lock(&self.0[partition as usize]).low
    }

    /// How many records are below the low-water marks.
    pub(super) fn total(&self) -> u64 {
        self.0.iter().map(|row| lock(row).low).sum()
    }
}

fn lock(row: &Mutex<Row>) -> MutexGuard<'_, Row> {
    row.lock().expect("no handler panics")
}
