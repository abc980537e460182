//! [`Snapshot`]: the records of a runtime.

use super::{Event, Record, Trigger};
use colored_core::{Color, Id};
use std::collections::BTreeMap;
use std::time::Duration;

/// The records of one thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadTrace {
    /// The name of the thread.
    pub name: String,
    /// The records that its ring still had, in the order in which they were made.
    pub records: Vec<Record>,
    /// How many older records newer ones have overwritten.
    pub overwritten: u64,
    /// How many records were never kept, because the ring was in use.
    pub dropped: u64,
}

/// The records of all threads of a runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// The threads: first the workers, by their indexes, then the spare workers. The last one stands for all threads that are no
    /// workers.
    pub threads: Vec<ThreadTrace>,
    /// How many of the threads are workers, without spare ones.
    pub workers: usize,
    /// When the snapshot was made, in nanoseconds of the scheduler's time.
    pub ended: u64,
    /// When the snapshot was made, as the time since the Unix epoch.
    pub wall: Duration,
    /// The names of the colors that have one.
    pub names: BTreeMap<Color, &'static str>,
    /// The event at which the runtime has kept the snapshot; none for one that the program has asked for.
    pub trigger: Option<Trigger>,
}

impl Snapshot {
    /// A snapshot of these threads, all of which are workers. The names of the colors come from [`Color::named`].
    ///
    /// Costs one look for a name for each record that has a color.
    #[must_use]
    pub fn new(threads: Vec<ThreadTrace>, ended: u64, wall: Duration) -> Self {
        let records = threads.iter().flat_map(|thread| &thread.records);
        let named = |record: &Record| {
            let color = color(&record.event)?;
            Some((color, color.name()?))
        };
        let names = records.filter_map(named).collect();
        let workers = threads.len();
        Self { threads, workers, ended, wall, names, trigger: None }
    }

    /// The text for a color: its name, or a number.
    pub(super) fn text_of(&self, color: Color) -> String {
        match self.names.get(&color) {
            Some(name) => (*name).to_owned(),
            None if color.is_default() => "default".to_owned(),
            None if color.is_unique() => format!("unique-{}", color.number()),
            None => format!("{:#x}", color.number()),
        }
    }
}

/// The color of a record.
pub(super) fn color(event: &Event) -> Option<Color> {
    match *event {
        Event::Slice { color, .. }
        | Event::Steal { color, .. }
        | Event::Kept { color, .. }
        | Event::LongPoll { color, .. }
        | Event::Depth { color, .. }
        | Event::Hop { to: color, .. }
        | Event::Post { color }
        | Event::Call { color } => Some(color),
        _ => None,
    }
}

/// The task of a record.
pub(super) fn task(event: &Event) -> Option<Id> {
    match *event {
        Event::Poll { task, .. }
        | Event::Wake { task, .. }
        | Event::Spawn { task, .. }
        | Event::End { task }
        | Event::Hop { task, .. }
        | Event::LongPoll { task: Some(task), .. } => Some(task),
        _ => None,
    }
}
