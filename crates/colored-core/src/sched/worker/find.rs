//! Where a worker finds its next lane: its own queues, the injector, and then the other workers.

use super::super::times::Phase;
use super::Worker;
use crate::lane::ReadyLane;

/// The most lanes from the `next` slot in a row, before the deque has its turn: two tasks that wake
/// each other for ever would otherwise starve all others (tokio's cap, after its issue 5712).
const NEXT_STREAK: u8 = 3;

/// How long a worker must have been in one slice before its `next` lane may be stolen.
const LATE_NANOS: u64 = 50_000;

impl Worker {
    pub(super) fn find(&mut self) -> Option<ReadyLane> {
        self.steps = self.steps.wrapping_add(1);
        if self.local.remote().is_unusual() { self.find_unusual() } else { self.find_plain() }
    }

    #[cold]
    fn find_unusual(&mut self) -> Option<ReadyLane> {
        if self.local.scheduler().common.has_classes() {
            self.find_ranked()
        } else {
            self.find_plain()
        }
    }

    /// Finds a lane while no color has a priority.
    #[inline(always)]
    pub(in crate::sched) fn find_plain(&mut self) -> Option<ReadyLane> {
        let lane = self.find_here().or_else(|| self.find_elsewhere())?;
        self.set_home(&lane);
        Some(lane)
    }

    /// Prepares to run the lane here.
    #[inline(always)]
    pub(in crate::sched) fn set_home(&self, lane: &ReadyLane) {
        let (home, scheduler) = (lane.lane().home(), self.local.scheduler());
        if home != Some(self.index()) && !scheduler.is_spare(self.index()) {
            lane.lane().set_home(self.index());
        }
    }

    /// Looks at this worker's lanes, and at the lanes from outside that precede the next round (`worker/round.rs`).
    /// Pinned lanes take turns with the rest.
    #[inline(always)]
    pub(in crate::sched) fn find_here(&mut self) -> Option<ReadyLane> {
        let remote = self.local.remote();
        if self.steps.is_multiple_of(2) && remote.has_inbox() {
            return remote.take_inbox();
        }
        if self.streak < NEXT_STREAK
            && let Some(lane) = remote.take_next()
        {
            self.streak += 1;
            return Some(lane);
        }
        self.streak = 0;
        let queued = self.take_queued();
        let remote = self.local.remote();
        queued.or_else(|| remote.take_next()).or_else(|| remote.take_inbox())
    }

    #[cold]
    pub(in crate::sched) fn find_elsewhere(&mut self) -> Option<ReadyLane> {
        let scheduler = self.local.scheduler();
        if !scheduler.steals {
            // The other workers could not take the rest of a batch.
            return scheduler.injector.pop();
        }
        if let Some(lane) = scheduler.injector.steal_batch(&self.local.deque) {
            // A worker that looked while the rest was between the queues has seen it in neither.
            if !self.searching && self.local.deque.len() > 0 {
                scheduler.notify();
            }
            self.round.begin(self.local.deque.len());
            return Some(lane);
        }
        if self.check_pause() {
            return None;
        }
        self.enter(Phase::Search);
        if !self.searching {
            self.searching = self.local.scheduler().idle.start_searching();
        }
        if !self.searching {
            return None;
        }
        let (lane, victim) = self.steal()?;
        self.record_theft();
        self.round.begin(self.local.deque.len());
        self.local.remote().counters.steals.add(1);
        self.record_steal(&lane, victim);
        Some(lane)
    }

    /// Tries every other worker once, from a random one on, and returns which one had the lane. It takes half of a deque, at most 32 lanes; if all deques are
    /// empty, half of a home queue; and only then a `next` lane whose worker is late.
    fn steal(&mut self) -> Option<(ReadyLane, usize)> {
        let others = self.others();
        let scheduler = self.local.scheduler();
        let half = others.clone().find_map(|victim| {
            let remote = &scheduler.remotes[victim];
            let lane = remote.stealer.steal_half(&self.local.deque)?;
            let taken = 1 + self.local.deque.len();
            remote.add_free_turns(taken);
            self.local.remote().set_free_turns(taken);
            Some((lane, victim))
        });
        half.or_else(|| self.steal_from_home(others.clone())).or_else(|| {
            let before = scheduler.park.now().saturating_sub(LATE_NANOS);
            let mut others = others;
            others.find_map(|victim| Some((scheduler.remotes[victim].steal_next(before)?, victim)))
        })
    }

    /// Every other worker once, from a random one on.
    pub(in crate::sched) fn others(&mut self) -> impl Iterator<Item = usize> + Clone + use<> {
        let (workers, own) = (self.local.scheduler().remotes.len(), self.local.index());
        let start = self.rng.below(workers);
        (0..workers).map(move |i| (start + i) % workers).filter(move |victim| *victim != own)
    }

    /// The last searcher that finds a lane wakes the next one, because there may be more lanes.
    #[inline]
    pub(super) fn stop_searching(&mut self) {
        if self.searching {
            self.searching = false;
            if self.local.scheduler().idle.stop_searching() {
                self.local.scheduler().notify();
            }
        }
    }
}
