//! [`Counts`]: counters of file operations.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The first threads that count have a line each, and count on it without an atomic exchange; all
/// others share the last line.
const LINES: usize = 32;
const SHARED: usize = LINES - 1;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A try did the whole operation.
    Hit,
    /// A try did a part of it.
    Partial,
    /// A try found that the operation would wait.
    WouldBlock,
    /// A try found that the file system supports none.
    Unsupported,
    /// The operation was not tried, because most tries have failed, or because those that fail are slow and the system
    /// says that the data is not in memory.
    Skipped,
    /// A thread of the pool, or the ring, did the operation, or the rest of it.
    Deferred,
    /// The ring did so.
    Ring,
    /// A try that was timed did its part, but took long.
    SlowHit,
    /// A try that was timed took long to find that the operation would wait.
    SlowRefusal,
}

const EVENTS: usize = 9;

/// The counters of the operations on one device.
#[derive(Debug)]
pub(crate) struct Counts(Box<[Line]>);

impl Default for Counts {
    fn default() -> Self {
        Self((0..LINES).map(|_| Line::default()).collect())
    }
}

/// The counters of some threads.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Line {
    events: [AtomicU64; EVENTS],
    hit_bytes: AtomicU64,
    deferred_bytes: AtomicU64,
}

impl Counts {
    /// Counts an event.
    pub(crate) fn add(&self, event: Event) {
        self.count(|line| &line.events[event as usize], 1);
    }

    /// Counts bytes that an attempt has moved.
    pub(crate) fn add_hit_bytes(&self, bytes: usize) {
        self.count(|line| &line.hit_bytes, bytes);
    }

    /// Counts bytes that a deferred operation has moved.
    pub(crate) fn add_deferred_bytes(&self, bytes: usize) {
        self.count(|line| &line.deferred_bytes, bytes);
    }

    #[inline]
    fn count(&self, counter: impl FnOnce(&Line) -> &AtomicU64, n: usize) {
        let (index, n) = (line(), n as u64);
        let counter = counter(&self.0[index]);
        // Ordering: these are statistics. A line that is not shared is written by one thread only.
        if index == SHARED {
            counter.fetch_add(n, Ordering::Relaxed);
        } else {
            counter.store(counter.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
        }
    }

    pub(super) fn read(&self, device: Option<u64>) -> FileMetrics {
        // Ordering: these are statistics.
        let sum = |counter: &dyn Fn(&Line) -> &AtomicU64| {
            self.0.iter().map(|line| counter(line).load(Ordering::Relaxed)).sum()
        };
        let events = |event: Event| sum(&|line| &line.events[event as usize]);
        FileMetrics {
            device,
            hits: events(Event::Hit),
            partial: events(Event::Partial),
            would_block: events(Event::WouldBlock),
            unsupported: events(Event::Unsupported),
            skipped: events(Event::Skipped),
            deferred: events(Event::Deferred),
            deferred_to_ring: events(Event::Ring),
            slow_hits: events(Event::SlowHit),
            slow_refusals: events(Event::SlowRefusal),
            hit_bytes: sum(&|line| &line.hit_bytes),
            deferred_bytes: sum(&|line| &line.deferred_bytes),
        }
    }
}

/// The line of this thread.
#[inline]
fn line() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static LINE: Cell<usize> = const { Cell::new(LINES) });
    LINE.with(|line| {
        if line.get() == LINES {
            // Ordering: each number below the shared one is given once.
            line.set(NEXT.fetch_add(1, Ordering::Relaxed).min(SHARED));
        }
        line.get()
    })
}

/// Counters of the file operations of a runtime ([`Metrics::files`](crate::metrics::Metrics::files)),
/// on one device.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FileMetrics {
    /// The device, as in `st_dev`; `None` for operations on paths (open, metadata, listing, removing),
    /// whose device is not known.
    pub device: Option<u64>,
    /// Operations that were done at once, on the worker.
    pub hits: u64,
    /// Reads and writes that were done in part on the worker.
    pub partial: u64,
    /// Attempts that would have waited.
    pub would_block: u64,
    /// Attempts that the file system does not support. They are not repeated on that device.
    pub unsupported: u64,
    /// Operations that were not attempted, because most attempts on the device fail; or because attempts that fail have
    /// been slow, and the system said that the data is not in memory.
    pub skipped: u64,
    /// Operations that a blocking thread or the system's io_uring did, or finished.
    pub deferred: u64,
    /// Those of them that were given to io_uring.
    pub deferred_to_ring: u64,
    /// Of every 16th attempt, which is timed: those that moved data, but took more than 0.1 ms. They waited for a place
    /// in the queue of the device, for a lock, or for a CPU.
    pub slow_hits: u64,
    /// The same of attempts that would have waited.
    pub slow_refusals: u64,
    /// Bytes that were moved on workers.
    pub hit_bytes: u64,
    /// Bytes that blocking threads and io_uring moved.
    pub deferred_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// More threads than lines.
    #[test]
    fn no_event_of_any_thread_is_lost() {
        let counts = Counts::default();
        thread::scope(|scope| {
            for _ in 0..2 * LINES {
                scope.spawn(|| {
                    (0..1000).for_each(|_| {
                        counts.add(Event::Hit);
                        counts.add_hit_bytes(3);
                    })
                });
            }
        });
        let sums = counts.read(None);
        let all = 2000 * LINES as u64;
        assert_eq!((sums.hits, sums.hit_bytes, sums.deferred), (all, 3 * all, 0));
    }
}
