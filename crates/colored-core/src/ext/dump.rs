//! A dump: the tasks of a scheduler and their waits, without a poll.
//!
//! [`Dumping`] goes through the table of lanes and looks at each lane (`snapshot/view.rs`). It blocks no thread but its own,
//! and needs no worker: a lane that is idle, or kept by a section, is read by the thread that dumps. A lane that is
//! queued or running is written down by its holder when its next slice begins. If its worker is stuck, this does not
//! happen: then the dump has what the worker has published ([`Scheduler::running`]), and names the color.
//!
//! # Promise
//!
//! A task that waits from the begin of the dump to its end is in the dump once, unless its color is in
//! [`Dumped::unread`], or the scheduler shuts down. The other tasks may be missing: a task that runs is there as its worker's, a task that has never
//! been polled if its color is in the table. The dump shows no single moment: each page of a lane is true at one moment.

use crate::ext::deadlock::find_deadlocks;
use crate::ext::snapshot::sheet::Progress;
use crate::ext::snapshot::show_asked;
use crate::ext::snapshot::view::{View, view_idle, view_kept, view_own};
use crate::kernel::color::Color;
use crate::kernel::lane::LaneRef;
use crate::kernel::lane::refs::Cursor;
use crate::kernel::sched::{RunningSlice, Scheduler};
use crate::kernel::task::Deadlock;
use std::mem;

pub use crate::ext::snapshot::sheet::{LineSeen, Sheet, StateSeen, TaskSeen};
pub use crate::ext::snapshot::waits::{TargetSeen, WaitSeen};

/// A worker that has been in one slice for so long is stuck: its lane is not waited for.
const STUCK_NANOS: u64 = 10_000_000;

/// The longest time for which the dump waits for a page while the workers go on. A guess: twenty times the longest queue of a
/// healthy program.
const LIMIT_NANOS: u64 = 250_000_000;

/// The longest time for which it waits for pages that come: 250,000 tasks of a color took 4 s beside four busy loops, without
/// optimization.
const LONGEST_NANOS: u64 = 10_000_000_000;

/// A dump that is being made.
#[must_use]
pub struct Dumping<'a> {
    scheduler: &'a Scheduler,
    cursor: Cursor,
    sheet: Sheet,
    /// Lanes whose holders have been asked.
    asked: Vec<LaneRef>,
    /// When all lanes had been gone through.
    asked_at: u64,
    /// When the last page came since, and the tasks that had come by then.
    written: (u64, usize),
    has_ended: bool,
}

/// What a dump has found.
#[derive(Debug)]
#[non_exhaustive]
pub struct Dumped {
    /// The tasks, by color.
    pub sheet: Sheet,
    /// The colors whose lanes could not be read to their end in time: they are running, queued, or in use.
    pub unread: Vec<Color>,
    /// The slices that are running, by worker.
    pub running: Vec<Option<RunningSlice>>,
    /// Cycles of waits through sections.
    pub deadlocks: Vec<Deadlock>,
    /// The time of the dump: nanoseconds of the scheduler.
    pub now: u64,
}

impl<'a> Dumping<'a> {
    /// Begins a dump. `None` while another dump is being made.
    pub fn begin(scheduler: &'a Scheduler) -> Option<Self> {
        scheduler.begin_snapshot().then(|| Self {
            scheduler,
            cursor: Cursor::default(),
            sheet: Sheet::default(),
            asked: Vec::new(),
            asked_at: 0,
            written: (0, 0),
            has_ended: false,
        })
    }

    /// Looks at the next lanes, some 100 µs long; false if there are no more.
    pub fn go_on(&mut self) -> bool {
        let Some(lanes) = self.scheduler.table.page(&mut self.cursor) else {
            self.asked_at = self.scheduler.now();
            self.written.0 = self.asked_at;
            return false;
        };
        let now = self.scheduler.now();
        for lane in lanes {
            self.view(lane, now);
        }
        true
    }

    fn view(&mut self, lane: LaneRef, now: u64) {
        let mut place = Progress::default();
        if self.scheduler.is_closing() {
            // A thread that ends a view of a lane with something to do would have to cancel the tasks itself.
            return;
        }
        loop {
            let page = |view: View<'_>| self.sheet.write(view, &mut place, now);
            // Another lane that this thread holds, further up the stack, is like one of a stuck worker.
            let is_own = lane.is_current();
            let done = if is_own { view_own(&lane, page) } else { view_idle(&lane, page) };
            match done {
                Some(true) => return,
                Some(false) => {}
                None => break,
            }
        }
        self.scheduler.request_view(&lane, place);
        self.asked.push(lane);
    }

