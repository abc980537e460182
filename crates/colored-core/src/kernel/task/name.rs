//! The names of tasks, for texts: a table beside the tasks, so that a task without a name takes no memory for one.

use super::id::Id;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

static NAMES: Mutex<Names> =
    Mutex::new(Names { next: 0, tasks: BTreeMap::new(), names: BTreeMap::new() });

/// How many names there are: without one, nobody takes the lock.
static COUNT: AtomicUsize = AtomicUsize::new(0);

struct Names {
    next: u64,
    /// The names that are in use, and their tasks.
    tasks: BTreeMap<u64, (Option<Id>, Arc<str>)>,
    names: BTreeMap<Id, Arc<str>>,
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
    *task = Some(id);
    let name = Arc::clone(name);
    names.names.insert(id, name);
}

impl Drop for TaskName {
    fn drop(&mut self) {
        let mut names = lock();
        let task = names.tasks.remove(&self.0);
        let id = task.as_ref().and_then(|(id, _)| *id);
        let name = id.and_then(|id| names.names.remove(&id));
        // Ordering: see `reserve`.
        COUNT.fetch_sub(1, Ordering::Relaxed);
        drop(names);
        drop((task, name));
    }
}

/// The name of a task, while its future exists.
#[must_use]
pub fn task_name(id: Id) -> Option<Arc<str>> {
    // Ordering: see `reserve`.
    if COUNT.load(Ordering::Relaxed) == 0 {
        return None;
    }
    lock().names.get(&id).cloned()
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::{TaskName, task_name};
    use crate::kernel::task::Id;

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
}
