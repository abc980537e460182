//! What a worker's time was spent on.
//!
//! While the scheduler records, a worker looks at its clock whenever its phase changes. Otherwise it does so only where
//! it goes to sleep and where it wakes up, and counts the time between as [`Phase::Run`].

use super::times::Phase;
use crate::ext::meter::{self, Level};
use crate::ext::trace::{Event, Record};
use crate::kernel::lane::ReadyLane;
use crate::kernel::sched::local::Local;
use crate::kernel::sched::scheduler::{CoarseClock, Scheduler};

/// A worker's present phase.
#[derive(Debug, Default)]
pub(crate) struct Account {
    phase: Phase,
    /// How many events the worker has handed out in this phase.
    events: u32,
}

/// The level at which a slice that begins now is recorded. Costs a look at one word of the process while nothing is
/// recorded.
#[inline]
pub(super) fn slice_level(scheduler: &Scheduler) -> Level {
    if meter::is_on() { scheduler.level() } else { Level::Off }
}

/// The level at which the worker's slices are recorded.
#[inline]
pub(super) fn level(local: &Local) -> Level {
    slice_level(local.scheduler())
}

impl Account {
    /// Begins a phase that is told apart only while the scheduler records.
    #[inline]
    pub(crate) fn enter(&mut self, phase: Phase, clock: &mut CoarseClock, local: &Local) {
        if self.phase != phase && level(local) != Level::Off {
            self.begin(phase, clock, local);
        }
    }

    /// Ends the phase of a sleep.
    pub(crate) fn end_sleep(&mut self, clock: &mut CoarseClock, local: &Local) {
        let recorded = level(local) != Level::Off;
        self.begin(if recorded { Phase::Io } else { Phase::Run }, clock, local);
    }

    /// Counts events that the worker is about to hand out.
    #[inline]
    pub(crate) fn count_events(&mut self, events: usize, clock: &mut CoarseClock, local: &Local) {
        if events > 0 && level(local) != Level::Off {
            self.enter(Phase::Io, clock, local);
            let events = u32::try_from(events).unwrap_or(u32::MAX);
            self.events = self.events.saturating_add(events);
        }
    }

    pub(crate) fn begin(&mut self, phase: Phase, clock: &mut CoarseClock, local: &Local) {
        clock.look(local.scheduler());
        let now = clock.now;
        local.note(now);
        let events = self.events;
        *self = Self { phase, events: 0 };
        clock.charged = now;
        match local.remote().slot.times.begin(phase, now) {
            Some((Phase::Parked, slept)) => record(local, now, || Event::Parked { slept }),
            Some((Phase::Io, took)) => record(local, now, || Event::Io { took, events }),
            _ => {}
        }
    }
}

/// Records that this worker has stolen the lane, and perhaps others, from the worker `from`.
#[inline]
pub(crate) fn stolen(local: &Local, now: u64, lane: &ReadyLane, from: usize) {
    record(local, now, || {
        let (color, from) = (lane.lane().color(), u16::try_from(from).unwrap_or(u16::MAX));
        Event::Steal { color, from }
    });
}

#[inline]
pub(super) fn record(local: &Local, nanos: u64, event: impl FnOnce() -> Event) {
    if level(local) != Level::Off {
        local.remote().slot.ring.push(Record { nanos, event: event() });
    }
}
