//! How often a busy worker polls for events, and how it wakes their tasks.

use colored_core::{Worker, contain};
use std::task::Waker;

/// A busy worker polls for events and due timers once in this time, in nanoseconds, without blocking.
///
/// `benches/ratio.rs`: the HTTP rows do not tell 100, 300 and 1000 µs apart, so it is as short as
/// keeps the delay of an event small beside a slice.
pub(super) const POLL_INTERVAL_NANOS: u64 = 100_000;

/// Wakes all, in the order of the events, and other workers only afterwards.
pub(super) fn wake_all(worker: &mut Worker, wakers: &mut Vec<Waker>) {
    worker.batch(wakers.len(), || {
        for waker in wakers.drain(..) {
            // A waker may be foreign code; the worker must outlive its panic.
            contain(|| waker.wake());
        }
    });
}
