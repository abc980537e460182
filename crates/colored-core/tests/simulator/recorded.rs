//! What a scheduler has recorded of a run: waits, and the records of its flight recorder.

use crate::oracle::Waits;
use colored_core::Color;
use colored_core::trace::{Copied, Event, task};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Recorded {
    /// The waits as measured, and as the scheduler says; none if the run did not come to a quiet end.
    pub(crate) waits: Option<(Waits, Waits)>,
    /// How many records there were, and a hash of them.
    pub(crate) digest: (u64, u64),
}

/// The number and the hash of all records. The process numbers tasks and fresh colors on and on, so each has a number by
/// its first record here.
pub(crate) fn digest(rings: impl Iterator<Item = Copied>) -> (u64, u64) {
    let (mut names, mut hasher, mut count) = (Names::default(), DefaultHasher::new(), 0);
    for copied in rings {
        (copied.overwritten, copied.dropped).hash(&mut hasher);
        for record in copied.records {
            let event = names.renumbered(record.event);
            (record.nanos, format!("{event:?}")).hash(&mut hasher);
            count += 1;
        }
    }
    (count, hasher.finish())
}

#[derive(Default)]
struct Names {
    tasks: HashMap<u64, u64>,
    colors: HashMap<u64, u64>,
}

impl Names {
    fn task(&mut self, id: colored_core::Id) -> colored_core::Id {
        let next = self.tasks.len() as u64 + 1;
        let number = *self.tasks.entry(id.get()).or_insert(next);
        task(number).expect("not 0")
    }

    fn color(&mut self, color: Color) -> Color {
        if !color.is_unique() {
            return color;
        }
        let next = self.colors.len() as u64;
        Color::new(u64::MAX - *self.colors.entry(color.number()).or_insert(next))
    }

    fn renumbered(&mut self, mut event: Event) -> Event {
        match &mut event {
            Event::Slice { color, .. }
            | Event::Steal { color, .. }
            | Event::Kept { color, .. }
            | Event::Depth { color, .. }
            | Event::Post { color }
            | Event::Call { color } => *color = self.color(*color),
            Event::Poll { task, .. } | Event::End { task } => *task = self.task(*task),
            Event::Wake { by, task } | Event::Spawn { by, task, .. } => {
                *by = by.map(|by| self.task(by));
                *task = self.task(*task);
            }
            Event::Hop { task, to } => {
                *task = self.task(*task);
                *to = self.color(*to);
            }
            _ => {}
        }
        event
    }
}
