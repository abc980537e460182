//! Where a worker finds its next lane: its own queues, by rounds (`worker.rs`), the injector, and then the other workers,
//! unless it pauses (`idle.rs`).

use super::Worker;
use crate::hooks::workers as hooks;
use crate::kernel::lane::ReadyLane;
use crate::kernel::sched::idle::Spent;

/// The most lanes from the `next` slot in a row, before the deque has its turn: two tasks that wake
/// each other for ever would otherwise starve all others (tokio's cap, after its issue 5712).
const NEXT_STREAK: u8 = 3;

/// How long a worker must have been in one slice before its `next` lane may be stolen.
const LATE_NANOS: u64 = 50_000;

/// Slices of a worker after which lanes that run behind the others move to the deque.
const BEHIND_STEPS: u32 = 61;

/// Nanoseconds after which they move too: five full slices.
const BEHIND_NANOS: u64 = 1_000_000;

/// How a worker finds a lane once the program has given a color a priority. `ext` implements it.
pub(crate) trait FindByClass {
    fn find_by_class(&mut self) -> Option<ReadyLane>;
}

impl Worker {
    pub(super) fn find(&mut self) -> Option<ReadyLane> {
        self.steps = self.steps.wrapping_add(1);
        if self.local.remote().has_policy_or_classes() {
            self.find_by_policy_or_class()
        } else {
            self.find_plain()
        }
    }

    #[cold]
    fn find_by_policy_or_class(&mut self) -> Option<ReadyLane> {
        if self.local.scheduler().common.has_classes() {
            self.find_by_class()
        } else {
            self.find_plain()
        }
    }

    /// Finds a lane while no color has a priority.
    #[inline(always)]
    pub(crate) fn find_plain(&mut self) -> Option<ReadyLane> {
        let lane = self.find_here().or_else(|| self.find_elsewhere())?;
        self.set_home(&lane);
        Some(lane)
    }

    /// Prepares to run the lane here.
    #[inline(always)]
    pub(crate) fn set_home(&self, lane: &ReadyLane) {
        // A worker's pin is its number, counted from 1.
        if !lane.lane().is_home(self.local.pin()) && !self.is_spare {
            lane.lane().set_home(self.index());
        }
    }

