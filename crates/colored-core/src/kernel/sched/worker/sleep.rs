//! How a worker goes to sleep, and when it stops for good.

use super::super::Scheduler;
use super::super::remote::Remote;
use super::{Step, Worker};
use crate::sync::{Arc, Ordering};
use crossbeam_utils::CachePadded;

/// How long a worker parks at most while a `next` slot elsewhere is full.
const LATE_PARK_NANOS: u64 = 1_000_000;

impl Worker {
    /// Announces the sleep, looks at all queues once more, and only then sleeps (G6).
    #[cold]
    pub(super) fn go_to_sleep(&mut self) -> Step {
        if let Some(pause) = self.pause_left() {
            self.stop_searching();
            self.local.remote().counters.parks.add(1);
            self.begin_sleep();
            return Step::Park(Some(pause));
        }
        let scheduler = self.local.scheduler();
        scheduler.idle.park(self.local.index(), self.searching);
        self.searching = scheduler.has_work_for(self.local.index());
        if self.searching {
            scheduler.idle.search_again(self.local.index());
            return Step::Ran;
        }
        self.parked = true;
        if scheduler.may_stop() {
            self.local.enter(|| scheduler.drain());
            scheduler.drop_spare_lanes();
            return Step::Stopped;
        }
        self.local.remote().counters.parks.add(1);
        let late = scheduler.steals && scheduler.remotes.iter().any(|remote| remote.has_next());
        self.begin_sleep();
        Step::Park(late.then_some(LATE_PARK_NANOS))
    }
}

impl Scheduler {
    /// Whether a worker that is about to park could run a lane. Sequenced after the fence in
    /// `Idle::park`.
    fn has_work_for(&self, worker: usize) -> bool {
        let own = &self.remotes[worker..=worker];
        let takes_from = if self.steals { &self.remotes[..] } else { own };
        // The order matters: lanes go from the home queue to a deque.
        self.classes.has_work_for(worker, self.steals)
            || own[0].has_inbox()
            || !self.injector.is_empty()
            || takes_from.iter().any(|remote| !remote.home_queue.is_empty())
            || takes_from.iter().any(|remote| !remote.stealer.is_empty())
    }

    /// Whether no lane is in a queue of the workers.
    pub(in crate::kernel::sched) fn has_no_lanes(&self) -> bool {
        let empty = |remote: &Arc<CachePadded<Remote>>| {
            !remote.has_inbox()
                && !remote.has_next()
                && remote.home_queue.is_empty()
                && remote.stealer.is_empty()
        };
        self.injector.is_empty() && self.remotes.iter().all(empty) && self.classes.is_empty()
    }

    /// Whether a worker that is about to park may stop for good: every lane has a request to cancel its
    /// tasks, and all workers have run out of lanes.
    fn may_stop(&self) -> bool {
        if !self.is_cancel_sent() {
            return false;
        }
        let nothing_left = || {
            self.has_no_lanes() && self.remotes.iter().all(|remote| remote.local_tasks.is_empty())
        };
        if self.idle.all_parked_and(nothing_left).is_some()
            && !self.stopped.swap(true, Ordering::SeqCst)
        {
            for worker in 0..self.remotes.len() {
                self.park.unpark(worker);
            }
        }
        // Ordering: pairs with the swap above and with `drain_if_stopped`.
        self.stopped.load(Ordering::SeqCst)
    }
}
