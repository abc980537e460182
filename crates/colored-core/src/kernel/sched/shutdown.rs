//! Shutdown: every task is cancelled by its lane's holder, on its color, and dropped once (G8).
//!
//! 1. `closing` is set: from now on a task whose turn comes is cancelled instead of polled, and a
//!    lane that becomes idle with waiting tasks aborts them.
//! 2. Every lane of the table gets a node that aborts its waiting tasks; a lane with waiting tasks is in the table.
//!    Aborting puts each task on its lane, where its turn comes. A task that keeps its lane would never let that
//!    node have its turn, so each such task is aborted directly (`task/waiting.rs`).
//! 3. `cancel_sent` is set: when all workers are parked there is nothing left, and they stop. The exception is a
//!    task that only one worker may drop, and that waits for a thread that is no worker: `guest.rs`.
//! 4. From then on another thread itself runs the lanes that it makes runnable, by a late spawn or a dropped
//!    cell: [`Scheduler::cancel`]. So a thread that goes on spawning cannot keep the workers from stopping.
//!    It may have injected a lane, or sent one to a worker, just before the workers stop. The thread that
//!    sees both the lane and the stop runs it: [`Scheduler::drain`].
//!
//! The parts above the core that have work of others may end before all this: [`Scheduler::finish_first`].

use super::handle::SchedulerHandle;
use super::remote::{MAY_BE_DROPPED_ANYWHERE, Remote, index_of};
use super::scheduler::{Part, Scheduler};
use crate::hooks;
use crate::hooks::queues::OtherQueues;
use crate::kernel::lane::{Held, LaneRef, ReadyLane, Runner, Slice, push};
use crate::sync::{Arc, Ordering, fence};
use crossbeam_utils::CachePadded;

impl Scheduler {
    /// Cancels all tasks and lets the workers stop. They may need any time for it: a poll is not
    /// interrupted. A second call does nothing.
    pub fn shut_down(&self) {
        if !self.common.close() {
            return;
        }
        // A lane that is not in the table has no waiting task: it is queued, and its tasks will be cancelled,
        // or it is running, and will see the flag when it enters itself.
        let mut lanes = self.table.all();
        // The table's own order depends on serial numbers that other runtimes take part in: a
        // simulation could not be run again.
        lanes.sort_by_key(|lane| lane.color());
        for lane in lanes {
            lane.close();
        }
        // A task that is in no list is in a poll, and will find the list closed, or its lane is queued.
        for task in self.common.sections.close() {
            task.abort();
        }
        // Ordering: pairs with the Acquire in `may_stop`.
        self.cancel_sent.store(true, Ordering::Release);
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

    /// Whether every lane has a request to cancel its tasks.
    pub(crate) fn is_cancel_sent(&self) -> bool {
        // Ordering: pairs with the Release in `shut_down`: each request to cancel is in a queue, or done.
        self.cancel_sent.load(Ordering::Acquire)
    }

    /// Runs a lane that was just injected, if no worker is left to take it.
    pub(crate) fn drain_if_stopped(&self) {
        // Ordering: pairs with the swap in `may_stop`: either the worker that stops last sees the lane when
        // it drains, or this thread sees that the workers have stopped.
        fence(Ordering::SeqCst);
        if self.has_stopped() {
            self.drain();
        }
    }

    /// Runs all runnable lanes, cancelling their tasks, until none is left.
    pub(super) fn drain(&self) {
        // Ordering: as in `drain_if_stopped`.
        fence(Ordering::SeqCst);
        while let Some(lane) = self.any_ready() {
            self.cancel(lane);
        }
        if self.common.has_classes() {
            self.classes.forget();
        }
    }

    /// Runs a lane on this thread until it is idle, cancelling all its tasks.
    pub(super) fn cancel(&self, mut lane: ReadyLane) {
        loop {
            match lane.run(&mut Cancel { scheduler: self, all_gone: self.has_stopped() }) {
                Slice::Over => return,
                Slice::More(rest) => lane = rest,
                // The workers have stopped just now.
                Slice::Elsewhere(rest, pin)
                    if self.has_gone(pin) && pin & MAY_BE_DROPPED_ANYWHERE != 0 =>
                {
                    lane = rest;
                }
                // A task that is pinned to a worker which the program dropped before it stopped can be
                // dropped on no other thread: it leaks. A worker that stops, and a guest, stay until all
                // their pinned tasks are done.
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
        let of_worker = |remote: &Arc<CachePadded<Remote>>| {
            // A theft from an empty deque costs more than a look, and most are empty.
            let stolen = || (!remote.stealer.is_empty()).then(|| remote.stealer.steal()).flatten();
            let queued = remote.take_next().or_else(stolen);
            queued.or_else(|| remote.inbox.take()).or_else(|| remote.home_queue.take())
        };
        let plain = self.injector.pop().or_else(|| self.remotes.iter().find_map(of_worker));
        let by_class = || if self.common.has_classes() { self.classes.any_ready() } else { None };
        plain.or_else(by_class)
    }
}

/// Runs a lane without a worker, to cancel its tasks.
struct Cancel<'a> {
    scheduler: &'a Scheduler,
    all_gone: bool,
}

impl Runner for Cancel<'_> {
    fn may_run(&self, pin: u32) -> bool {
        pin == 0 || self.all_gone && pin & MAY_BE_DROPPED_ANYWHERE != 0
    }

    fn is_closing(&self) -> bool {
        true
    }

    fn count_completed(&self) {
        self.scheduler.tasks_outside.completed.add_shared(1);
    }

    fn count_turn(&mut self, _: i64) -> bool {
        true
    }
}

impl LaneRef {
    /// Tells the lane to cancel the tasks that wait in it.
    pub(crate) fn close(&self) {
        let close = Close;
        push::post(self, move || drop(close));
    }
}

/// Closes the lane when it is dropped: so a callback that is cancelled does it too.
struct Close;

impl Drop for Close {
    fn drop(&mut self) {
        Held::with_current(|lane| {
            let lane = lane.expect("a callback runs, and is dropped, under its lane");
            lane.abort_waiting();
            // The values are dropped behind these tasks.
            hooks::color_closes(lane);
        });
    }
}

impl Scheduler {
    /// Passes a part to the shell, which lets it end before the scheduler is shut down. A shell without
    /// [`Park::finish_first`](super::Park::finish_first) ends at once, and the accepted work is lost.
    pub fn finish_first(&self, part: Part) {
        self.park.finish_first(part);
    }
}

/// Tells the shell of the scheduler that this thread works for, if there is one, that work was refused
/// or shed because there is too much of it.
#[cold]
pub fn report_overload() {
    SchedulerHandle::with_current(|handle| {
        if let Some(handle) = handle {
            let scheduler = handle.scheduler();
            scheduler.park.overloaded(scheduler);
        }
    });
}
