//! What a dump writes down of tasks, and what it asks the holders of lanes for.

use crate::ext::leaf::Leaf;
use crate::ext::snapshot::view::View;
use crate::ext::snapshot::waits::{WaitSeen, each_wait_of};
use crate::kernel::color::Color;
use crate::kernel::lane::{LanePtr, current};
use crate::kernel::sched::RunningSlice;
use crate::kernel::task::{Abort, Id, TaskRef, Unpolled};
use crate::sync::{AtomicBool, Mutex};
use std::collections::{HashMap, HashSet};
use std::panic::Location;

/// The tasks that are written down in one view: some 50 µs, in which the lane does not go on.
#[cfg(not(colored_loom))]
const PAGE: usize = 256;
#[cfg(colored_loom)]
const PAGE: usize = 1;

/// The scheduled nodes that are looked at in one lane. What is behind is counted as "more".
#[cfg(not(colored_loom))]
const LINE: usize = 1024;
#[cfg(colored_loom)]
const LINE: usize = 2;

/// The state of a task at the moment when it was written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StateSeen {
    /// A worker, or another thread, polls it.
    Running,
    /// It has a turn coming.
    Queued,
    /// It waits to be woken.
    Waiting,
}

/// A task at the moment when it was written down.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskSeen {
    /// The task.
    pub id: Id,
    /// Where it was spawned.
    pub spawned: &'static Location<'static>,
    /// The color.
    pub color: Color,
    /// The state.
    pub state: StateSeen,
    /// The wait without a record, and its age in nanoseconds, to a millisecond.
    pub leaf: Option<(Leaf, u64)>,
    /// Its waits in [`Sheet::waits`]: the first, and the one behind the last.
    waits: (u32, u32),
}

/// The work without a task that was scheduled under a color, or the tasks that were too many.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LineSeen {
    /// The color.
    pub color: Color,
    /// Closures that were scheduled.
    pub closures: usize,
    /// More was scheduled than was looked at.
    pub goes_on: bool,
}

/// Tasks, and their waits.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    tasks: Vec<TaskSeen>,
    waits: Vec<WaitSeen>,
    lines: Vec<LineSeen>,
}

/// How far a lane has been written down that takes more than one page.
#[derive(Default)]
pub(crate) struct Progress {
    /// The tasks of the last page, the last one at the end. Some may have left the list since.
    trail: Vec<Abort<LanePtr>>,
    /// All tasks so far, if there have been more than a page: the way back may lead over some of them.
    pub(super) seen: HashSet<Id>,
}

/// The requests of the dump that is being made.
#[derive(Default)]
pub(crate) struct SnapshotRequests {
    pub(crate) requests: Mutex<Requests>,
    /// A dump is being made.
    pub(crate) taken: AtomicBool,
}

#[derive(Default)]
pub(crate) struct Requests {
    /// Which dump it is. A page that is handed in late, for a dump that is over, is thrown away.
    pub(crate) dump: u64,
    /// How far each lane has been written down; `None` while its next page is being written.
    pub(crate) places: HashMap<LanePtr, Option<Progress>>,
    pub(crate) sheet: Sheet,
}

impl Sheet {
    /// The tasks.
    #[must_use]
    pub fn tasks(&self) -> &[TaskSeen] {
        &self.tasks
    }

    /// The waits of one of the tasks, the oldest first, with the sections that it is in.
    #[must_use]
    pub fn waits(&self, task: &TaskSeen) -> &[WaitSeen] {
        &self.waits[task.waits.0 as usize..task.waits.1 as usize]
    }

    /// What else was scheduled.
    #[must_use]
    pub fn lines(&self) -> &[LineSeen] {
        &self.lines
    }