    /// False while the dump waits for the holders of lanes. Poll it once [`go_on`](Self::go_on) has returned false.
    pub fn is_done(&mut self) -> bool {
        let scheduler = self.scheduler;
        self.asked.retain(|lane| scheduler.is_asked(lane));
        for lane in &self.asked {
            // If it has become idle: a page at a time. If not, its holder, or the next look, comes to it.
            while scheduler.is_asked(lane)
                && view_idle(lane, |view| show_asked(scheduler, view)).is_some()
            {}
        }
        self.visit_sections();
        self.asked.retain(|lane| scheduler.is_asked(lane));
        let (now, written) = (scheduler.now(), scheduler.written());
        if written > self.written.1 {
            self.written = (now, written);
        }
        let waited = now.saturating_sub(self.written.0);
        self.asked.is_empty()
            || waited >= LIMIT_NANOS
            || now.saturating_sub(self.asked_at) >= LONGEST_NANOS
            || (waited >= STUCK_NANOS && self.asked.iter().all(|lane| self.is_stuck(lane)))
    }

    /// Looks at the asked lanes that sections keep.
    fn visit_sections(&self) {
        if self.asked.is_empty() || !self.scheduler.has_had_sections() {
            return;
        }
        for task in self.scheduler.common.sections.all() {
            // Otherwise the task runs.
            let Some(paused) = task.pause() else { continue };
            let lane = task.task().lane();
            if self.asked.iter().any(|asked| asked.ptr() == lane) {
                // `None`: the task has left its lane.
                let _shown = view_kept(&paused, |view| show_asked(self.scheduler, view));
            }
        }
    }

    /// Whether there is no use in waiting for the lane: its worker is stuck, or all workers are stuck or asleep. A worker that
    /// has written a page of it is not: the system may have taken its CPU.
    fn is_stuck(&self, lane: &LaneRef) -> bool {
        let (scheduler, color) = (self.scheduler, lane.color());
        if scheduler.is_begun(lane) {
            return false;
        }
        let workers = 0..scheduler.workers() + scheduler.spares();
        let mut all = true;
        for worker in workers {
            let slice = scheduler.running(worker);
            let is_stuck = slice.is_some_and(|slice| slice.nanos >= STUCK_NANOS);
            if is_stuck && slice.is_some_and(|slice| slice.color == color) {
                return true;
            }
            all &= is_stuck || scheduler.is_parked(worker) || scheduler.is_absent(worker);
        }
        all
    }

    /// Ends the dump.
    #[must_use]
    pub fn end(mut self) -> Dumped {
        let scheduler = self.scheduler;
        let unread = self.asked.iter().filter(|lane| scheduler.is_asked(lane));
        let mut unread: Vec<_> = unread.map(|lane| lane.color()).collect();
        unread.sort_unstable();
        let mut sheet = mem::take(&mut self.sheet);
        sheet.append(&mut self.stop());
        let workers = 0..scheduler.workers() + scheduler.spares();
        let running: Vec<_> = workers.map(|worker| scheduler.running(worker)).collect();
        sheet.finish(running.iter().flatten());
        let deadlocks = find_deadlocks(scheduler);
        Dumped { sheet, unread, running, deadlocks, now: scheduler.now() }
    }

    fn stop(&mut self) -> Sheet {
        self.has_ended = true;
        let sheet = self.scheduler.end_snapshot();
        self.asked.iter().for_each(|lane| lane.slot.ask(false));
        sheet
    }
}

impl Drop for Dumping<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            drop(self.stop());
        }
    }
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use crate::kernel::color::Color;
    use crate::kernel::lane::refs::Cursor;
    use crate::kernel::sched::{Park, Scheduler};
    use std::collections::HashSet;

    struct NoPark;

    impl Park for NoPark {
        fn unpark(&self, _worker: usize) {}

        fn now(&self) -> u64 {
            0
        }
    }

    /// The table grows while it is gone through.
    #[test]
    fn a_lane_that_stays_is_found_while_others_come_and_go() {
        let (handle, _workers) = Scheduler::with_workers(1, 1, Box::new(NoPark));
        let stay: Vec<_> = (1..=20_000).map(|n| handle.lane(Color::new(n))).collect();
        let (mut cursor, mut found, mut others) = (Cursor::default(), HashSet::new(), Vec::new());
        let mut next = 1_000_000;
        while let Some(lanes) = handle.scheduler().table.page(&mut cursor) {
            found.extend(lanes.iter().map(|lane| lane.color().number()));
            for _ in 0..200 {
                next += 1;
                others.push(handle.lane(Color::new(next)));
            }
            if next % 5 == 0 {
                others.clear();
            }
        }
        assert!(stay.iter().all(|lane| found.contains(&lane.color().number())));
    }
}
