//! [`Id`] and [`task_name`]: by what texts name a task. The names stand in a table beside the tasks, so that a task without
//! a name takes no memory for one.

use crate::kernel::color::{SIMULATED, shown};
use crate::sync::thread_slot;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Names a task. No other task of the process, past or present, has the same.
///
/// Threads take ids in blocks, so the order of ids is not the order of spawns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(NonZeroU64);

/// Ids a thread takes at once, so that spawning does not bounce one cache line between all cores.
const BLOCK: u64 = 1024;

static NEXT_BLOCK: AtomicU64 = AtomicU64::new(1);

thread_slot!(static NEXT: Cell<u64> = Cell::new(0));

thread_slot!(static OUTPUT_OF: Cell<Option<Id>> = Cell::new(None));

thread_slot!(static RUN: Cell<u64> = Cell::new(0));

/// A number for each run of a simulation, of those that have been: all of them have the same ids. 0 for none.
static NEXT_RUN: AtomicU64 = AtomicU64::new(1);

impl Id {
    #[inline]
    pub(crate) fn next() -> Self {
        let id = NEXT.with(|next| {
            let mut id = next.get();
            if id % BLOCK == 0 && id < SIMULATED {
                // Ordering: only the distinctness of the blocks matters.
                id = NEXT_BLOCK.fetch_add(1, Ordering::Relaxed) * BLOCK;
            }
            next.set(id + 1);
            id
        });
        Self(NonZeroU64::new(id).expect("blocks begin above zero"))
    }

    /// The number of the first id of a simulation.
    pub(crate) const FIRST_SIMULATED: u64 = SIMULATED + 1;

    /// Sets the number of this thread's next id, and returns the earlier one. After 0 the ids are of no simulation.
    pub(crate) fn set_next(number: u64) -> u64 {
        NEXT.with(|next| next.replace(number))
    }

    /// A number of no other run of a simulation.
    pub(crate) fn next_run() -> u64 {
        // Ordering: only the distinctness matters.
        NEXT_RUN.fetch_add(1, Ordering::Relaxed)
    }

    /// Sets the number of the run that this thread simulates, and returns the earlier one. 0 is no run.
    pub(crate) fn set_run(number: u64) -> u64 {
        RUN.with(|run| run.replace(number))
    }

    /// The key of this task's name, on a thread that simulates the task's run.
    fn key(self) -> Key {
        (if self.get() < SIMULATED { 0 } else { RUN.with(Cell::get) }, self)
    }

    /// Runs `drop`, which drops the output of the task with this id.
    pub(super) fn drop_output(self, drop: impl FnOnce()) {
        let _outer = Outer(OUTPUT_OF.with(|id| id.replace(Some(self))));
        drop();
    }

    /// Exchanges the task whose output this thread drops.
    #[cfg(feature = "sim")]
    pub(crate) fn exchange_dropped(other: &Cell<Option<Self>>) {
        OUTPUT_OF.with(|id| id.swap(other));
    }

    /// The id of the task whose output this thread drops.
    #[inline]
    pub(crate) fn of_dropped_output() -> Option<Self> {
        OUTPUT_OF.with(Cell::get)
    }

    /// The id with this number, as from a log; none for 0. There need be no such task.
    #[must_use]
    pub fn from_number(number: u64) -> Option<Self> {
        NonZeroU64::new(number).map(Self)
    }

    /// The id as a number, for logs and traces.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0.get()
    }
}

/// Restores the task whose output this thread dropped before, also when the destructor panics.
struct Outer(Option<Id>);

impl Drop for Outer {
    fn drop(&mut self) {
        OUTPUT_OF.with(|id| id.set(self.0));
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task {self}")
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        shown(self.get()).fmt(f)
    }
}

static NAMES: Mutex<Names> =
    Mutex::new(Names { next: 0, tasks: BTreeMap::new(), names: BTreeMap::new() });

/// How many names there are: without one, nobody takes the lock.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// The number of the run, or 0, and the task: runs that are simulated at once have the same ids.
type Key = (u64, Id);

