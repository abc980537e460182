//! [`Keeper`]: the task that keeps a color while it waits.

use super::wait::text;
use colored_core::dump::{Dumped, StateSeen, TargetSeen, TaskSeen, WaitSeen};
use colored_core::{Color, Id};
use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;
use std::time::Duration;

/// A task that keeps a color while it waits: nothing else of the color runs before it gives the color up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Keeper {
    /// The color.
    pub color: Color,
    /// The task.
    pub task: Id,
    /// Where the task was spawned.
    pub spawned: &'static Location<'static>,
    /// By what it keeps the color.
    pub by: KeptBy,
    /// The place of the section, or of the `when`.
    pub site: &'static Location<'static>,
    /// How long it has kept the color, at most: since the section began, or the `when` was polled first.
    pub time: Duration,
}

/// By what a task keeps a color.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeptBy {
    /// A section: `exclusive`, or `ColorCell::exclusive`.
    Section,
    /// A `when` that has this color, and waits for others.
    When,
}

impl KeptBy {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Section => "section",
            Self::When => "when",
        }
    }
}

impl fmt::Display for Keeper {
    /// The subject of a sentence: by what, its place, the task and the place of its spawn.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { task, spawned, by, site, .. } = self;
        write!(f, "the {} at {site} of {task:?} (spawned at {spawned})", by.word())
    }
}

/// The keepers, by color.
pub(super) fn keepers(seen: &Dumped) -> BTreeMap<Color, Keeper> {
    let mut found = BTreeMap::new();
    let mut add = |color: Color, by: KeptBy, task: &TaskSeen, wait: &WaitSeen| {
        found.entry(color).or_insert_with(|| Keeper {
            color,
            task: task.id,
            spawned: task.spawned,
            by,
            site: wait.site,
            time: Duration::from_nanos(seen.now.saturating_sub(wait.since)),
        });
    };
    for task in seen.sheet.tasks().iter().filter(|task| task.state != StateSeen::Running) {
        for wait in seen.sheet.waits(task) {
            match &wait.target {
                TargetSeen::Section => add(task.color, KeptBy::Section, task, wait),
                // One that has all its colors runs at once.
                TargetSeen::Colors { lacks, has } if !lacks.is_empty() => {
                    has.iter().for_each(|color| add(*color, KeptBy::When, task, wait));
                }
                _ => {}
            }
        }
    }
    found
}

/// For how long, for the end of a sentence.
pub(super) fn since(keeper: &Keeper) -> String {
    format!("for {}", text(keeper.time))
}
