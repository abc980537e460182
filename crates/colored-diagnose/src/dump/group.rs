//! [`Groups`]: tasks of one place that wait for the same.

use super::{Dump, TaskDump, TaskState};
use colored_core::{Color, Id};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::panic::Location;
use std::time::Duration;

/// Tasks that are listed one by one; more are a group.
const FEW: usize = 3;

/// What the tasks of a group have in common.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    spawned: &'static Location<'static>,
    does: &'static str,
    /// The color, if it is kept.
    kept: Option<Color>,
    /// The kind, the words and the place of each wait.
    waits: Vec<(&'static str, &'static str, Option<&'static Location<'static>>)>,
}

/// Tasks that are alike.
pub(super) struct Group<'d> {
    pub(super) tasks: usize,
    pub(super) colors: usize,
    /// The task whose first wait is the oldest.
    pub(super) oldest: TaskDump<'d>,
    age: Duration,
    ids: Vec<Id>,
    of_colors: HashSet<Color>,
}

/// The groups of more than a few tasks, the largest first.
pub(super) struct Groups<'d> {
    groups: Vec<Group<'d>>,
    ids: HashSet<Id>,
}

impl<'d> Groups<'d> {
    pub(super) fn of(dump: &'d Dump) -> Self {
        let mut groups: HashMap<Key, Group<'d>> = HashMap::new();
        for task in dump.tasks().filter(|task| task.state() != TaskState::Running) {
            let waits = task.waits();
            let age = waits.iter().filter_map(|wait| wait.time).max().unwrap_or_default();
            let key = Key {
                spawned: task.spawned(),
                does: task.does(),
                kept: task.kept_by().map(|by| by.color),
                waits: waits.iter().map(|wait| (wait.what.word(), wait.how, wait.site)).collect(),
            };
            let group = groups.entry(key).or_insert_with(|| Group {
                tasks: 0,
                colors: 0,
                oldest: task,
                age,
                ids: Vec::new(),
                of_colors: HashSet::new(),
            });
            group.ids.push(task.id());
            group.of_colors.insert(task.color());
            if age > group.age {
                (group.oldest, group.age) = (task, age);
            }
        }
        let large = groups.into_values().filter(|group| group.ids.len() > FEW);
        let mut groups: Vec<_> = large
            .map(|group| {
                let (tasks, colors) = (group.ids.len(), group.of_colors.len());
                Group { tasks, colors, ..group }
            })
            .collect();
        groups.sort_by_key(|group| (Reverse(group.tasks), group.oldest.id()));
        let ids = groups.iter().flat_map(|group| group.ids.iter().copied()).collect();
        Self { groups, ids }
    }

    /// Whether the task is in one of them.
    pub(super) fn has(&self, task: Id) -> bool {
        self.ids.contains(&task)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Group<'d>> {
        self.groups.iter()
    }
}
