//! How a scheduler is made.

use super::classes::Classes;
use super::counters::TaskCounts;
use super::handle::SchedulerHandle;
use super::idle::Idle;
use super::options::Options;
use super::remote::{Guests, Remote};
use super::scheduler::{MAX_WORKERS, Park, Scheduler, shared_lanes};
use super::worker::Worker;
use crate::hooks::slots::SchedulerSlot;
use crate::kernel::lane::{Common, ReadyLane};
use crate::kernel::memory::SharedBlocks;
use crate::kernel::queue::{Deque, Injector};
use crate::kernel::table::Table;
use crate::sync::{Arc, AtomicBool, AtomicUsize};
use crossbeam_utils::CachePadded;

impl Scheduler {
    /// Makes a scheduler with this number of workers; the caller steps them. `seed` decides in which order a
    /// thief tries its victims.
    pub fn with_workers(
        workers: usize,
        seed: u64,
        park: Box<dyn Park>,
    ) -> (SchedulerHandle, Vec<Worker>) {
        Self::with_options(workers, seed, park, Options::default())
    }

    /// As [`Scheduler::with_workers`], with other settings. The spare workers follow the others.
    ///
    /// # Panics
    ///
    /// If [`Options::check`] rejects the options.
    pub fn with_options(
        workers: usize,
        seed: u64,
        park: Box<dyn Park>,
        options: Options,
    ) -> (SchedulerHandle, Vec<Worker>) {
        assert!(workers > 0, "a scheduler has at least one worker");
        let all = workers.saturating_add(options.spares);
        assert!(all < MAX_WORKERS, "a scheduler has fewer than {MAX_WORKERS} workers");
        options.check().unwrap_or_else(|unsuitable| panic!("{unsuitable}"));
        let deques: Vec<Deque<ReadyLane>> = (0..all).map(|_| Deque::new()).collect();
        let remote = |deque: &Deque<_>| Remote::new(deque.stealer(), options.trace_bytes);
        let remotes = deques.iter().map(|deque| Arc::new(CachePadded::new(remote(deque))));
        let steals = options.policy.is_none_or(|policy| policy.steals());
        let slot = SchedulerSlot::new(options.trace_bytes);
        let scheduler = Arc::new(Self {
            table: Table::new(seed),
            common: Common::new(all, if steals { workers } else { usize::MAX }, slot),
            sections: AtomicBool::new(false),
            injector: Injector::new(),
            idle: Idle::new(workers),
            remotes: remotes.collect(),
            workers,
            wanted_spares: AtomicUsize::new(0),
            guests: Guests::new(all),
            park,
            shared_blocks: Arc::new(SharedBlocks::new()),
            spare_lanes: shared_lanes(),
            cancel_sent: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            slice_weight: options.slice_weight(),
            slice_nanos: options.slice_nanos,
            policy: options.policy,
            steals,
            classes: Classes::new(all),
            tasks_outside: TaskCounts::default(),
        });
        if scheduler.policy.is_some() {
            scheduler.remotes.iter().for_each(|remote| remote.set_policy_or_classes());
        }
        let handle = SchedulerHandle::new(scheduler);
        let workers = deques
            .into_iter()
            .enumerate()
            .map(|(index, deque)| Worker::new(handle.clone(), index, deque, seed, &options))
            .collect();
        (handle, workers)
    }
}
