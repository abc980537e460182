//! Work that ends only if every worker comes.

use colored::{Runtime, spawn_unique};
use std::sync::{Arc, Barrier};

/// Runs as many tasks as there are workers, each of which holds its worker until all run. They are
/// queued by one worker, to be taken from it, or by this thread, to be fetched.
pub fn all_at_once(runtime: &Runtime, workers: usize, from_a_worker: bool) {
    let meeting = Arc::new(Barrier::new(workers));
    let meet = |meeting: Arc<Barrier>| async move {
        let _ = meeting.wait();
    };
    let tasks: Vec<_> = if from_a_worker {
        runtime.run(async move {
            (0..workers).map(|_| spawn_unique(meet(Arc::clone(&meeting)))).collect()
        })
    } else {
        let handle = runtime.handle();
        (0..workers).map(|_| handle.spawn_unique(meet(Arc::clone(&meeting)))).collect()
    };
    for task in tasks {
        runtime.run(task).unwrap();
    }
}
