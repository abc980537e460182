//! What a worker's time was spent on.
//!
//! While the scheduler records, a worker looks at its clock whenever its phase changes. Otherwise it does so only where
//! it goes to sleep and where it wakes up, and counts the time between as [`Phase::Run`].

use super::Worker;
use crate::lane::{ReadyLane, current};
use crate::meter::Level;
use crate::sched::times::Phase;
use crate::trace::{Event, Record};

/// A worker's present phase.
#[derive(Debug, Default)]
pub(super) struct Account {
    phase: Phase,
    /// How many events the worker has handed out in this phase.
    events: u32,
}

impl Worker {
    /// The level at which the worker's slices are recorded.
    #[inline]
    pub(super) fn level(&self) -> Level {
        self.local.scheduler().slice_level()
    }

    /// Begins a phase that is told apart only while the scheduler records.
    #[inline]
    pub(super) fn enter(&mut self, phase: Phase) {
        if self.account.phase != phase && self.level() != Level::Off {
            self.begin(phase);
        }
    }

    /// Begins the phase of a sleep.
    pub(super) fn begin_sleep(&mut self) {
        self.asleep = true;
        self.begin(Phase::Parked);
    }

    /// Ends the phase of a sleep.
    pub(super) fn end_sleep(&mut self) {
        let recorded = self.level() != Level::Off;
        self.begin(if recorded { Phase::Io } else { Phase::Run });
    }

    /// Counts events that the worker is about to hand out.
    #[inline]
    pub(super) fn count_events(&mut self, events: usize) {
        if events > 0 && self.level() != Level::Off {
            self.enter(Phase::Io);
            let events = u32::try_from(events).unwrap_or(u32::MAX);
            self.account.events = self.account.events.saturating_add(events);
        }
    }

    fn begin(&mut self, phase: Phase) {
        self.look();
        let now = self.pace.now;
        self.local.note(now);
        self.local.remote().tasks.add_completed(current::take_completed());
        let events = self.account.events;
        self.account = Account { phase, events: 0 };
        self.pace.charged = now;
        match self.local.remote().times.begin(phase, now) {
            Some((Phase::Parked, slept)) => self.record(|| Event::Parked { slept }),
            Some((Phase::Io, took)) => self.record(|| Event::Io { took, events }),
            _ => {}
        }
    }

    /// Records that `fired` timers have fired, which took `nanos` of the present phase.
    pub fn record_timers(&mut self, nanos: u64, fired: u32) {
        self.local.remote().times.spent(Phase::Timers, nanos);
        self.record(|| Event::Timers { took: nanos, fired });
    }

    /// Records that this worker has stolen the lane, and perhaps others, from the worker `from`.
    #[inline]
    pub(super) fn record_steal(&self, lane: &ReadyLane, from: usize) {
        self.record(|| {
            let (color, from) = (lane.lane().color(), u16::try_from(from).unwrap_or(u16::MAX));
            Event::Steal { color, from }
        });
    }

    #[inline]
    fn record(&self, event: impl FnOnce() -> Event) {
        if self.level() != Level::Off {
            self.local.remote().ring.push(Record { nanos: self.pace.now, event: event() });
        }
    }
}
