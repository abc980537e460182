//! The rules that hold between any two events (G5, G6, and the core's own counters).

use super::{Phase, RESCUE_NANOS, World};
use crate::agenda::Event;
use crate::oracle::{Entry, Oracle};
use crate::profile::Crossing;
use crate::trace::What;
use colored_core::look_for_deadlocks;

/// Events between two looks at the table and the counters.
const LOOK_EVERY: u64 = 1024;

/// How long a lane that a stuck worker was about to run may wait although another worker sleeps: the time in which
/// the backstop comes three times.
const PATIENCE: u64 = 3 * RESCUE_NANOS;

/// How long a wait in a section lasts before the scheduler looks at it.
const DEADLOCK_NANOS: u64 = 2 * RESCUE_NANOS;

impl World {
    pub(super) fn check_rules(&self) {
        if self.phase.get() == Phase::Closing || self.has_failed() {
            return;
        }
        self.keep_working();
        if self.is_top() && self.events() >= self.stock.next_look.get() {
            self.stock.next_look.set(self.events() + LOOK_EVERY);
            self.compare_counters();
        }
    }

    /// G6, at once: when every worker sleeps or is in the middle of a step, each worker in a step may have one lane
    /// that it will run next, and there is no other lane. Where lanes stay with their workers, a worker in a step
    /// may have any number, and a worker that sleeps none. A worker that pauses comes by itself, in time for
    /// `rescue`.
    fn keep_working(&self) {
        let (ready, in_step) =
            self.oracle(|oracle| (oracle.lanes.ready, oracle.slices.workers_on_stack()));
        if ready == 0 || self.parked.get() == 0 {
            return;
        }
        let conserves = self.profile.policy.conserves_work();
        if !conserves && let Some((hue, place)) = self.oracle(|oracle| self.forgotten(oracle)) {
            let what = format!("color {hue} is ready for worker {place}, which sleeps");
            self.oracle(|oracle| oracle.violated("G6", what));
        }
        if self.awake.get() > 0 || (!conserves && in_step > 0) {
            return;
        }
        let waiting = self.oracle(|oracle| self.waiting_for_a_sleeper(oracle));
        if waiting > in_step && !self.some_rest() {
            let parked = self.parked.get();
            let what = format!(
                "{waiting} lanes are ready that those who sleep could run, {in_step} workers are \
                 in a step, {parked} sleep, and nobody looks for work"
            );
            self.oracle(|oracle| oracle.violated("G6", what));
        }
    }

    /// A ready lane whose only worker sleeps, and that worker.
    fn forgotten(&self, oracle: &Oracle) -> Option<(u32, u32)> {
        let local = |hue| match oracle.lanes.front(hue) {
            Some(Entry::Task(key)) => oracle.pin_of(key).is_some(),
            _ => false,
        };
        let mut ready = oracle.lanes.ready_lanes().map(|(hue, _)| hue);
        ready.find_map(|hue| {
            let place = oracle.place_of(hue).filter(|place| self.is_parked(*place))?;
            (!local(hue)).then_some((hue, place))
        })
    }

    /// How many ready lanes some worker that sleeps may run.
    fn waiting_for_a_sleeper(&self, oracle: &Oracle) -> u32 {
        let waits = |hue| match oracle.lanes.front(hue) {
            Some(Entry::Task(key)) => oracle.pin_of(key).is_none_or(|pin| self.is_parked(pin)),
            _ => true,
        };
        oracle.lanes.ready_lanes().filter(|(hue, _)| waits(*hue)).count() as u32
    }

    /// The backstop looks. Checks G6, with its allowance.
    pub(super) fn rescue(&self) {
        self.note(What::Rescue, self.oracle(|oracle| oracle.lanes.ready), 0);
        let before = self.fair().saturating_sub(PATIENCE);
        let conserves = self.profile.policy.conserves_work();
        if conserves && self.phase.get() != Phase::Closing && self.some_sleep_since(before) {
            self.oracle(|oracle| {
                if let Some((hue, since)) = late_lane(oracle, before) {
                    let micros = (self.fair() - since) / 1000;
                    let what = format!("color {hue} is ready for {micros} us, and a worker sleeps");
                    oracle.violated("G6", what);
                }
            });
        }
        if self.phase.get() != Phase::Closing {
            self.oracle(|oracle| {
                if let Some((hue, slices)) = oracle.starving() {
                    let what = format!("color {hue} is ready for {slices} slices of every worker");
                    oracle.violated("G7", what);
                }
            });
        }
        if self.profile.crossing != Crossing::None && self.phase.get() != Phase::Closing {
            self.oracle(Oracle::look_for_silence);
        }
        let _due = look_for_deadlocks(self.handle.scheduler(), DEADLOCK_NANOS);
        self.handle.scheduler().rescue();
        self.put(RESCUE_NANOS, Event::Rescue);
    }

    /// Checks G5, and the workers' own counters.
    pub(crate) fn compare_counters(&self) {
        let scheduler = self.handle.scheduler();
        let (lanes, turns) = self.oracle(|oracle| (oracle.lanes.in_table(), oracle.slices.turns()));
        // A lane stays as long as it has an entry in a queue. A lane that was raised may have two entries.
        let raised = !self.all_parked() && self.oracle(|oracle| oracle.has_classes());
        if scheduler.lanes() < lanes || (scheduler.lanes() > lanes && !raised) {
            let found = scheduler.lanes();
            self.oracle(|oracle| {
                oracle.violated("G5", format!("{found} colors have a lane, and {lanes} use one"));
            });
        }
        let (keepers, sections) =
            (scheduler.waiting_sections(), self.oracle(|oracle| oracle.in_sections()));
        if keepers > sections {
            let what = format!("{keepers} tasks keep their lanes, and {sections} are in sections");
            self.oracle(|oracle| oracle.violated("G8", what));
        }
        let metrics = (0..self.profile.policy.seats() as usize)
            .map(|worker| scheduler.worker_metrics(worker));
        let counted = metrics
            .fold((0, 0, 0), |sum, of| (sum.0 + of.polls, sum.1 + of.parks, sum.2 + of.steals));
        // The program does not see the turns in which a lane runs a claim or a reader, or drops its values.
        let unseen = self.oracle(|oracle| oracle.tally.behaviors + oracle.tally.locals) > 0;
        let turns = if unseen { counted.0 } else { turns };
        let steals = if self.profile.policy.steals() { counted.2 } else { 0 };
        let expected = (turns, self.parks(), steals);
        if counted != expected {
            self.oracle(|oracle| {
                let what = format!("polls, parks and steals are {counted:?}, not {expected:?}");
                oracle.violated("counters", what);
            });
        }
    }
}

/// A lane that any worker may run, and that has been ready since before that time.
fn late_lane(oracle: &Oracle, before: u64) -> Option<(u32, u64)> {
    let pinned = |hue| match oracle.lanes.front(hue) {
        Some(Entry::Task(key)) => oracle.pin_of(key).is_some(),
        _ => false,
    };
    let mut ready = oracle.lanes.ready_lanes();
    let late = ready.find(|(hue, lane)| lane.ready.fair < before && !pinned(*hue));
    late.map(|(hue, lane)| (hue, lane.ready.fair))
}