    /// Looks at this worker's lanes, and at the lanes from outside that precede the next round ([`Round`](super::Round)).
    /// Pinned lanes take turns with the rest.
    #[inline(always)]
    pub(in crate::kernel::sched) fn find_here(&mut self) -> Option<ReadyLane> {
        let remote = self.local.remote();
        if self.steps.is_multiple_of(2) && remote.inbox.has_some() {
            return remote.inbox.take();
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
        queued.or_else(|| remote.take_next()).or_else(|| remote.inbox.take())
    }

    #[cold]
    pub(in crate::kernel::sched) fn find_elsewhere(&mut self) -> Option<ReadyLane> {
        let scheduler = self.local.scheduler();
        if !scheduler.steals {
            // The other workers could not take the rest of a batch.
            return scheduler.injector.pop();
        }
        if let Some(lane) = scheduler.injector.steal_batch(&self.local.deque) {
            // A worker that looked while the rest was between the queues has seen it in neither.
            if !self.searching && !self.local.deque.is_empty() {
                scheduler.notify();
            }
            self.round.begin(self.local.deque.len());
            return Some(lane);
        }
        if self.check_pause() {
            return None;
        }
        hooks::searches(&mut self.account, &mut self.clock, &self.local);
        if !self.searching {
            self.searching = self.local.scheduler().idle.start_searching();
        }
        if !self.searching {
            return None;
        }
        let (lane, victim) = self.steal()?;
        self.note_theft();
        self.round.begin(self.local.deque.len());
        self.local.remote().counters.steals.add(1);
        hooks::stolen(&self.local, self.now(), &lane, victim);
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
    pub(crate) fn others(&mut self) -> impl Iterator<Item = usize> + Clone + use<> {
        let (workers, own) = (self.local.scheduler().remotes.len(), self.local.index());
        let start = self.rng.below(workers);
        (0..workers).map(move |i| (start + i) % workers).filter(move |victim| *victim != own)
    }

    /// The last searcher that finds a lane wakes the next one, if that might find another lane.
    #[inline]
    pub(super) fn stop_searching(&mut self) {
        if self.searching {
            self.searching = false;
            let scheduler = self.local.scheduler();
            if scheduler.idle.stop_searching() {
                scheduler.notify_of_more();
            }
        }
    }

    /// Takes the next lane of the round, or of a new one.
    #[inline(always)]
    pub(super) fn take_queued(&mut self) -> Option<ReadyLane> {
        if !self.local.remote().home_queue.is_empty() {
            self.fetch_due_home();
        }
        if self.round.is_over() && self.local.scheduler().injector.is_empty() {
            let lane = self.local.deque.pop();
            return lane.or_else(|| self.take_from_home());
        }
        self.take_in_round()
    }

    #[cold]
    fn take_in_round(&mut self) -> Option<ReadyLane> {
        if self.round.is_over() {
            self.begin_round();
        }
        if self.round.outside > 0 {
            let lane = self.local.scheduler().injector.pop();
            // Other workers may have taken the rest.
            self.round.outside = if lane.is_some() { self.round.outside - 1 } else { 0 };
            if lane.is_some() {
                return lane;
            }
        }
        self.round.own = self.round.own.saturating_sub(1);
        self.local.deque.pop().or_else(|| {
            self.round.begin(0);
            self.take_from_home()
        })
    }

    fn begin_round(&mut self) {
        self.round.begin(self.local.deque.len());
        let remote = self.local.remote();
        // A worker that has nothing else takes a batch (`find_elsewhere`).
        if self.round.own > 0 || remote.has_next() || remote.inbox.has_some() {
            self.round.outside = self.local.scheduler().injector.len();
        }
    }
}

/// Home queues (`sched/remote.rs`).
impl Worker {
    /// Moves the whole home queue to the deque.
    pub(crate) fn fetch_home(&self) {
        let home_queue = &self.local.remote().home_queue;
        if !home_queue.is_empty() {
            home_queue.empty_into(&self.local.deque, true);
        }
    }

    /// Moves the whole home queue to the deque, which is empty, and takes the oldest lane.
    #[inline]
    pub(super) fn take_from_home(&self) -> Option<ReadyLane> {
        if self.local.remote().home_queue.is_empty() {
            return None;
        }
        self.fetch_home();
        self.local.deque.pop()
    }

    /// The home queue is not empty: moves the lanes that have come home, and now and then also the lanes behind.
    #[cold]
    pub(super) fn fetch_due_home(&mut self) {
        let all_of_it = self.check_behind();
        let home_queue = &self.local.remote().home_queue;
        if all_of_it || home_queue.has_home() {
            home_queue.empty_into(&self.local.deque, all_of_it);
        }
    }

    /// Checks whether the lanes behind have waited for long enough, and if so begins their next wait.
    pub(crate) fn check_behind(&mut self) -> bool {
        let (steps, nanos) = self.behind_moved;
        let (now_steps, now) = (self.steps, self.now());
        let is_due = now_steps.wrapping_sub(steps) >= BEHIND_STEPS || now - nanos >= BEHIND_NANOS;
        if is_due {
            self.behind_moved = (now_steps, now);
        }
        is_due
    }

    /// Takes half of another worker's home queue, as a thief.
    pub(super) fn steal_from_home(
        &self,
        mut victims: impl Iterator<Item = usize>,
    ) -> Option<(ReadyLane, usize)> {
        let remotes = &self.local.scheduler().remotes;
        victims.find_map(|victim| {
            let lane = remotes[victim].home_queue.steal_half(&self.local.deque)?;
            Some((lane, victim))
        })
    }
}

/// The pause after thefts (`idle.rs`).
impl Worker {
    /// Notes that the worker has just taken lanes from another worker.
    pub(super) fn note_theft(&mut self) {
        if !self.local.remote().has_policy_or_classes() {
            self.look();
            self.steal_pause.theft = Some(self.spent());
        }
    }

    /// Judges the last theft of this worker, which has run dry. True while the worker pauses: it takes nothing from others.
    #[inline]
    pub(super) fn check_pause(&mut self) -> bool {
        (self.steal_pause.theft.is_some() || self.steal_pause.until != 0) && self.judge_theft()
    }

    fn judge_theft(&mut self) -> bool {
        let polls = self.spent().polls;
        // If the stolen lanes were only granted to behaviors, the theft is not judged.
        if let Some(theft) = self.steal_pause.theft.take()
            && polls > theft.polls
        {
            let bad = self.spent().may_be_bad(theft) && {
                self.look();
                self.spent().is_bad(theft)
            };
            self.steal_pause.judge(bad, self.now());
        }
        if self.steal_pause.until == 0 {
            return false;
        }
        self.look();
        let pauses = self.pause_left().is_some();
        if !pauses {
            self.steal_pause.until = 0;
        }
        pauses
    }

    /// The nanoseconds that are left of a pause, by the worker's last look at the clock.
    pub(super) fn pause_left(&self) -> Option<u64> {
        let left = self.steal_pause.until.saturating_sub(self.now());
        (left > 0 && !self.local.remote().has_policy_or_classes()).then_some(left)
    }

    fn spent(&self) -> Spent {
        let polls = self.local.remote().counters.polls.get();
        Spent { polls, waits: self.local.waits.get(), nanos: self.now() }
    }
}

#[cfg(all(test, colored_loom))]
impl Worker {
    /// Sets the time at which the worker's pause ends; a past time means no pause.
    pub(crate) fn pause_until(&mut self, nanos: u64) {
        self.steal_pause.until = nanos;
    }
}
