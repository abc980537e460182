//! [`Waits`]: what the tasks of a runtime wait for at one moment.

use colored_core::{Color, Id};
use std::panic::Location;
use std::time::Duration;

/// What the tasks of a runtime waited for at one moment.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Waits {
    /// Waits that are alike, the most frequent first: at most 100 groups, of which the last ones are those with the oldest
    /// waits of the rest.
    pub groups: Vec<WaitGroup>,
    /// The colors that a task kept while it waited, and under which others were scheduled.
    pub kept: Vec<KeptColor>,
    /// The waits for locks once more, by lock where several locks are waited for at one place: at most 50 groups.
    pub locks: Vec<WaitGroup>,
    /// Where a task of a unique color was spawned, for those under which something ran or was scheduled: at most 1000.
    pub unique: Vec<(Color, &'static Location<'static>)>,
    /// How many colors could not be read.
    pub unread: usize,
}

/// Waits of tasks that were spawned at one place, for the same kind of thing at one place.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WaitGroup {
    /// A word for what they wait for: that of the field `for` in [`Dump::to_json`](crate::dump::Dump::to_json), or `turn` for tasks
    /// that are scheduled.
    pub what: &'static str,
    /// The words of a text: a verb, and what follows it.
    pub how: &'static str,
    /// The color for which they wait, if it is one that has a name, or the default color.
    pub color: Option<Color>,
    /// Where the program waits, if that is known.
    pub site: Option<&'static Location<'static>>,
    /// Where the tasks were spawned.
    pub spawned: &'static Location<'static>,
    /// How many there were.
    pub tasks: u64,
    /// How long the oldest of the waits had lasted, if that is known.
    pub oldest: Option<Duration>,
    /// The task with the oldest wait.
    pub example: Id,
    /// Which lock it is: different numbers, as a rule, for different locks. 0 in [`Waits::groups`].
    pub(crate) lock: u32,
    /// Another number if other tasks wait.
    pub(crate) members: u64,
}

/// A color that a task keeps while it waits.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KeptColor {
    /// The color.
    pub color: Color,
    /// The task that keeps it.
    pub task: Id,
    /// Where that task was spawned.
    pub spawned: &'static Location<'static>,
    /// `section` or `when`.
    pub by: &'static str,
    /// The place of the section or `when`.
    pub site: &'static Location<'static>,
    /// How long the section or `when` has lasted.
    pub time: Duration,
    /// Tasks and closures that are scheduled under the color meanwhile.
    pub queued: u64,
    /// The kind of thing for which the task waits meanwhile, with its words, its place and its time; none if the task is
    /// scheduled itself.
    pub waits_for: Option<WaitOfKeeper>,
}

/// What a task waits for that keeps a color.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitOfKeeper {
    /// As in [`WaitGroup::what`].
    pub what: &'static str,
    /// What the task does, as the texts of dumps say it.
    pub text: String,
    /// Where the program waits, if that is known.
    pub site: Option<&'static Location<'static>>,
    /// How long it has, if that is known.
    pub time: Option<Duration>,
}
