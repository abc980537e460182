//! A worker takes lanes from its own [home queue](crate::sched::home_queue), and from the home queues of other workers.

use super::Worker;
use crate::lane::ReadyLane;

/// Slices of a worker after which lanes that run behind the others move to the deque.
const BEHIND_STEPS: u32 = 61;

/// Nanoseconds after which they move too: five full slices.
const BEHIND_NANOS: u64 = 1_000_000;

impl Worker {
    /// Moves the whole home queue to the deque.
    pub(super) fn fetch_home(&self) {
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
    pub(super) fn check_behind(&mut self) -> bool {
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
