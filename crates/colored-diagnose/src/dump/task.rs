//! [`TaskDump`]: one task of a dump.

use super::Dump;
use super::keeper::Keeper;
use super::wait::{Wait, WaitFor};
use colored_core::dump::{StateSeen, TaskSeen};
use colored_core::{Color, Id};
use std::fmt;
use std::panic::Location;

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskState {
    /// A thread polls it.
    Running,
    /// It is scheduled, and has a turn coming: when its color is free, see [`TaskDump::kept_by`].
    Queued,
    /// It waits to be woken.
    Waiting,
}

/// A task of a [`Dump`].
#[derive(Clone, Copy)]
pub struct TaskDump<'a> {
    dump: &'a Dump,
    task: &'a TaskSeen,
}

impl<'a> TaskDump<'a> {
    pub(super) fn new(dump: &'a Dump, task: &'a TaskSeen) -> Self {
        Self { dump, task }
    }

    /// The task.
    #[must_use]
    pub fn id(&self) -> Id {
        self.task.id
    }

    /// The name, if the task has one (`task::Builder::name`).
    #[must_use]
    pub fn name(&self) -> Option<&'a str> {
        self.dump.names.get(&self.task.id).map(|name| &**name)
    }

    /// The color.
    #[must_use]
    pub fn color(&self) -> Color {
        self.task.color
    }

    /// Where the task was spawned.
    #[must_use]
    pub fn spawned(&self) -> &'static Location<'static> {
        self.task.spawned
    }

    /// The state.
    #[must_use]
    pub fn state(&self) -> TaskState {
        match self.task.state {
            StateSeen::Running => TaskState::Running,
            StateSeen::Queued => TaskState::Queued,
            StateSeen::Waiting => TaskState::Waiting,
        }
    }

    /// The task that keeps the color of this one, if this one is scheduled and has no turn before the other gives the color
    /// up.
    #[must_use]
    pub fn kept_by(&self) -> Option<&'a Keeper> {
        let keeper = self.dump.keepers.get(&self.color())?;
        (self.state() == TaskState::Queued && keeper.task != self.id()).then_some(keeper)
    }

    /// The sections that the task is in and, if it waits, what it waits for: at least one item. See [`Dump`] for what is
    /// shown.
    #[must_use]
    pub fn waits(&self) -> Vec<Wait> {
        let waits = self.state() == TaskState::Waiting;
        let seen = self.dump.seen.sheet.waits(self.task).iter();
        let records =
            seen.filter_map(|wait| Wait::of_record(wait, self.dump.seen.now, &self.dump.notes));
        let mut all: Vec<_> =
            records.filter(|wait| waits || matches!(wait.what, WaitFor::Section)).collect();
        if !waits {
            return all;
        }
        if let Some((leaf, nanos)) = self.task.leaf {
            all.extend(Wait::of_leaf(leaf, nanos, &self.dump.notes, &self.dump.sockets));
        }
        if all.iter().all(|wait| matches!(wait.what, WaitFor::Section)) {
            all.push(Wait::OF_ITS_OWN);
        }
        all
    }
}

impl TaskDump<'_> {
    /// What it does, as a verb.
    pub(super) fn does(&self) -> &'static str {
        match self.state() {
            TaskState::Running => "runs",
            TaskState::Queued if self.kept_by().is_some() => "waits for its color, which is kept",
            TaskState::Queued => "has a turn coming",
            TaskState::Waiting => "waits",
        }
    }
}

/// The task, its name, the place of its spawn and its state.
impl fmt::Display for TaskDump<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.id())?;
        if let Some(name) = self.name() {
            write!(f, " {name:?}")?;
        }
        write!(f, " (spawned at {}) {}", self.spawned(), self.does())
    }
}

impl fmt::Debug for TaskDump<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskDump")
            .field("id", &self.id())
            .field("name", &self.name())
            .field("color", &self.color())
            .field("spawned", &format_args!("{}", self.spawned()))
            .field("state", &self.state())
            .field("waits", &self.waits())
            .finish()
    }
}