struct Names {
    next: u64,
    /// The names that are in use, and their tasks.
    tasks: BTreeMap<u64, (Option<Key>, Arc<str>)>,
    names: BTreeMap<Key, Arc<str>>,
}

fn lock() -> MutexGuard<'static, Names> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps the name of a task; dropped with the task's future.
#[derive(Debug)]
pub struct TaskName(u64);

/// Gives the name to the task, once that is spawned and has an id.
#[derive(Debug)]
#[must_use]
pub struct NameFor(u64);

impl TaskName {
    /// A name for a task that is about to be spawned.
    pub fn reserve(name: &str) -> (Self, NameFor) {
        let name = name.into();
        let mut names = lock();
        names.next += 1;
        let key = names.next;
        names.tasks.insert(key, (None, name));
        // Ordering: a hint. A thread that knows of the name has learned of it from the thread that gave it.
        COUNT.fetch_add(1, Ordering::Relaxed);
        (Self(key), NameFor(key))
    }

    /// The task polls its future for the first time. The thread that spawned it may not have come to give the name yet.
    pub fn give(&self, id: Id) {
        give(self.0, id);
    }
}

impl NameFor {
    /// The task has been spawned. If its future has gone already, the name is not kept.
    pub fn give(self, id: Id) {
        give(self.0, id);
    }
}

fn give(key: u64, id: Id) {
    let mut names = lock();
    let Some((task, name)) = names.tasks.get_mut(&key) else { return };
    let of = id.key();
    *task = Some(of);
    let name = Arc::clone(name);
    names.names.insert(of, name);
}

impl Drop for TaskName {
    fn drop(&mut self) {
        let mut names = lock();
        let task = names.tasks.remove(&self.0);
        let of = task.as_ref().and_then(|(of, _)| *of);
        let name = of.and_then(|of| names.names.remove(&of));
        // Ordering: see `reserve`.
        COUNT.fetch_sub(1, Ordering::Relaxed);
        drop(names);
        drop((task, name));
    }
}

/// The name of a task, while its future exists. A task of a simulation has one for the threads that simulate its run.
#[must_use]
pub fn task_name(id: Id) -> Option<Arc<str>> {
    // Ordering: see `reserve`.
    if COUNT.load(Ordering::Relaxed) == 0 {
        return None;
    }
    lock().names.get(&id.key()).cloned()
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::{TaskName, task_name};
    use crate::kernel::task::Id;
    use crate::port::SimulatedIds;

    #[test]
    fn a_name_lasts_as_long_as_the_future_whichever_is_known_first() {
        let id = Id::next();
        let (kept, name) = TaskName::reserve("reader");
        name.give(id);
        assert_eq!(task_name(id).as_deref(), Some("reader"));
        drop(kept);
        assert_eq!(task_name(id), None);
        let (kept, name) = TaskName::reserve("gone");
        drop(kept);
        name.give(id);
        assert_eq!(task_name(id), None, "the future had gone before its name came");
    }

    #[test]
    fn two_runs_at_once_have_the_same_ids_and_names_of_their_own() {
        let begin = |name| {
            SimulatedIds::first().give_to_thread();
            let (id, (kept, of)) = (Id::next(), TaskName::reserve(name));
            of.give(id);
            assert_eq!(Id::next().get(), id.get() + 1);
            (id, kept, SimulatedIds::take_from_thread())
        };
        let (id, first, of_first) = begin("of the first run");
        let (other, second, of_second) = begin("of the second run");
        assert_eq!(id, other);
        assert_eq!(task_name(id), None, "this thread simulates neither");
        of_first.give_to_thread();
        assert_eq!(task_name(id).as_deref(), Some("of the first run"));
        // It ends where the other one goes on.
        let of_first = SimulatedIds::take_from_thread();
        of_second.give_to_thread();
        drop(first);
        assert_eq!(task_name(id).as_deref(), Some("of the second run"));
        drop(second);
        assert_eq!(task_name(id), None);
        of_first.give_to_thread();
        assert_eq!(task_name(id), None);
        drop(SimulatedIds::take_from_thread());
    }
}
