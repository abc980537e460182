//! [`Counts`]: counters of file operations.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Threads count on so many lines of the cache, so that two workers rarely count on one.
const LINES: usize = 16;

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
    /// The operation was not tried, because most tries have failed.
    Skipped,
    /// A thread of the pool did the operation, or the rest of it.
    Deferred,
}

const EVENTS: usize = 6;

/// The counters of the operations on one device.
#[derive(Debug, Default)]
pub(crate) struct Counts([Line; LINES]);

/// The counters of some threads.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Line {
    events: [AtomicU64; EVENTS],
    hit_bytes: AtomicU64,
    deferred_bytes: AtomicU64,
}

impl Counts {
    /// Counts an event, with the bytes that it moved.
    pub(crate) fn add(&self, event: Event, bytes: usize) {
        let line = &self.0[line()];
        let sum = match event {
            Event::Deferred => &line.deferred_bytes,
            _ => &line.hit_bytes,
        };
        // Ordering: these are statistics.
        line.events[event as usize].fetch_add(1, Ordering::Relaxed);
        if bytes > 0 {
            sum.fetch_add(bytes as u64, Ordering::Relaxed);
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
            hit_bytes: sum(&|line| &line.hit_bytes),
            deferred_bytes: sum(&|line| &line.deferred_bytes),
        }
    }
}

/// The line of this thread.
fn line() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static LINE: Cell<usize> = const { Cell::new(LINES) });
    LINE.with(|line| {
        if line.get() == LINES {
            // Ordering: any number serves.
            line.set(NEXT.fetch_add(1, Ordering::Relaxed) % LINES);
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
    /// Operations that were not attempted, because most attempts on the device fail.
    pub skipped: u64,
    /// Operations that a blocking thread did, or finished.
    pub deferred: u64,
    /// Bytes that were moved on workers.
    pub hit_bytes: u64,
    /// Bytes that blocking threads moved.
    pub deferred_bytes: u64,
}
