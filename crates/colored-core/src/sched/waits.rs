//! Who waits for whom: so that a wait that cannot end is an error at once.
//!
//! # What is recorded
//!
//! | from | to | from when | until |
//! |---|---|---|---|
//! | a task | a task that it awaits | the handle is polled and not ready | it is ready or dropped |
//! | a task | the lanes of a call, a read, a `when` or a hop | it is scheduled there | its turn comes, or it is dropped |
//! | a task | its own lane, if that is held by another task's section | | (read from the task) |
//! | a lane | the waits inside a section that holds it | | the end of the section |
//!
//! A wait belongs to the task that polls it, whatever combinator it is in, and to the innermost
//! section whose future is being polled. All waits of a task count together, and all of a section.
//!
//! A cycle with a wait inside a section is a deadlock. Only a new wait can close one: a section that
//! begins has no waits yet, and a task that gets under another color has been there first. So each
//! wait is looked at when it is recorded, under the one lock; and whichever comes last gets the
//! error, and is not recorded.
//!
//! # When
//!
//! From the first section of a scheduler on; before, what is asked is one flag. The waits of then are
//! not known, so that moment wakes every waiting task once, and they say again what they wait for:
//! lanes are found in the table and the registry, and one that enters these later sees the flag,
//! since it takes the lock under which it was looked for.
//!
//! # Tasks that move
//!
//! A task's lane is read by others without an order of its own. An old value matters only if it
//! names a lane that a section holds. But a task leaves a lane before another one's section begins
//! there, and the lane's hand-over makes its new lane visible to that section; whose waits, without
//! which the lane is not looked at, are recorded under the lock. What a task does to get into a lane
//! that is held, a hop, is itself recorded before.

mod graph;

use self::graph::{Graph, To};
use super::{Handle, Scheduler, with_handle};
use crate::lane::{LanePtr, LaneRef, callback, current, inside};
use crate::sync::{AtomicBool, Mutex, Ordering};
use crate::task::{Deadlock, Id, TaskRef};
use std::panic::Location;

/// The waits of a scheduler's tasks.
pub(super) struct Waits {
    /// There has been a section.
    watched: AtomicBool,
    graph: Mutex<Graph>,
}

impl Waits {
    pub(super) fn new() -> Self {
        Self { watched: AtomicBool::new(false), graph: Mutex::new(Graph::default()) }
    }

    #[inline]
    pub(super) fn are_watched(&self) -> bool {
        // Ordering: whose waits matter sees it by the lock or the chain through which it is found or
        // woken (module documentation).
        self.watched.load(Ordering::Relaxed)
    }
}

impl Scheduler {
    /// Records waits from the start, without waking anybody at the first section: of a scheduler on
    /// which nothing has been spawned yet.
    pub fn watch_from_the_start(&self) {
        // Ordering: as in `are_watched`.
        self.waits.watched.store(true, Ordering::Relaxed);
    }

    /// Records waits from now on.
    pub(crate) fn watch(&self) {
        // Ordering: as in `are_watched`.
        if self.waits.are_watched() || self.waits.watched.swap(true, Ordering::Relaxed) {
            return;
        }
        for lane in self.registry.all().into_iter().chain(self.table.all()) {
            callback::rouse(&lane);
        }
    }
}

/// A wait that is recorded, until this is dropped. One word, for those who have none.
pub(crate) struct Wait(Box<Record>);

struct Record {
    handle: Handle,
    task: Id,
    section: Option<u64>,
    key: u64,
}

impl Drop for Record {
    fn drop(&mut self) {
        self.handle.scheduler().waits.graph.lock().remove(self.task, self.key);
    }
}

/// A section in which something has been waited for, until this is dropped.
pub(crate) struct Watched {
    handle: Handle,
    key: u64,
}

impl Watched {
    /// The section by this key, of this thread's scheduler.
    pub(crate) fn new(key: u64) -> Option<Self> {
        with_handle(|handle| Some(Self { handle: handle?.clone(), key }))
    }

    pub(crate) fn key(&self) -> u64 {
        self.key
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.handle.scheduler().waits.graph.lock().end_section(self.key);
    }
}

/// Whether waits are to be recorded on this thread. Asked before every wait.
#[inline]
pub(crate) fn are_watched() -> bool {
    with_handle(|handle| handle.is_some_and(|handle| handle.scheduler().waits.are_watched()))
}

/// Records that the current task awaits another one. `before` is the record of the same wait when it
/// was polled the last time.
///
/// # Safety
///
/// `joined` is alive until the record is dropped.
#[cold]
pub(crate) unsafe fn task(
    before: Option<Wait>,
    joined: TaskRef<LanePtr>,
) -> Result<Option<Wait>, Deadlock> {
    record(before, [To::Task(joined)])
}

/// Records that the current task waits for a turn of `lane`, as one that `how` (a call, a hop) made
/// at `site`. `before` is the record of the same wait when it was polled the last time. The record is
/// to be dropped when the turn comes, not only when the task learns of it.
#[cold]
pub(crate) fn lane(
    before: Option<Wait>,
    lane: &LaneRef,
    how: &'static str,
    site: &'static Location<'static>,
) -> Result<Option<Wait>, Deadlock> {
    record(before, [To::Lane { lane: lane.ptr(), color: lane.color(), how, site }])
}

/// As [`lane`], for a turn of several lanes at once.
///
/// # Safety
///
/// The lanes are alive.
#[cold]
pub(crate) unsafe fn lanes(
    before: Option<Wait>,
    lanes: impl Iterator<Item = LanePtr>,
    how: &'static str,
    site: &'static Location<'static>,
) -> Result<Option<Wait>, Deadlock> {
    let to = lanes.map(|lane| {
        // SAFETY: by contract.
        let color = unsafe { lane.get() }.color();
        To::Lane { lane, color, how, site }
    });
    record(before, to)
}

fn record(
    before: Option<Wait>,
    to: impl IntoIterator<Item = To>,
) -> Result<Option<Wait>, Deadlock> {
    let (Some(task), Some(lane)) = (current::task(), current::lane()) else { return Ok(None) };
    with_handle(|handle| {
        let Some(handle) = handle else { return Ok(None) };
        let section = inside::get().map(|inside| inside.key);
        if let Some(wait) = before {
            if wait.0.task == task.id() && wait.0.section == section {
                return Ok(Some(wait));
            }
            drop(wait);
        }
        let mut graph = handle.scheduler().waits.graph.lock();
        let section = inside::get().map(|mut inside| {
            if inside.key == 0 {
                inside.key = graph.begin_section(task, lane, inside.site);
                inside::replace(Some(inside));
            }
            inside.key
        });
        let key = graph.add(task, to, section)?;
        drop(graph);
        Ok(Some(Wait(Box::new(Record { handle: handle.clone(), task: task.id(), section, key }))))
    })
}
