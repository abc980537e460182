//! Stub: the driver of one runtime.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) mod current;
pub(crate) mod reactor;
pub(crate) mod source;

/// Reactor shards of one runtime.
pub(crate) struct Driver {
    pub(crate) shards: Box<[reactor::Shard]>,
    next: AtomicUsize,
}

impl Driver {
    pub(crate) fn new(shards: usize) -> io::Result<Driver> {
        let shards = (0..shards).map(|_| reactor::Shard::new()).collect::<io::Result<_>>()?;
        Ok(Driver { shards, next: AtomicUsize::new(0) })
    }

    pub(crate) fn home_shard(&self, worker: Option<usize>) -> usize {
        // Ordering: hint only.
        let n = worker.unwrap_or_else(|| self.next.fetch_add(1, Ordering::Relaxed));
        n % self.shards.len()
    }
}
