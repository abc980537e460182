//! The reference beside the run: a queue per color, the state of every task, and the rules. The oracle computes
//! from them what must happen.
//!
//! The program tells the oracle each of its acts at the moment at which it does it (a spawn, a wake, a post), and
//! each turn and destructor at the moment at which it begins. Between the act and the report no other part of the
//! program runs, so the order that the oracle writes down is the order of the core's queues.

mod behaviors;
mod callbacks;
mod classes;
mod lanes;
mod limits;
mod locals;
mod slices;
mod stuck;
mod tasks;
mod waits;

pub(crate) use self::behaviors::Want;
pub(crate) use self::callbacks::{CallKey, CellKey};
pub(crate) use self::lanes::{Entry, Hue, Waits};
pub(crate) use self::limits::{Answer, LimitKey};
pub(crate) use self::slices::COUNTED;
pub(crate) use self::tasks::{End, Outcome};
pub(crate) use self::waits::Over;

use self::behaviors::Behavior;
use self::callbacks::{CallModel, CellModel};
use self::classes::Classes;
use self::lanes::Lanes;
use self::limits::LimitModel;
use self::slices::Slices;
use self::stuck::Silent;
use self::tasks::Task;
use crate::policy::Policy;
use crate::profile::Profile;
use crate::slab::{Key, Slab};
use crate::world::Actor;
use std::fmt;

/// A guarantee that was not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) guarantee: &'static str,
    pub(crate) what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.guarantee, self.what)
    }
}

/// How often each thing has happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) spawned: u64,
    /// Polls that were not ready.
    pub(crate) waited: u64,
    /// The number of these tasks that stay on one worker.
    pub(crate) pinned: u64,
    pub(crate) finished: u64,
    pub(crate) panicked: u64,
    pub(crate) cancelled: u64,
    pub(crate) outputs: u64,
    pub(crate) outputs_dropped: u64,
    pub(crate) scheduled: u64,
    pub(crate) run: u64,
    pub(crate) unrun: u64,
    pub(crate) inline: u64,
    pub(crate) hops: u64,
    pub(crate) sections: u64,
    /// Sections that did not begin in the poll that wanted them.
    pub(crate) put_off: u64,
    /// Waits that would have closed a cycle.
    pub(crate) refused: u64,
    /// Priorities that were named, of colors and of tasks.
    pub(crate) classes: u64,
    /// Waits that made the lane for which they wait urgent.
    pub(crate) lent: u64,
    /// Closures that had several cells, or looked beside others.
    pub(crate) behaviors: u64,
    /// Values of colors that were made.
    pub(crate) locals: u64,
    pub(crate) locals_dropped: u64,
    /// Entries into limits, and the number of them that had to wait for room.
    pub(crate) admitted: u64,
    pub(crate) lined_up: u64,
    /// The largest number of readers of one color at once.
    pub(crate) readers: u64,
    /// The largest number of polls and callbacks in progress at once.
    pub(crate) deepest: u64,
}

pub(crate) struct Oracle {
    pub(crate) tasks: Slab<Task>,
    pub(crate) cells: Slab<CellModel>,
    pub(crate) calls: Slab<CallModel>,
    behaviors: Slab<Behavior>,
    limits: Slab<LimitModel>,
    classes: Classes,
    pub(crate) lanes: Lanes,
    pub(crate) slices: Slices,
    pub(crate) policy: Policy,
    silent: Silent,
    /// The time at which a wait was last told that it would never end.
    told: u64,
    pub(crate) tally: Tally,
    /// Whether the scheduler cancels everything.
    pub(crate) closing: bool,
    violation: Option<Violation>,
    now: u64,
    fair: u64,
    /// How many lanes have moved from one worker to another, if the world counts them.
    moved: u64,
}

impl Oracle {
    pub(crate) fn new(profile: &Profile) -> Self {
        Self {
            tasks: Slab::default(),
            cells: Slab::default(),
            calls: Slab::default(),
            behaviors: Slab::default(),
            limits: Slab::default(),
            classes: Classes::default(),
            lanes: Lanes::new(profile.palette),
            slices: Slices::new(&profile.policy),
            policy: profile.policy,
            silent: Silent::new(),
            told: 0,
            tally: Tally::default(),
            closing: false,
            violation: None,
            now: 0,
            fair: 0,
            moved: 0,
        }
    }

    /// Takes the time of both clocks, and the number of lanes that have moved.
    pub(crate) fn at(&mut self, now: u64, fair: u64, moved: u64) {
        (self.now, self.fair, self.moved) = (now, fair, moved);
    }

    pub(crate) fn actor(&self) -> Actor {
        self.slices.actor()
    }

    /// Writes a violation down. Only the first one counts.
    #[cold]
    pub(crate) fn violated(&mut self, guarantee: &'static str, what: impl fmt::Display) {
        self.violation.get_or_insert(Violation { guarantee, what: what.to_string() });
    }

    pub(crate) fn violation(&self) -> Option<&Violation> {
        self.violation.as_ref()
    }

    /// The scheduler cancels everything from now on.
    pub(crate) fn close(&mut self) {
        self.closing = true;
    }

    /// Whether no task is left, and no task waits for cells that stay up to the end.
    pub(crate) fn is_calm(&self) -> bool {
        self.tasks.len() + self.behaviors.len() == 0
    }

    /// How many tasks, cells, limits and priorities there are.
    pub(crate) fn left(&self) -> usize {
        let classes = self.lanes.classified().count();
        self.tasks.len() + self.cells.len() + self.limits.len() + classes
    }

    /// Checks after the end that nothing is left.
    pub(crate) fn check_end(&mut self) {
        let tally = self.tally;
        let ended = tally.finished + tally.panicked + tally.cancelled;
        if tally.spawned != ended {
            self.violated(
                "G8",
                format!("{} futures, of which {ended} were dropped", tally.spawned),
            );
        }
        if tally.outputs != tally.outputs_dropped {
            let (made, dropped) = (tally.outputs, tally.outputs_dropped);
            self.violated("G8", format!("{made} outputs, of which {dropped} were dropped"));
        }
        if tally.scheduled != tally.run + tally.unrun {
            self.violated("G8", format!("{tally:?}: callbacks are missing"));
        }
        if self.behaviors.len() > 0 {
            self.violated("G8", format!("{} behaviors are left", self.behaviors.len()));
        }
        if self.limits.len() > 0 {
            self.violated("limit", format!("{} limits are left", self.limits.len()));
        }
        if self.cells.len() > 0 {
            self.violated("G8", format!("{} cells keep their values", self.cells.len()));
        }
        // The default color is in use up to the shutdown.
        let left = u64::from(!self.closing && self.lanes.get(0).local.is_some());
        if tally.locals != tally.locals_dropped + left {
            let (made, dropped) = (tally.locals, tally.locals_dropped);
            self.violated("local", format!("{made} values of colors, {dropped} were dropped"));
        }
        if let Some(queued) = self.lanes.some_queued() {
            self.violated("G6", format!("{queued} has never run"));
        }
    }

    /// The task of a key that the program knows.
    fn task(&mut self, key: Key) -> &mut Task {
        self.tasks.get_mut(key).expect("the program names tasks that are there")
    }
}
