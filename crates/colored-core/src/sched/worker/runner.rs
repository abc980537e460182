//! One slice on a worker.

use crate::color::Color;
use crate::hooks::SliceListener;
use crate::lane::{Runner, current};
use crate::meter::{At, Level};
use crate::sched::Scheduler;
use crate::sched::local::Local;
use crate::sched::pace::Pace;
use crate::sched::profile::{CHARGED_NANOS, Site};
use crate::sched::remote::{CANCELLED_ANYWHERE, Remote};
use crate::task::{Id, Named};
use crate::trace::{Event, Record};

/// One slice on a worker.
pub(super) struct SliceRunner<'a> {
    pub(super) scheduler: &'a Scheduler,
    pub(super) remote: &'a Remote,
    pub(super) pin: u32,
    pub(super) max_nanos: u64,
    pub(super) polls: u32,
    /// What the other turns may weigh.
    pub(super) left: i64,
    pub(super) start: u64,
    pub(super) pace: &'a mut Pace,
}

impl Runner for SliceRunner<'_> {
    #[inline]
    fn may_run(&self, pin: u32) -> bool {
        pin == 0 || pin & !CANCELLED_ANYWHERE == self.pin
    }

    #[inline]
    fn is_closing(&self) -> bool {
        self.scheduler.is_closing()
    }

    #[inline]
    fn begin_turn(&self, task: Option<Named>) {
        self.remote.running.begin_turn(task);
    }

    #[inline]
    fn count_turn(&mut self, weight: i64) -> bool {
        self.polls += 1;
        self.left -= weight;
        if self.pace.tick(self.scheduler) {
            self.charge_if_due(true);
        }
        self.left > 0 && self.pace.now - self.start < self.max_nanos
    }
}

impl SliceRunner<'_> {
    /// Called after each look at the clock: counts completed tasks, and charges the time if enough has passed.
    fn charge_if_due(&mut self, by_color: bool) {
        self.remote.tasks.add_completed(current::take_completed());
        if self.pace.now - self.pace.charged >= CHARGED_NANOS {
            self.charge(by_color);
        }
    }

    /// Charges the time since the last charge to what has just run: to the place of its spawn and, if `by_color`, to its
    /// color.
    #[cold]
    fn charge(&mut self, by_color: bool) {
        let time = self.pace.now - self.pace.charged;
        self.pace.charged = self.pace.now;
        let remote = self.remote;
        let spawned = remote.running.task().map(|(_, spawned)| spawned);
        let color = remote.running.color();
        let site = Site { spawned, is_default: color.is_default() };
        remote.profile.lock().charge(site, by_color.then_some(color), time);
    }
}

/// One slice on a worker, which is recorded.
pub(super) struct RecordedSlice<'a> {
    slice: SliceRunner<'a>,
    local: &'a Local,
    level: Level,
    color: Color,
    /// How long the lane was queued.
    queued: u64,
    /// When the turn began.
    turn: u64,
}

impl<'a> RecordedSlice<'a> {
    pub(super) fn new(
        slice: SliceRunner<'a>,
        local: &'a Local,
        level: Level,
        color: Color,
    ) -> Self {
        let turn = slice.start;
        Self { slice, local, level, color, queued: 0, turn }
    }

    /// Ends the slice, and returns how many polls it had.
    pub(super) fn end(self) -> u32 {
        let ran = self.slice.pace.now.saturating_sub(self.slice.start);
        let (color, queued, polls) = (self.color, self.queued, self.slice.polls);
        self.record(Event::Slice { color, ran, queued, polls });
        polls
    }

    fn record(&self, event: Event) {
        self.slice.remote.ring.push(Record { nanos: self.slice.pace.now, event });
    }

    /// A turn is over. The runner has looked at the clock at its end.
    fn record_poll(&mut self) {
        let ran = self.slice.pace.now.saturating_sub(self.turn);
        self.turn = self.slice.pace.now;
        if let Some((task, _)) = self.slice.remote.running.task() {
            self.record(Event::Poll { task, ran });
        }
    }
}

impl Runner for RecordedSlice<'_> {
    fn may_run(&self, pin: u32) -> bool {
        self.slice.may_run(pin)
    }

    fn is_closing(&self) -> bool {
        self.slice.is_closing()
    }

    fn begin_turn(&self, task: Option<Named>) {
        self.slice.begin_turn(task);
    }

    fn count_turn(&mut self, weight: i64) -> bool {
        let slice = &mut self.slice;
        slice.polls += 1;
        slice.left -= weight;
        if slice.pace.tick(slice.scheduler) {
            self.local.note(slice.pace.now);
            slice.charge_if_due(false);
        }
        let slice = &self.slice;
        slice.left > 0 && slice.pace.now - slice.start < slice.max_nanos
    }

    fn listener(&mut self) -> Option<&mut dyn SliceListener> {
        Some(self)
    }
}

impl SliceListener for RecordedSlice<'_> {
    fn look(&mut self) -> At {
        let slice = &mut self.slice;
        slice.pace.look(slice.scheduler);
        self.local.note(slice.pace.now);
        slice.scheduler.common.slot.switch.at(slice.pace.now)
    }

    fn last(&self) -> At {
        self.slice.scheduler.common.slot.switch.at(self.slice.pace.now)
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
        self.turn = self.slice.pace.now;
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
