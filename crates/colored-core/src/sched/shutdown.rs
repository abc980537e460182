//! Shutdown: every task is cancelled by its lane's holder, on its color, and dropped once (G8).
//!
//! 1. `closing` is set: from now on a task whose turn comes is cancelled instead of polled, and a
//!    lane that becomes idle with waiting tasks aborts them, for the registry is closed.
//! 2. Every lane, from the table and from the registry, gets a node that aborts its waiting tasks;
//!    aborting puts each on its lane, where its turn comes. A task that keeps its lane would never
//!    let that node have its turn: each of those is aborted directly (`sched/parked_sections.rs`).
//! 3. `told` is set: when all workers are parked there is nothing left, and they stop. Unless something that
//!    only one of them may drop waits for a thread that is none of them: `local_tasks.rs`.
//! 4. What other threads make runnable from then on (a late spawn, a cell dropped) they run
//!    themselves: [`Scheduler::cancel`]. So those who go on spawning cannot keep the workers from
//!    ever having nothing left. What they had injected, or sent to a worker, just
//!    before, when the workers stop, is run by whoever sees both: [`Scheduler::drain`].

use super::Scheduler;
use super::remote::{CANCELLED_ANYWHERE, Remote, index_of};
use crate::lane::{ReadyLane, Runner, Slice, callback};
use crate::sync::{Ordering, fence};
use crossbeam_utils::CachePadded;

impl Scheduler {
    /// Cancels everything and lets the workers stop. They may need any time for it: a poll is not
    /// interrupted. A second call does nothing.
    pub fn shut_down(&self) {
        // Ordering: the lanes' queues and the registry's locks carry it to the holders.
        if self.closing.swap(true, Ordering::SeqCst) {
            return;
        }
        // A lane that is in neither list has no waiting task: it is queued, and what is in it will
        // be cancelled, or it is running, and will find the registry closed.
        let mut lanes = self.registry.close();
        lanes.extend(self.table.all());
        // The table's own order depends on serial numbers that other runtimes take part in: a
        // simulation could not be run again.
        lanes.sort_by_key(|lane| (lane.color().is_unique(), lane.color()));
        for lane in lanes {
            callback::close(&lane);
        }
        // One that is in no list is in a poll, and will find the list closed, or its lane is queued.
        for task in self.parked_sections.close() {
            task.abort();
        }
        // Ordering: pairs with the Acquire in `may_stop`.
        self.told.store(true, Ordering::Release);
        for worker in 0..self.remotes.len() {
            self.park.unpark(worker);
        }
    }

    /// Whether the workers have stopped, or are about to.
    #[must_use]
    pub fn has_stopped(&self) -> bool {
        // Ordering: see `may_stop`.
        self.stopped.load(Ordering::SeqCst)
    }

    /// Whether every lane has been told to cancel its tasks.
    pub(super) fn is_told(&self) -> bool {
        // Ordering: pairs with the Release in `shut_down`: what was told is in the queues, or done.
        self.told.load(Ordering::Acquire)
    }

    /// After a lane was injected: if there is no worker left to come for it, runs it here.
    pub(super) fn drain_if_stopped(&self) {
        // Ordering: pairs with the swap in `may_stop`: either the worker that stops last sees the
        // lane when it drains, or this sees that they have stopped.
        fence(Ordering::SeqCst);
        if self.has_stopped() {
            self.drain();
        }
    }

    /// Runs whatever is runnable, cancelling all tasks, until nothing is.
    pub(super) fn drain(&self) {
        // Ordering: as in `drain_if_stopped`.
        fence(Ordering::SeqCst);
        while let Some(lane) = self.any_ready() {
            self.cancel(lane);
        }
        self.classes.forget();
    }

    /// Runs a lane on this thread until it is idle, cancelling all its tasks.
    pub(super) fn cancel(&self, mut lane: ReadyLane) {
        loop {
            match lane.run(&mut Cancel { all_gone: self.has_stopped() }) {
                Slice::Idle | Slice::Taken => return,
                Slice::More(rest) => lane = rest,
                // They have stopped just now.
                Slice::Elsewhere(rest, pin)
                    if self.has_gone(pin) && pin & CANCELLED_ANYWHERE != 0 =>
                {
                    lane = rest;
                }
                // What is pinned to a worker that was thrown away can be dropped on no other: it leaks. One
                // that stops, and a guest, stay until all that is pinned to them is done.
                Slice::Elsewhere(lane, pin) if self.has_gone(pin) => {
                    let _leaked = lane.into_raw();
                    return;
                }
                Slice::Elsewhere(lane, pin) => {
                    self.send(pin, lane);
                    self.drain_if_stopped();
                    return;
                }
            }
        }
    }

    fn has_gone(&self, pin: u32) -> bool {
        self.has_stopped() && index_of(pin) < self.remotes.len()
    }

    fn any_ready(&self) -> Option<ReadyLane> {
        let of_worker = |remote: &CachePadded<Remote>| {
            let queued = remote.take_next().or_else(|| remote.stealer.steal());
            queued.or_else(|| remote.take_inbox()).or_else(|| remote.home_queue.take())
        };
        let plain = self.injector.pop().or_else(|| self.remotes.iter().find_map(of_worker));
        plain.or_else(|| self.classes.any_ready())
    }
}

/// Runs a lane without a worker, to cancel what is in it.
struct Cancel {
    all_gone: bool,
}

impl Runner for Cancel {
    fn may_run(&self, pin: u32) -> bool {
        pin == 0 || self.all_gone && pin & CANCELLED_ANYWHERE != 0
    }

    fn is_closing(&self) -> bool {
        true
    }

    fn goes_on(&mut self) -> bool {
        true
    }
}
