//! Where the time of a runtime goes: by worker, by color, by the place of the spawn.
//!
//! `Handle::usage` returns a [`Snapshot`]; the difference of two is a [`Window`], which the
//! [report](crate::report) reads.

mod functions;
mod snapshot;
mod waits;
mod window;

pub use self::functions::FunctionUsage;
#[doc(hidden)]
pub use self::snapshot::snapshot;
pub use self::waits::{KeptColor, WaitGroup, WaitOfKeeper, Waits};
pub use self::window::Window;
pub use colored_core::{Level, Usage};

use colored_core::{Color, LongPoll, Priority};
use std::panic::Location;
use std::time::Duration;

/// What a runtime has used since it began.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Snapshot {
    /// The time since the runtime began.
    pub at: Duration,
    /// By worker; spare workers come last.
    pub workers: Vec<WorkerUsage>,
    /// Workers that are in use at the moment, without spare ones.
    pub active_workers: usize,
    /// The CPUs that the process may use; 0 if the system does not say.
    pub cpus: usize,
    /// The colors that have a lane, and the largest of those whose lanes are gone. No color is in the list twice.
    pub colors: Vec<ColorUsage>,
    /// The rest: colors whose lanes are gone.
    pub others: Usage,
    /// Samples of the run time by the place of the spawn, the largest first.
    pub sites: Vec<SiteUsage>,
    /// Tasks that have been spawned and have not completed.
    pub tasks: u64,
    /// Timers.
    pub timers: TimerUsage,
    /// The latest long polls, the youngest last: at most 64.
    pub long_polls: Vec<LongPoll>,
    /// How often a worker was woken from its sleep by another thread.
    pub wakes: u64,
    /// Whether waits are measured: the runtime records at level 1 or more.
    pub measures_waits: bool,
}

/// The time of a worker. The five parts add up to the time since the worker began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerUsage {
    /// In polls and callbacks, and between them.
    pub run: Duration,
    /// Looking for a color to run.
    pub search: Duration,
    /// Asking the system for events, without sleep, and waking tasks for them.
    pub io: Duration,
    /// Waking tasks whose timers are due.
    pub timers: Duration,
    /// Asleep.
    pub parked: Duration,
    /// Polls of tasks and runs of callbacks.
    pub polls: u64,
    /// Turns of colors.
    pub slices: u64,
    /// Times that it took colors from another worker.
    pub steals: u64,
    /// Times that it went to sleep.
    pub parks: u64,
    /// The time that the system gave the thread a CPU. None where the system does not say: everywhere but on Linux.
    pub cpu: Option<Duration>,
    /// The time that the thread could have run, and the system ran other threads. None as for `cpu`.
    pub delayed: Option<Duration>,
}

impl WorkerUsage {
    /// The time in which the worker was not asleep.
    #[must_use]
    pub fn awake(&self) -> Duration {
        self.run + self.search + self.io + self.timers
    }
}

/// A color and its usage.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ColorUsage {
    /// The color.
    pub color: Color,
    /// The usage.
    pub usage: Usage,
    /// At most so much of the run time belongs to other colors, whose place the color has taken in the samples. 0 in a
    /// [`Window`].
    pub error: Duration,
    /// The color's priority.
    pub priority: Priority,
}

impl ColorUsage {
    /// What the color has used itself.
    fn own(&self) -> Usage {
        let mut usage = self.usage;
        usage.run = usage.run.saturating_sub(self.error);
        usage
    }
}

/// A place in the program where tasks are spawned, and samples of how long they ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SiteUsage {
    /// The place; none for callbacks of cells and of `when`.
    pub site: Option<&'static Location<'static>>,
    /// How long tasks of this place ran under the default color.
    pub run_default: Duration,
    /// How long tasks of this place ran under other colors.
    pub run_colored: Duration,
    /// At most so much of the sum belongs to other places.
    pub error: Duration,
}

/// Counts of timers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimerUsage {
    /// Timers that are set.
    pub pending: u64,
    /// Timers that have fired.
    pub fired: u64,
    /// Times that at least one timer was due.
    pub turns: u64,
}
