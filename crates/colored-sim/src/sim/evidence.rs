//! What else than its choices may have decided a run, as far as the process sees it. Only a process with one simulation, as
//! [`child`](super::child) starts it, knows that all of this belongs to the run.

use super::{keys, run, turns};
use std::collections::BTreeMap;
use std::fs;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// What was seen since the process began.
static SEEN: Mutex<Evidence> =
    Mutex::new(Evidence { hashers: 0, threads: Vec::new(), wakers: Vec::new() });

/// What may have decided a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Evidence {
    /// How many hashers with random keys the run has made.
    pub(super) hashers: u64,
    /// Names of threads that have begun during the run, and were there at its end.
    pub(super) threads: Vec<String>,
    /// Names of threads other than the run's that have made a task runnable.
    pub(super) wakers: Vec<String>,
}

/// Looks at a run from now on until it is dropped.
pub(super) struct Watch {
    keys: Option<[u64; 2]>,
    /// None if nothing is noted.
    threads: Option<BTreeMap<String, String>>,
}

impl Watch {
    /// Begins. Each run takes one hasher for itself here, whether something is noted or not, so that the others are the same.
    pub(super) fn begin(notes: bool) -> Self {
        Self { keys: keys::next(), threads: notes.then(threads) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let Some(before) = &self.threads else { return };
        let hashers = keys::made_between(self.keys, keys::next());
        let new = threads().into_iter().filter(|(id, _)| !before.contains_key(id));
        note(|seen| {
            seen.hashers = seen.hashers.max(hashers);
            new.for_each(|(_, name)| add(&mut seen.threads, name));
        });
    }
}

/// The threads of this process and their names, on systems that show them as Linux does.
fn threads() -> BTreeMap<String, String> {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let name = |path: std::path::PathBuf| {
        let name = fs::read_to_string(path.join("comm")).ok()?;
        Some((path.file_name()?.to_str()?.to_owned(), name.trim_end().to_owned()))
    };
    tasks.filter_map(|task| name(task.path())).collect()
}

/// To be called where a task of a simulation becomes runnable: notes the thread, if it is another one.
pub(super) fn note_wake() {
    if !run::is_on() {
        let thread = thread::current();
        let name = thread.name().unwrap_or("a thread without a name");
        // A thread of a run that all threads go on with at once.
        if name != turns::THREAD {
            note(|seen| add(&mut seen.wakers, name.to_owned()));
        }
    }
}

fn note(f: impl FnOnce(&mut Evidence)) {
    f(&mut SEEN.lock().unwrap_or_else(PoisonError::into_inner));
}

fn add(names: &mut Vec<String>, name: String) {
    // A program may have many threads.
    if names.len() < 8 && !names.contains(&name) {
        names.push(name);
    }
}

/// What was seen since the last call.
pub(super) fn take() -> Evidence {
    let mut taken = Evidence::default();
    note(|seen| taken = std::mem::take(seen));
    taken
}
