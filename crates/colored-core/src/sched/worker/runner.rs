//! One slice on a worker.

use crate::color::Color;
use crate::lane::Runner;
use crate::meter::{At, Level};
use crate::sched::local::Local;
use crate::sched::pace::Pace;
use crate::sched::profile::{CHARGED_NANOS, Site};
use crate::sched::remote::CANCELLED_ANYWHERE;
use crate::task::{Id, Named};
use crate::trace::{Event, Record};

/// One slice on a worker.
pub(super) struct SliceRunner<'a> {
    pub(super) local: &'a Local,
    pub(super) pin: u32,
    pub(super) max_polls: u32,
    pub(super) max_nanos: u64,
    pub(super) polls: u32,
    pub(super) start: u64,
    pub(super) pace: &'a mut Pace,
    pub(super) charged: &'a mut u64,
    pub(super) level: Level,
    pub(super) color: Color,
    pub(super) log: Log,
}

/// What is known of a slice that is recorded.
#[derive(Default)]
pub(super) struct Log {
    /// How long the lane was queued.
    queued: u64,
    /// When the turn began.
    turn: u64,
}

impl Runner for SliceRunner<'_> {
    #[inline]
    fn may_run(&self, pin: u32) -> bool {
        pin == 0 || pin & !CANCELLED_ANYWHERE == self.pin
    }

    #[inline]
    fn is_closing(&self) -> bool {
        self.local.scheduler().is_closing()
    }

    #[inline]
    fn begin_turn(&self, task: Option<Named>) {
        self.local.remote().running.begin_turn(task);
    }

    #[inline]
    fn goes_on(&mut self) -> bool {
        self.polls += 1;
        if self.pace.tick(self.local.scheduler()) && self.pace.now - *self.charged >= CHARGED_NANOS
        {
            self.charge();
        }
        if self.level >= Level::Tasks {
            self.records_turn();
        }
        self.polls < self.max_polls && self.pace.now - self.start < self.max_nanos
    }

    #[inline]
    fn records(&self) -> bool {
        self.level != Level::Off
    }

    #[cold]
    fn look(&mut self) -> At {
        self.pace.look(self.local.scheduler());
        self.local.note(self.pace.now);
        if self.pace.now - *self.charged >= CHARGED_NANOS {
            self.charge();
        }
        self.local.scheduler().switch.at(self.pace.now)
    }

    #[cold]
    fn at(&mut self) -> At {
        if self.level >= Level::Tasks {
            return self.look();
        }
        self.local.note(self.pace.now);
        self.local.scheduler().switch.at(self.pace.now)
    }

    fn has_waited(&mut self, nanos: u64) {
        self.log = Log { queued: nanos, turn: self.pace.now };
    }

    fn thread(&self) -> u32 {
        self.pin
    }

    fn has_left(&mut self, task: Id, to: Option<Color>) {
        if self.level >= Level::Tasks {
            self.record(to.map_or(Event::End { task }, |to| Event::Hop { task, to }));
        }
    }
}

impl SliceRunner<'_> {
    fn record(&self, event: Event) {
        self.local.remote().ring.push(Record { nanos: self.pace.now, event });
    }

    /// Charges the time since the last charge to what has just run.
    #[cold]
    fn charge(&mut self) {
        let time = self.pace.now - *self.charged;
        *self.charged = self.pace.now;
        let remote = self.local.remote();
        let spawned = remote.running.task().map(|(_, spawned)| spawned);
        let site = Site { spawned, is_default: self.color.is_default() };
        // While the slices are recorded, the lanes count their run times.
        let color = (self.level == Level::Off).then_some(self.color);
        remote.profile.lock().charge(site, color, time);
    }

    /// A turn is over. The runner has looked at the clock at its end.
    #[cold]
    fn records_turn(&mut self) {
        let ran = self.pace.now.saturating_sub(self.log.turn);
        self.log.turn = self.pace.now;
        if let Some((task, _)) = self.local.remote().running.task() {
            self.record(Event::Poll { task, ran });
        }
    }

    /// The slice, which is recorded, is over.
    #[cold]
    pub(super) fn records_slice(&mut self) {
        let ran = self.pace.now.saturating_sub(self.start);
        let (color, queued, polls) = (self.color, self.log.queued, self.polls);
        self.record(Event::Slice { color, ran, queued, polls });
    }
}
