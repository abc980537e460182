//! Who waits: the task that a thread polls, inside a section or not.

use super::graph::{Graph, To};
use super::lines::Stand;
use super::{Record, Standing, Wait};
use crate::lane::{LanePtr, current, inside};
use crate::sched::{Handle, with_handle};
use crate::sync::MutexGuard;
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
        let handle = with_handle(|handle| handle.cloned())?;
        Some(Self { handle, task, lane })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Graph> {
        self.handle.scheduler().waits.graph.lock()
    }

    /// Adds a wait at a place in the line, or at the end of it.
    pub(super) fn add<T: IntoIterator<Item = To>>(
        &self,
        graph: &mut Graph,
        place: Option<u64>,
        to: impl FnOnce(u64) -> T,
    ) -> Result<Wait, Deadlock> {
        let section = inside::get().map(|mut inside| {
            if inside.key == 0 {
                inside.key = graph.begin_section(self.task, self.lane, inside.site);
                inside::replace(Some(inside));
            }
            inside.key
        });
        let key = graph.next_key();
        let place = place.unwrap_or(key);
        graph.add(key, self.task, to(place), section)?;
        let (handle, task) = (self.handle.clone(), self.task.id());
        Ok(Wait(Box::new(Record { handle, task, section, key, place })))
    }

    pub(super) fn enter(&self, graph: &mut Graph, key: u64, stand: Stand) -> Standing {
        graph.lines.enter(key, stand);
        Standing(Box::new((self.handle.clone(), key)))
    }
}

/// If it stands in a line its place is that of the last time, or not known; if not, it is new.
pub(super) fn again<T: IntoIterator<Item = To>>(
    before: Option<Wait>,
    in_line: bool,
    to: impl FnOnce(u64) -> T,
) -> Result<Option<Wait>, Deadlock> {
    let Some(waiter) = Waiter::current() else { return Ok(None) };
    let place = before.as_ref().map_or(0, |wait| wait.0.place);
    if let Some(wait) = before {
        let section = inside::get().map(|inside| inside.key);
        if wait.0.task == waiter.task.id() && wait.0.section == section {
            return Ok(Some(wait));
        }
        drop(wait);
    }
    waiter.add(&mut waiter.lock(), in_line.then_some(place), to).map(Some)
}
