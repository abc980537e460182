//! The graph of waits: what is recorded.

use super::Room;
use super::lines::{Lines, Spot};
use crate::color::Color;
use crate::lane::LanePtr;
use crate::sync::{Arc, AtomicBool, Ordering};
use crate::task::{Deadlock, Id, Named, TaskRef};
use std::collections::HashMap;
use std::panic::Location;

/// All waits that are recorded.
#[derive(Default)]
pub(super) struct Graph {
    /// By task.
    pub(super) waits: HashMap<Id, Vec<Wait>>,
    /// By key.
    pub(super) sections: HashMap<u64, Section>,
    /// The keys of the sections that hold a lane.
    pub(super) held: HashMap<LanePtr, Vec<u64>>,
    /// How many waits are for a task.
    pub(super) awaited: HashMap<Id, u32>,
    pub(super) lines: Lines,
    last_key: u64,
}

// SAFETY: the tasks in here are alive until the record that has them is removed, which takes the
// lock; and all that is done with them is to read what never changes, or is atomic.
unsafe impl Send for Graph {}

pub(super) struct Wait {
    pub(super) key: u64,
    pub(super) task: Named,
    pub(super) to: To,
    section: Option<(u64, Arc<Told>)>,
}

/// Whether a wait inside a section is to be looked at again when it is polled next.
#[derive(Debug, Default)]
pub(super) struct Told(AtomicBool);

impl Told {
    /// The caller wakes its task afterwards.
    pub(super) fn tell(&self) {
        // Ordering: the wake that follows hands it to the poll that it causes.
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_told(&self) -> bool {
        // Ordering: see `tell`; another poll may see it late.
        self.0.load(Ordering::Relaxed)
    }
}

/// What is waited for.
pub(super) enum To {
    /// It was in no line at that time; 0 if that is not known of any.
    Task { task: TaskRef<LanePtr>, since: u64 },
    /// Room that a color gives, and perhaps others too.
    Room { room: Arc<dyn Room>, lane: LanePtr, color: Color, how: How },
    /// A turn under a color.
    Lane { spot: Spot, color: Color, how: How },
    /// All that a `when` lacks, by its key.
    Stand { key: u64, how: How },
}

/// What is done with a color, and where, for the text of a [`Deadlock`].
#[derive(Clone, Copy)]
pub(super) struct How {
    pub(super) how: &'static str,
    pub(super) site: &'static Location<'static>,
}

#[derive(Clone, Copy)]
pub(super) struct Section {
    pub(super) task: TaskRef<LanePtr>,
    pub(super) lane: LanePtr,
    pub(super) color: Color,
    pub(super) site: &'static Location<'static>,
}

impl Wait {
    /// The section that it is in, and how it is told to look again.
    pub(super) fn section(&self) -> Option<(u64, &Told)> {
        self.section.as_ref().map(|(key, told)| (*key, &**told))
    }
}

impl Graph {
    pub(super) fn next_key(&mut self) -> u64 {
        self.last_key += 1;
        self.last_key
    }

    /// The section that `task` is in, which holds `lane`, waits for something the first time.
    pub(super) fn begin_section(
        &mut self,
        task: TaskRef<LanePtr>,
        lane: LanePtr,
        site: &'static Location<'static>,
    ) -> u64 {
        let key = self.next_key();
        // SAFETY: the task that is polled keeps its lane.
        let color = unsafe { lane.get() }.color();
        self.sections.insert(key, Section { task, lane, color, site });
        self.held.entry(lane).or_default().push(key);
        key
    }

    /// Its waits are no longer inside a section.
    pub(super) fn end_section(&mut self, key: u64) {
        let Some(section) = self.sections.remove(&key) else { return };
        if let Some(keys) = self.held.get_mut(&section.lane) {
            keys.retain(|own| *own != key);
            if keys.is_empty() {
                self.held.remove(&section.lane);
            }
        }
        for wait in self.waits.get_mut(&section.task.id()).into_iter().flatten() {
            wait.section.take_if(|(own, _)| *own == key);
        }
    }

    /// Adds a wait, unless it closes a cycle.
    pub(super) fn add(
        &mut self,
        key: u64,
        task: TaskRef<LanePtr>,
        to: To,
        section: Option<(u64, Arc<Told>)>,
    ) -> Result<(), Deadlock> {
        let wait = Wait { key, task: task.named(), to, section };
        if let Some(deadlock) = self.cycle_of(&wait) {
            return Err(deadlock);
        }
        if let To::Task { task: joined, .. } = wait.to {
            *self.awaited.entry(joined.id()).or_default() += 1;
        }
        self.waits.entry(task.id()).or_default().push(wait);
        Ok(())
    }

    pub(super) fn remove(&mut self, task: Id, key: u64) {
        let Some(waits) = self.waits.get_mut(&task) else { return };
        let Some(at) = waits.iter().position(|wait| wait.key == key) else { return };
        let removed = waits.swap_remove(at);
        if waits.is_empty() {
            self.waits.remove(&task);
        }
        if let To::Task { task: joined, .. } = removed.to {
            self.is_let_go(joined.id());
        }
    }

    /// Whether a wait that is recorded is in a cycle.
    pub(super) fn is_in_a_cycle(&self, task: Id, key: u64) -> bool {
        let mut waits = self.waits.get(&task).into_iter().flatten();
        let wait = waits.find(|wait| wait.key == key);
        wait.is_some_and(|wait| self.cycle_of(wait).is_some())
    }

    /// Somebody does not wait for this task any more.
    fn is_let_go(&mut self, joined: Id) {
        if let Some(times) = self.awaited.get_mut(&joined) {
            *times -= 1;
            if *times == 0 {
                self.awaited.remove(&joined);
            }
        }
    }

    /// Whether somebody who waits for other things keeps that lane: a section, or a `when`.
    pub(super) fn is_kept(&self, lane: LanePtr) -> bool {
        self.held.contains_key(&lane) || self.lines.is_had(lane)
    }
}
