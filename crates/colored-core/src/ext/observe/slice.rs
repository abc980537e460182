//! Slices that are recorded: on a worker.

use super::account::{Account, level};
use super::charge::if_due;
use super::lane::SliceListener;
use super::times::Phase;
use crate::ext::meter::{At, Level};
use crate::ext::trace::{Event, Record};
use crate::kernel::color::Color;
use crate::kernel::lane::{POLL_WEIGHT, ReadyLane, Runner, Slice};
use crate::kernel::sched::local::{Local, SliceRunner};
use crate::kernel::sched::scheduler::CoarseClock;
use crate::kernel::task::{Id, Named};

/// The level at which a slice is recorded.
pub(crate) struct Listening(pub(super) Level);

/// A slice begins. Some if it is recorded.
#[inline]
pub(crate) fn begin(
    account: &mut Account,
    clock: &mut CoarseClock,
    local: &Local,
) -> Option<Listening> {
    let level = level(local);
    if level == Level::Off {
        return None;
    }
    account.enter(Phase::Run, clock, local);
    Some(Listening(level))
}

/// Runs a slice that is recorded. A function of its own, out of the workers' hot path.
#[cold]
pub(crate) fn run(
    local: &Local,
    lane: ReadyLane,
    turn: &mut SliceRunner<'_>,
    Listening(level): Listening,
) -> Slice {
    let color = lane.lane().color();
    let mut turn = RecordedSlice::new(turn, local, level, color);
    let slice = local.enter(|| lane.run(&mut turn));
    if matches!(slice, Slice::Over) {
        turn.count_turn(POLL_WEIGHT);
    }
    turn.end();
    slice
}

/// One slice on a worker, which is recorded.
struct RecordedSlice<'a, 's> {
    slice: &'a mut SliceRunner<'s>,
    local: &'a Local,
    level: Level,
    color: Color,
    /// How long the lane was queued.
    queued: u64,
    /// When the turn began.
    turn: u64,
}

impl<'a, 's> RecordedSlice<'a, 's> {
    fn new(slice: &'a mut SliceRunner<'s>, local: &'a Local, level: Level, color: Color) -> Self {
        let turn = slice.start;
        Self { slice, local, level, color, queued: 0, turn }
    }

    /// The slice is over.
    fn end(self) {
        let ran = self.slice.clock.now.saturating_sub(self.slice.start);
        let (color, queued, polls) = (self.color, self.queued, self.slice.polls);
        self.record(Event::Slice { color, ran, queued, polls });
    }

    fn record(&self, event: Event) {
        self.slice.remote.slot.ring.push(Record { nanos: self.slice.clock.now, event });
    }

    /// A turn is over. The runner has looked at the clock at its end.
    fn record_poll(&mut self) {
        let ran = self.slice.clock.now.saturating_sub(self.turn);
        self.turn = self.slice.clock.now;
        if let Some((task, _)) = self.slice.remote.running.task() {
            self.record(Event::Poll { task, ran });
        }
    }
}

impl Runner for RecordedSlice<'_, '_> {
    fn may_run(&self, pin: u32) -> bool {
        self.slice.may_run(pin)
    }

    fn is_closing(&self) -> bool {
        self.slice.is_closing()
    }

    fn begin_turn(&self, task: Option<Named>) {
        self.slice.begin_turn(task);
    }

    fn count_completed(&self) {
        self.slice.count_completed();
    }

    fn count_turn(&mut self, weight: i64) -> bool {
        let slice = &mut self.slice;
        slice.polls += 1;
        slice.left -= weight;
        if slice.clock.tick(slice.scheduler) {
            self.local.note(slice.clock.now);
            if_due(slice.remote, slice.clock, false);
        }
        let slice = &self.slice;
        slice.left > 0 && slice.clock.now - slice.start < slice.max_nanos
    }

    fn listener(&mut self) -> Option<&mut dyn SliceListener> {
        Some(self)
    }
}

impl SliceListener for RecordedSlice<'_, '_> {
    fn look(&mut self) -> At {
        let slice = &mut self.slice;
        slice.clock.look(slice.scheduler);
        self.local.note(slice.clock.now);
        slice.scheduler.common.slot.switch.at(slice.clock.now)
    }

    fn last(&self) -> At {
        self.slice.scheduler.common.slot.switch.at(self.slice.clock.now)
    }

    fn begin(&mut self) -> At {
        // At a lower level the end of the worker's last turn is near enough.
        if self.level >= Level::Tasks { self.look() } else { self.last() }
    }

    fn thread(&self) -> u32 {
        self.slice.pin
    }

    fn queued(&mut self, nanos: u64) {
        self.queued = nanos;
        self.turn = self.slice.clock.now;
    }

    fn turn_ends(&mut self) {
        if self.level >= Level::Tasks {
            self.record_poll();
        }
    }

    fn task_leaves(&mut self, task: Id, to: Option<Color>) {
        if self.level >= Level::Tasks {
            self.record(to.map_or(Event::End { task }, |to| Event::Hop { task, to }));
        }
    }
}
