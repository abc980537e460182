//! [`Shards`]: the reactor, which has one selector for some workers each.

use super::reactor::Shard;
use super::ring::{Read, Ring};
use super::simulated::Machine;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Waker;

/// How many workers share a shard.
///
/// With one poller a shard, a batch of events is as large as it can be, and few workers sleep in
/// system calls. A hello-world server on 2 workers and 64 connections: 4.8 µs of CPU a request with
/// one shard, 5.9 with one for each worker; with 512 connections, 5.6 and 5.6.
const WORKERS_PER_SHARD: usize = 8;

/// The shards of the reactor, and the rings that read files for them.
pub(crate) struct Shards {
    shards: Box<[Shard]>,
    /// One for each shard.
    rings: Box<[Ring]>,
    /// The turn of threads that are no workers.
    turn: AtomicUsize,
}

impl Shards {
    /// The shards for so many workers.
    ///
    /// # Errors
    ///
    /// When the system refuses a selector.
    pub(crate) fn new(workers: usize, has_rings: bool) -> io::Result<Self> {
        let shards = (0..workers.div_ceil(WORKERS_PER_SHARD)).map(|_| Shard::new());
        Ok(Self::of(shards.collect::<io::Result<_>>()?, has_rings))
    }

    /// The shards of a runtime of this machine: sockets of the system are refused there, and so are reads in the background.
    pub(crate) fn simulated(machine: &Machine) -> Self {
        Self::of(Box::new([Shard::simulated(machine)]), false)
    }

    pub(super) fn of(shards: Box<[Shard]>, has_rings: bool) -> Self {
        let rings = shards.iter().map(|_| Ring::new(has_rings)).collect();
        Self { shards, rings, turn: AtomicUsize::new(0) }
    }

    pub(crate) fn get(&self, index: usize) -> &Shard {
        &self.shards[index]
    }

    pub(crate) fn len(&self) -> usize {
        self.shards.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Shard> {
        self.shards.iter()
    }

    /// The number of the shard that a worker polls.
    pub(super) fn index_of(&self, worker: usize) -> usize {
        worker % self.shards.len()
    }

    /// The shard that a worker polls.
    pub(super) fn of_worker(&self, worker: usize) -> &Shard {
        self.get(self.index_of(worker))
    }

    /// The shard for the sockets that this worker opens; other threads take turns.
    pub(crate) fn choose(&self, worker: Option<usize>) -> usize {
        // Ordering: only spreads the load.
        self.index_of(worker.unwrap_or_else(|| self.turn.fetch_add(1, Ordering::Relaxed)))
    }

    /// Begins a read of a file that the system does in the background, for this worker.
    ///
    /// # Errors
    ///
    /// The read, if a thread has to do it.
    pub(crate) fn read(&self, worker: Option<usize>, read: Read) -> Result<(), Read> {
        let shard = self.choose(worker);
        self.rings[shard].read(&self.shards[shard], read)
    }

    /// Whether the system reads a file in the background.
    pub(super) fn has_reads(&self) -> bool {
        self.rings.iter().any(Ring::is_busy)
    }

    /// Makes every socket fail from now on. Appends the wakers of all that wait for one.
    pub(super) fn shut_down(&self, wakers: &mut Vec<Waker>) {
        self.shards.iter().for_each(|shard| shard.shut_down(wakers));
    }

    /// Ends the reads that are under way, which takes as long as the device.
    pub(super) fn end_reads(&self) {
        self.rings.iter().for_each(Ring::shut_down);
    }
}
