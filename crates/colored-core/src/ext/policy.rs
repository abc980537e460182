//! [`Policy`](crate::Policy): the port through which a program decides where a runnable lane goes.
//!
//! A scheduler without a policy never runs this code. When a worker dispatches a lane, puts it back or looks for
//! one, it reads one flag of its own (`Remote::has_policy_or_classes`), which a policy or the first priority sets.
//!
//! # No lane is left behind (G6)
//!
//! A policy names a place, and the scheduler publishes the lane there and then looks for sleepers. A lane for one
//! worker goes into the home queue of that worker, as in `remote.rs`. A lane for all workers goes into the
//! injector. So the argument of `idle.rs` holds for any policy. Where workers do not steal, a worker that goes to
//! sleep looks only at the queues from which it takes: its own, and the injector.

use crate::hooks::queues::OtherQueues;
use crate::kernel::lane::{Lane, ReadyLane};
use crate::kernel::sched::scheduler::{Destination, Runnable, Scheduler, Since};

impl Scheduler {
    /// About how many lanes wait for a worker: for a [`Policy`](crate::Policy). All pinned lanes count as one, and so
    /// do those that are queued by class. 0 only if a step of the worker finds nothing.
    ///
    /// # Panics
    ///
    /// If there is no such worker.
    #[must_use]
    pub fn load(&self, worker: usize) -> usize {
        let remote = &self.remotes[worker];
        let others =
            [remote.has_next(), remote.inbox.has_some(), self.classes.has_work_for(worker, false)];
        remote.stealer.len()
            + remote.home_queue.len()
            + others.map(usize::from).iter().sum::<usize>()
    }

    /// The destination that the policy chooses, as the worker `own` sees it: never a worker that has the lane.
    #[inline]
    pub(in crate::ext) fn destination(&self, own: Option<usize>, lane: &Lane) -> Destination {
        let Some(policy) = self.policy else { return Destination::Usual };
        let lane = Runnable { color: lane.color(), worker: own, home: lane.home() };
        match policy.destination(lane, self) {
            Destination::Worker(worker) => {
                // A division costs more than all else here.
                let is_one = worker < self.workers();
                let place = if is_one { worker } else { worker % self.workers() };
                match own == Some(place) {
                    true => Destination::Usual,
                    false => Destination::Worker(place),
                }
            }
            other => other,
        }
    }

    /// Takes a lane to its destination; returns it if that is the usual one.
    #[inline]
    pub(in crate::ext) fn route(
        &self,
        own: Option<usize>,
        lane: ReadyLane,
        since: Since,
    ) -> Option<ReadyLane> {
        match self.destination(own, lane.lane()) {
            Destination::Usual => return Some(lane),
            Destination::Worker(place) => {
                self.remotes[place].home_queue.put_home(lane);
                self.call_or_notify(place);
            }
            Destination::Everybody => {
                self.injector.push(lane);
                // This worker can itself run next the lane that it has just run.
                if since == Since::Scheduled || self.injector.len() > 1 {
                    self.notify();
                }
            }
        }
        None
    }
}
