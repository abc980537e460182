//! [`SharedRing`]: the records of all threads that have no ring of their own.

use super::event::Record;
use super::ring::{Copied, Ring};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, TryLockError};

/// A ring for any number of threads: a [`Ring`] behind a lock that nobody waits for.
#[derive(Debug)]
pub struct SharedRing {
    writer: Mutex<()>,
    ring: Ring,
    dropped: AtomicU64,
}

impl SharedRing {
    /// A ring of at most so many bytes, as [`Ring::new`].
    #[must_use]
    pub const fn new(bytes: usize) -> Self {
        Self { writer: Mutex::new(()), ring: Ring::new(bytes), dropped: AtomicU64::new(0) }
    }

    /// Allocates the memory, as [`Ring::allocate`].
    pub fn allocate(&self) {
        self.ring.allocate();
    }

    /// Adds a record, unless another thread is adding one at this moment: then the record is counted as dropped.
    ///
    /// Costs an exchange for the lock, and a store, more than [`Ring::push`].
    pub fn push(&self, record: Record) {
        let _writer = match self.writer.try_lock() {
            Ok(writer) => writer,
            // A lock that protects no value cannot leave one half written.
            Err(TryLockError::Poisoned(error)) => PoisonError::into_inner(error),
            Err(TryLockError::WouldBlock) => {
                // Ordering: only has to count.
                self.dropped.fetch_add(1, Ordering::Relaxed);
                return;
            }
        };
        self.ring.push(record);
    }

    /// The records that are in the ring now, as [`Ring::copy`], and how many were dropped so far. Takes no lock.
    #[must_use]
    pub fn copy(&self) -> Copied {
        let copied = self.ring.copy();
        // Ordering: only counts.
        Copied { dropped: self.dropped.load(Ordering::Relaxed), ..copied }
    }
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::super::{Event, task};
    use super::*;
    use std::thread;

    fn record(nanos: u64) -> Record {
        let task = task(nanos + 1).expect("not 0");
        Record { nanos, event: Event::End { task } }
    }

    #[test]
    fn a_record_that_finds_the_lock_taken_is_counted() {
        let ring = SharedRing::new(4096);
        ring.push(record(1));
        let writer = ring.writer.lock().expect("nobody panics");
        ring.push(record(2));
        drop(writer);
        ring.push(record(3));
        let copied = ring.copy();
        assert_eq!(copied.records, [record(1), record(3)]);
        assert_eq!((copied.overwritten, copied.dropped), (0, 1));
    }

    #[test]
    fn the_records_of_several_threads_are_kept_or_counted() {
        const EACH: u64 = if cfg!(miri) { 100 } else { 10_000 };
        let ring = SharedRing::new(4096);
        thread::scope(|scope| {
            for first in [0, EACH] {
                let ring = &ring;
                scope.spawn(move || {
                    (first..first + EACH).for_each(|nanos| ring.push(record(nanos)))
                });
            }
        });
        let copied = ring.copy();
        let kept = copied.records.len() as u64;
        assert_eq!(kept + copied.overwritten + copied.dropped, 2 * EACH);
        assert!(copied.records.iter().all(|kept| *kept == record(kept.nanos)));
    }
}