    pub(crate) fn append(&mut self, other: &mut Self) {
        let before = self.waits.len() as u32;
        other.tasks.iter_mut().for_each(|task| {
            task.waits = (task.waits.0 + before, task.waits.1 + before);
        });
        self.tasks.append(&mut other.tasks);
        self.waits.append(&mut other.waits);
        self.lines.append(&mut other.lines);
    }

    /// Sorts the tasks by color, takes out those that are there twice, because they hopped during the dump, and marks
    /// those that run, or adds them.
    pub(crate) fn finish<'a>(&mut self, running: impl Iterator<Item = &'a RunningSlice>) {
        self.tasks.sort_unstable_by_key(|task| (task.color, task.id));
        let mut ids: Vec<_> = self.tasks.iter().map(|task| task.id).collect();
        ids.sort_unstable();
        if ids.windows(2).any(|two| two[0] == two[1]) {
            let mut seen = HashSet::new();
            self.tasks.retain(|task| seen.insert(task.id));
        }
        let of_task =
            |slice: &RunningSlice| slice.task.map(|(id, spawned)| (id, spawned, slice.color));
        let mut runs: Vec<_> = running.filter_map(of_task).collect();
        for task in &mut self.tasks {
            if let Some(place) = runs.iter().position(|(id, ..)| *id == task.id) {
                runs.swap_remove(place);
                task.state = StateSeen::Running;
            }
        }
        let state = StateSeen::Running;
        self.tasks.extend(runs.into_iter().map(|(id, spawned, color)| TaskSeen {
            id,
            spawned,
            color,
            state,
            leaf: None,
            waits: (0, 0),
        }));
    }

    /// Writes down the next page of a lane; true if it is the last one.
    pub(crate) fn write(&mut self, view: View<'_>, place: &mut Progress, now: u64) -> bool {
        // The last task of the last page that is still there. Without one the list is gone through from its begin.
        let mut last = None;
        while let Some(task) = place.trail.pop() {
            if view.has(task.task()) {
                last = Some(task);
                break;
            }
        }
        let begin = last.as_ref().map(Abort::task);
        let mut at = begin;
        for _ in 0..PAGE {
            let Some(task) = view.task_behind(at) else {
                self.write_line(view, now);
                return true;
            };
            if place.seen.is_empty() || !place.seen.contains(&task.id()) {
                self.add(view, task, now);
            }
            at = Some(task);
        }
        // Most lanes end within a page, and need no trail.
        place.trail.clear();
        let mut next = begin;
        for _ in 0..PAGE {
            next = view.task_behind(next);
            place.trail.extend(next.map(TaskRef::abort_handle));
        }
        place.seen.extend(place.trail.iter().map(Abort::id));
        false
    }

    fn write_line(&mut self, view: View<'_>, now: u64) {
        let line = view.line(LINE, |task| self.add(view, task, now));
        if line.closures > 0 || line.goes_on {
            let (closures, goes_on) = (line.closures, line.goes_on);
            self.lines.push(LineSeen { color: view.color(), closures, goes_on });
        }
    }

    /// Adds a task of a lane that this thread views.
    fn add(&mut self, view: View<'_>, task: TaskRef<LanePtr>, now: u64) {
        let begin = self.waits.len() as u32;
        // SAFETY: this thread has the right to run the lane of the task, so no other thread polls it.
        let unpolled = unsafe { Unpolled::new(task) };
        each_wait_of(&unpolled, |wait| self.waits.push(wait));
        let state = match () {
            () if current::task() == Some(task) => StateSeen::Running,
            () if view.is_waiting(task) => StateSeen::Waiting,
            () => StateSeen::Queued,
        };
        #[cfg(feature = "leaves")]
        let leaf = unpolled.leaf(now);
        #[cfg(not(feature = "leaves"))]
        let (leaf, _now) = (None, now);
        let waits = (begin, self.waits.len() as u32);
        let (task, color) = (task.named(), view.color());
        self.tasks.push(TaskSeen { id: task.id, spawned: task.spawned, color, state, leaf, waits });
    }
}
