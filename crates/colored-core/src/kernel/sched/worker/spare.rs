//! Spare workers: they take the lanes of workers that stay in one poll for long, as one does that says so
//! ([`block_in_place`]).
//!
//! A scheduler has its workers, and beside them spare ones that are *absent*: their threads sleep, no thread wakes them
//! for a lane, and they count neither as parked nor as busy. [`Scheduler::want_spares`] says how many of them are
//! wanted. A wanted spare joins at its next step, and is a worker like any other: it steals, runs and parks. A spare
//! that is not wanted any more leaves at its next step. So the caller, who knows which workers are stuck, changes a
//! number and wakes the threads that it concerns.
//!
//! # No lane is left behind (G6)
//!
//! A spare leaves while it is neither parked nor searching, as a worker that is busy. A producer that finds only busy
//! workers wakes none, because each of them looks at all queues before it parks; a spare that leaves does not. Instead
//! it leaves no lane behind: it hands all its lanes to the queues that all workers share, and notifies, before it
//! leaves. Afterwards no thread gives it a lane, but for two:
//!
//! * a lane whose next task is pinned to it, by [`spawn_local`](crate::spawn_local) in a poll there. The sender unparks
//!   the thread, and a spare with such a lane joins, wanted or not, until its inbox is empty;
//! * no lane has a spare as its home, so none is left in its home queue for it.
//!
//! A lane that a spare has made runnable, and a thief is about to take, is with the thief or in the shared queue.

use super::{Next, Step, Worker};
use crate::hooks::queues::OtherQueues;
use crate::hooks::workers as hooks;
use crate::kernel::lane::current::Closure;
use crate::kernel::sched::metrics::{InPlace, Running};
use crate::kernel::sched::{Scheduler, local};
use crate::sync::Ordering;

impl Scheduler {
    /// How many spare workers there are. Spare workers have the indices after those of the workers.
    #[must_use]
    pub fn spares(&self) -> usize {
        self.remotes.len() - self.workers()
    }

    /// From now on this number of spare workers is wanted, the ones with the lowest indices, and wakes those whose
    /// state changes.
    pub fn want_spares(&self, spares: usize) {
        let spares = spares.min(self.spares());
        hooks::spares_wanted(self, self.workers()..self.workers() + spares);
        // Ordering: Release and Acquire, so that a spare that joins sees what the caller has seen.
        let before = self.wanted_spares.swap(spares, Ordering::AcqRel);
        for spare in before.min(spares)..before.max(spares) {
            self.park.unpark(self.workers() + spare);
        }
    }

    /// Whether the worker is a spare one that is not wanted, and runs nothing.
    #[must_use]
    pub fn is_absent(&self, index: usize) -> bool {
        self.is_spare(index) && !self.is_wanted(index) && self.remotes[index].slice().is_none()
    }

    pub(super) fn is_spare(&self, index: usize) -> bool {
        index >= self.workers()
    }

    fn is_wanted(&self, index: usize) -> bool {
        // Ordering: see `want_spares`.
        index < self.workers() + self.wanted_spares.load(Ordering::Acquire)
    }
}

impl Worker {
    /// Whether this is a spare worker that no lane wakes: its thread sleeps until
    /// [`Scheduler::want_spares`] or the end of the scheduler wakes it.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        self.absent
    }

    /// Joins the other workers, or leaves them, as the number of spare workers that are wanted demands. A spare worker
    /// calls it first in each step.
    #[cold]
    pub(super) fn join_or_leave(&mut self) -> Next {
        let scheduler = self.local.scheduler();
        let is_needed = scheduler.is_wanted(self.index()) || self.local.remote().inbox.has_some();
        match (self.absent, is_needed) {
            (false, true) => Next::Step,
            (true, _) if scheduler.has_stopped() => Next::Return(Step::Stopped),
            (true, true) => {
                self.absent = false;
                scheduler.idle.join();
                Next::Step
            }
            (true, false) => Next::Return(Step::Park(None)),
            // The workers that stop count this one among them.
            (false, false) if scheduler.is_closing() => Next::Step,
            (false, false) => {
                self.wake_up();
                self.stop_searching();
                self.hand_over();
                let scheduler = self.local.scheduler();
                scheduler.idle.leave();
                self.absent = true;
                // A worker that has parked before may have waited only for this one (`may_stop`). The lock in
                // `leave` orders this look behind that worker's.
                if scheduler.is_cancel_sent() {
                    scheduler.park.unpark(0);
                }
                self.begin_sleep();
                Next::Return(Step::Park(None))
            }
        }
    }

    /// Gives all lanes that this worker has to the queues that all workers share.
    fn hand_over(&mut self) {
        self.fetch_home();
        let scheduler = self.local.scheduler();
        let mut any = scheduler.classes.hand_over(self.index());
        while let Some(lane) = self.local.remote().take_next().or_else(|| self.local.deque.pop()) {
            scheduler.injector.push(lane);
            any = true;
        }
        if any {
            scheduler.notify();
        }
    }
}

/// Calls `f`, which may block, in this poll; meanwhile spare workers take the other lanes of this worker, as soon as the
/// thread that looks for stuck workers ([`Scheduler::running`]) sees the announcement.
pub fn block_in_place<R>(f: impl FnOnce() -> R) -> R {
    let after = |before| if before == InPlace::Inside { before } else { InPlace::Past };
    marked(InPlace::Inside, after, f)
}

/// Calls `f`, a call of the system that the layer above makes in this poll by its own choice, as a rule a short one: if it
/// lasts, the program is not told to await in its place. Costs two stores and a look at the thread's worker.
#[inline]
pub fn in_own_call<R>(f: impl FnOnce() -> R) -> R {
    marked(InPlace::Own, |before| before, f)
}

/// Calls `f` with this mark, and sets another one afterwards, which depends on the mark before.
#[inline]
fn marked<R>(mark: InPlace, after: fn(InPlace) -> InPlace, f: impl FnOnce() -> R) -> R {
    struct Restore<'a>(&'a Running, InPlace);
    impl Drop for Restore<'_> {
        fn drop(&mut self) {
            self.0.mark(self.1);
        }
    }
    local::with(|local| {
        let _restore = local.map(|local| {
            let running = &local.remote().running;
            Restore(running, after(running.mark(mark)))
        });
        let _closure = Closure::begin();
        f()
    })
}
