//! Slices that are recorded: on a guest.

use super::account::slice_level;
use super::lane::SliceListener;
use super::slice::Listening;
use crate::ext::meter::{At, Level};
use crate::ext::trace::{Event, Record};
use crate::kernel::color::Color;
use crate::kernel::lane::{ReadyLane, Runner, Slice};
use crate::kernel::sched::local::GuestRunner;
use crate::kernel::sched::scheduler::Scheduler;
use crate::kernel::task::{Id, Named};
use std::cell::Cell;

/// A slice begins. Some if it is recorded.
pub(crate) fn begin(scheduler: &Scheduler) -> Option<Listening> {
    let level = slice_level(scheduler);
    (level != Level::Off).then_some(Listening(level))
}

/// Runs a slice that is recorded.
#[cold]
pub(crate) fn run(lane: ReadyLane, turn: GuestRunner<'_>, Listening(level): Listening) -> Slice {
    let log = Log::new(lane.lane().color());
    let mut turn = RecordedGuest { turn, level, log };
    let slice = lane.run(&mut turn);
    turn.record_slice();
    slice
}

/// A guest's slice that is recorded.
struct RecordedGuest<'a> {
    turn: GuestRunner<'a>,
    level: Level,
    log: Log,
}

/// What is known of a slice that is recorded.
struct Log {
    color: Color,
    /// How long the lane was queued.
    queued: u64,
    /// When the slice began.
    begin: u64,
    /// When the turn began.
    turn: u64,
    turns: u32,
    task: Cell<Option<Id>>,
}

impl Log {
    fn new(color: Color) -> Self {
        Self { color, queued: 0, begin: 0, turn: 0, turns: 0, task: Cell::new(None) }
    }
}

impl RecordedGuest<'_> {
    /// The slice, which is recorded, is over.
    #[cold]
    fn record_slice(&mut self) {
        let Log { color, queued, turns: polls, .. } = self.log;
        // A slice ends with a turn, if it has one.
        let ran = self.log.turn.saturating_sub(self.log.begin);
        self.record(Event::Slice { color, ran, queued, polls });
    }

    /// Records an event of the end of the last turn.
    fn record(&self, event: Event) {
        self.turn.scheduler.ring_outside().push(Record { nanos: self.log.turn, event });
    }
}

impl Runner for RecordedGuest<'_> {
    fn may_run(&self, pin: u32) -> bool {
        self.turn.may_run(pin)
    }

    fn is_closing(&self) -> bool {
        self.turn.is_closing()
    }

    fn begin_turn(&self, task: Option<Named>) {
        self.log.task.set(task.map(|task| task.id));
    }

    fn count_completed(&self) {
        self.turn.count_completed();
    }

    fn count_turn(&mut self, weight: i64) -> bool {
        self.turn.count_turn(weight)
    }

    fn listener(&mut self) -> Option<&mut dyn SliceListener> {
        Some(self)
    }
}

impl SliceListener for RecordedGuest<'_> {
    fn look(&mut self) -> At {
        self.turn.scheduler.common.slot.switch.at(self.turn.scheduler.now())
    }

    fn last(&self) -> At {
        self.turn.scheduler.common.slot.switch.at(self.turn.scheduler.now())
    }

    fn begin(&mut self) -> At {
        self.look()
    }

    fn thread(&self) -> u32 {
        self.turn.pin
    }

    fn queued(&mut self, nanos: u64) {
        let now = self.turn.scheduler.now();
        (self.log.queued, self.log.begin, self.log.turn) = (nanos, now, now);
    }

    fn turn_ends(&mut self) {
        let begin = std::mem::replace(&mut self.log.turn, self.turn.scheduler.now());
        self.log.turns += 1;
        if self.level >= Level::Tasks
            && let Some(task) = self.log.task.take()
        {
            self.record(Event::Poll { task, ran: self.log.turn.saturating_sub(begin) });
        }
    }

    fn task_leaves(&mut self, task: Id, to: Option<Color>) {
        if self.level >= Level::Tasks {
            self.record(to.map_or(Event::End { task }, |to| Event::Hop { task, to }));
        }
    }
}
