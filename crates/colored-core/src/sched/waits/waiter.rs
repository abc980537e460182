//! Who waits: the task that a thread polls, inside a section or not.

use super::graph::{Graph, To, Told};
use super::{Record, Wait};
use crate::lane::{LanePtr, current, inside};
use crate::sched::{Handle, Scheduler, with_handle_of_task};
use crate::sync::{Arc, MutexGuard};
use crate::task::{Deadlock, TaskRef};

/// The task that this thread polls.
pub(super) struct Waiter {
    handle: Handle,
    pub(super) task: TaskRef<LanePtr>,
    lane: LanePtr,
}

impl Waiter {
    pub(super) fn current() -> Option<Self> {
        let (task, lane) = (current::task()?, current::lane()?);
        let handle = with_handle_of_task(|handle| handle.cloned())?;
        Some(Self { handle, task, lane })
    }

    pub(super) fn scheduler(&self) -> &Scheduler {
        self.handle.scheduler()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Graph> {
        self.scheduler().waits.graph.lock()
    }

    /// Adds a wait at a place in the line, or at the end of it.
    pub(super) fn add(
        &self,
        graph: &mut Graph,
        place: Option<u64>,
        to: impl FnOnce(&mut Graph, u64) -> To,
    ) -> Result<Wait, Deadlock> {
        let section = inside::get().map(|mut inside| {
            if inside.key == 0 {
                inside.key = graph.begin_section(self.task, self.lane, inside.site);
                inside::replace(Some(inside));
            }
            (inside.key, Arc::new(Told::default()))
        });
        let key = graph.next_key();
        let place = place.unwrap_or(key);
        let to = to(graph, place);
        graph.add(key, self.task, to, section.clone())?;
        let (handle, task) = (self.handle.clone(), self.task.id());
        Ok(Wait(Box::new(Record { handle, task, section, key, place })))
    }
}

/// If it stands in a line its place is that of the last time, or not known; if not, it is new.
pub(super) fn again(
    before: Option<Wait>,
    in_line: bool,
    to: impl FnOnce(&mut Graph, u64) -> To,
) -> Result<Option<Wait>, Deadlock> {
    let Some(waiter) = Waiter::current() else { return Ok(None) };
    // Another scheduler's places are not in the order of this one's.
    let known = before.as_ref().filter(|wait| wait.0.handle.same(&waiter.handle));
    let place = known.map_or(0, |wait| wait.0.place);
    if let Some(wait) = before {
        let section = inside::get().map(|inside| inside.key);
        if wait.0.task == waiter.task.id() && wait.0.still_holds(section) {
            return Ok(Some(wait));
        }
        drop(wait);
    }
    waiter.add(&mut waiter.lock(), in_line.then_some(place), to).map(Some)
}

impl Record {
    /// Whether it is of that section, and nobody has told it to look again.
    fn still_holds(&self, section: Option<u64>) -> bool {
        match &self.section {
            Some((own, told)) => section == Some(*own) && !told.is_told(),
            None => section.is_none(),
        }
    }
}
