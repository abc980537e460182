//! Test doubles of the shell: a [`Park`] and a clock for schedulers under test.

use colored_core::{Options, Park, Policy};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Wakes no worker, for the test steps every worker. Its clock does not advance, so a slice ends by its polls.
pub(crate) struct NeverParks;

impl Park for NeverParks {
    fn unpark(&self, _: usize) {}

    fn now(&self) -> u64 {
        0
    }
}

/// A clock that advances when a test spends time. Clones are one clock.
#[derive(Clone, Default)]
pub(crate) struct Clock(Arc<AtomicU64>);

impl Clock {
    pub(crate) fn spend(&self, nanos: u64) {
        self.0.fetch_add(nanos, Ordering::Relaxed);
    }
}

impl Park for Clock {
    fn unpark(&self, _: usize) {}

    fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Wakes no worker. The test keeps a reference of its own, whose count falls when the scheduler is freed.
pub(crate) struct Counted(#[expect(dead_code, reason = "owned, not read")] pub(crate) Arc<()>);

impl Park for Counted {
    fn unpark(&self, _: usize) {}

    fn now(&self) -> u64 {
        0
    }
}

/// Counts how often the scheduler wakes each of its two workers. Clones count together.
#[derive(Clone, Default)]
pub(crate) struct Bells(Arc<[AtomicUsize; 2]>);

impl Bells {
    /// How often the scheduler has woken this worker.
    pub(crate) fn of(&self, worker: usize) -> usize {
        self.0[worker].load(Ordering::Relaxed)
    }

    /// How often the scheduler has woken either worker.
    pub(crate) fn rung(&self) -> usize {
        self.of(0) + self.of(1)
    }
}

impl Park for Bells {
    fn unpark(&self, worker: usize) {
        self.0[worker].fetch_add(1, Ordering::Relaxed);
    }

    fn now(&self) -> u64 {
        0
    }
}

/// The default options, with a policy.
pub(crate) fn by(policy: &'static dyn Policy) -> Options {
    Options { policy: Some(policy), ..Options::default() }
}
