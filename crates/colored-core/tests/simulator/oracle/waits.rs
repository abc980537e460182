//! Who waits for whom, in sections and beside them (G12).

use super::{CallKey, Entry, Hue, Oracle};
use crate::profile::Crossing;
use crate::slab::Key;

/// What a task waits for that another one's section may keep from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// The end of a task.
    Task(Key),
    /// The turn of a call.
    Call(CallKey),
    /// A turn under a color.
    Color(Hue),
    /// The end of a `when` or a `read`.
    Behavior(Key),
}

impl Oracle {
    /// What a task waits for from now on, if anything.
    pub(crate) fn waits_over(&mut self, key: Key, over: Option<Over>) {
        if let Some(task) = self.tasks.get_mut(key) {
            task.over = over;
        }
    }

    /// Whether a task would never have what it waits for now: because that waits, in the end, for a
    /// section that waits for the task, or for its section.
    pub(crate) fn closes(&self, waiter: Key, over: Over) -> bool {
        match self.crossing {
            Crossing::Tangled => self.would_be_stuck(waiter, over),
            Crossing::None | Crossing::Free | Crossing::Ordered => {
                self.finds_way_back(waiter, over)
            }
        }
    }

    /// The same where there is nothing that wants several colors.
    fn finds_way_back(&self, waiter: Key, over: Over) -> bool {
        let Some(task) = self.tasks.get(waiter) else { return false };
        let mut seen = Vec::new();
        let mut rest = vec![(over, task.section)];
        while let Some((over, inside)) = rest.pop() {
            if seen.contains(&(over, inside)) {
                continue;
            }
            seen.push((over, inside));
            let hue = match over {
                Over::Task(awaited) if awaited == waiter => {
                    if inside {
                        return true;
                    }
                    continue;
                }
                Over::Task(awaited) => {
                    let Some(task) = self.tasks.get(awaited).filter(|task| !task.is_complete())
                    else {
                        continue;
                    };
                    rest.extend(task.over.map(|over| (over, inside || task.section)));
                    Some(task.hue)
                }
                Over::Call(call) => self.waits_for_turn(call),
                Over::Color(hue) => Some(hue),
                Over::Behavior(_) => None,
            };
            let Some(holder) = hue.and_then(|hue| self.section_in(hue)) else { continue };
            match over {
                // It holds its own color.
                Over::Task(awaited) if awaited == holder => {}
                _ if holder == waiter => return true,
                _ => {
                    let over = self.tasks.get(holder).and_then(|task| task.over);
                    rest.extend(over.map(|over| (over, true)));
                }
            }
        }
        false
    }

    /// The task that holds a color in a section.
    fn section_in(&self, hue: Hue) -> Option<Key> {
        match self.lanes.holder(hue)? {
            Entry::Task(key) => self.tasks.get(key).filter(|task| task.section).map(|_| key),
            _ => None,
        }
    }

    /// Whether a task was spawned after another one.
    pub(crate) fn is_younger(&self, key: Key, than: Key) -> bool {
        let serial = |key| self.tasks.get(key).map(|task| task.serial);
        serial(key) > serial(than)
    }
}
