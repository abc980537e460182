//! Tasks and closures that can never go on, found by their waits and by the order of the queues (G12).
//!
//! A set of tasks and of closures is stuck if none of them can go on before another one of the set does. At first
//! the oracle takes all that wait to be stuck. It removes the waits that can go on, until there are none: the rest is
//! the largest such set.

use super::{Entry, Hue, Oracle, Over, Task};
use crate::slab::Key;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Nanoseconds after which the scheduler has forgotten a wait that can never end, if it has told no other wait
/// meanwhile.
const PATIENCE: u64 = 100_000_000;

#[derive(Debug)]
struct Stuck {
    tasks: BTreeSet<Key>,
    behaviors: BTreeSet<Key>,
}

/// The sections that wait for an event that never comes, and since when the oracle knows that.
pub(crate) type Silent = Vec<(Key, Over, u64)>;

impl Oracle {
    /// Whether the scheduler may tell this wait that it will never end: the wait was in this set when the scheduler
    /// looked.
    pub(crate) fn may_be_told(&self, task: Key, over: Over) -> bool {
        self.silent.iter().any(|(key, of, _)| (*key, *of) == (task, over))
    }

    /// The scheduler has told a wait.
    pub(crate) fn note_told(&mut self) {
        self.told = self.fair;
    }

    /// The scheduler is about to look: notes the sections that wait for an event that never comes. It is a
    /// violation if one has waited for long.
    pub(crate) fn look_for_silence(&mut self) {
        let stuck = self.stuck();
        let waiting = stuck.tasks.iter().filter_map(|key| {
            let task = self.tasks.get(*key).filter(|task| task.section)?;
            Some((*key, task.over?))
        });
        let before = std::mem::take(&mut self.silent);
        let since = |wait| before.iter().find(|(task, over, _)| (*task, *over) == wait);
        self.silent = waiting
            .map(|wait| since(wait).copied().unwrap_or((wait.0, wait.1, self.fair)))
            .collect();
        // The scheduler may tell another wait of a cycle. Then the next wait of the task that was told is in the
        // cycle again.
        let is_late = |since: u64| self.fair > since.max(self.told) + PATIENCE;
        let late = self.silent.iter().find(|(.., since)| is_late(*since)).copied();
        if let Some((task, over, _)) = late {
            let slot = task.slot;
            let what = format!(
                "task {slot} waits for {over:?} in a section, for ever:{}",
                self.describe(&stuck)
            );
            self.violated("G12", what);
        }
    }

    fn describe(&self, stuck: &Stuck) -> String {
        let mut text = String::new();
        for key in &stuck.tasks {
            let Some(task) = self.tasks.get(*key) else { continue };
            let section = if task.section { "in a section " } else { "" };
            let (slot, hue, over) = (key.slot, task.hue, task.over);
            let _ = write!(text, "\n  task {slot} {section}of color {hue} waits for {over:?}");
        }
        for key in &stuck.behaviors {
            let _ = write!(text, "\n  behavior {} wants {:?}", key.slot, self.wants(*key));
        }
        for hue in 0..self.lanes.len() {
            let (holder, queue) = (self.lanes.holder(hue), self.lanes.entries(hue));
            let queue = queue.filter(|entry| !matches!(entry, Entry::Post(_)));
            let queue: Vec<_> = queue.take(20).map(|entry| entry.to_string()).collect();
            if !queue.is_empty() {
                let _ = write!(
                    text,
                    "\n  color {hue} is held by {holder:?}; in line are, among posts, {queue:?}"
                );
            }
        }
        text
    }

    fn stuck(&self) -> Stuck {
        let rests = |key: &Key| self.tasks.get(*key).is_some_and(Task::rests);
        let tasks = self.tasks.keys().filter(rests).collect();
        let behaviors = self.behaviors.keys().filter(|key| self.behavior_waits(*key)).collect();
        let mut stuck = Stuck { tasks, behaviors };
        loop {
            let go_on = |key: &Key| !self.is_task_stuck(*key, &stuck);
            let tasks: Vec<Key> = stuck.tasks.iter().copied().filter(go_on).collect();
            let go_on = |key: &Key| !self.is_behavior_stuck(*key, &stuck);
            let behaviors: Vec<Key> = stuck.behaviors.iter().copied().filter(go_on).collect();
            if tasks.is_empty() && behaviors.is_empty() {
                return stuck;
            }
            stuck.tasks.retain(|key| !tasks.contains(key));
            stuck.behaviors.retain(|key| !behaviors.contains(key));
        }
    }

    fn is_task_stuck(&self, key: Key, stuck: &Stuck) -> bool {
        let Some(task) = self.tasks.get(key) else { return false };
        let waits_for_ever = task.over.is_some_and(|over| self.is_wait_stuck(over, stuck));
        // A task in a section has its color.
        waits_for_ever || (!task.section && self.is_lane_stuck(task.hue, Entry::Task(key), stuck))
    }

    fn is_wait_stuck(&self, over: Over, stuck: &Stuck) -> bool {
        match over {
            Over::Task(task) => stuck.tasks.contains(&task),
            Over::Behavior(behavior) => stuck.behaviors.contains(&behavior),
            Over::Call(call) => {
                let hue = self.waits_for_turn(call);
                hue.is_some_and(|hue| self.is_lane_stuck(hue, Entry::Call(call), stuck))
            }
            // The task is in the queue by now.
            Over::Color(_) => false,
        }
    }

    fn is_behavior_stuck(&self, key: Key, stuck: &Stuck) -> bool {
        let wants = self.wants(key);
        wants.into_iter().any(|want| self.is_lane_stuck(want.hue, want.entry(key), stuck))
    }

    /// Whether an entry, which is in the queue or will be at its end, never has its turn.
    fn is_lane_stuck(&self, hue: Hue, entry: Entry, stuck: &Stuck) -> bool {
        let holder = match self.lanes.holder(hue) {
            Some(Entry::Task(holder)) => {
                let section = self.tasks.get(holder).is_some_and(|task| task.section);
                section && Entry::Task(holder) != entry && stuck.tasks.contains(&holder)
            }
            _ => false,
        };
        let queue: Vec<Entry> = self.lanes.entries(hue).collect();
        let place = queue.iter().position(|queued| *queued == entry);
        let ahead = queue.iter().copied().take(place.unwrap_or(queue.len()));
        // `looks`: whether the readers ahead cannot go on. `all`: whether no entry can.
        let (mut looks, mut all) = (false, holder);
        for queued in ahead {
            match queued {
                Entry::Look(behavior) => looks |= stuck.behaviors.contains(&behavior),
                Entry::Claim(behavior) => all |= looks || stuck.behaviors.contains(&behavior),
                _ => all |= looks,
            }
        }
        let together = matches!(entry, Entry::Look(_));
        all || (looks && !together)
    }
}
