//! Work that ends only if every worker comes.

use crate::join_all;
use colored::{Handle, Runtime};
use std::sync::{Arc, Barrier};

/// Spawns as many tasks as there are workers, each of which holds its worker until all run, and then calls `f`: so each call
/// is on another worker. Returns what they return.
pub fn on_each<T: Send + 'static>(
    handle: &Handle,
    workers: usize,
    f: fn() -> T,
) -> impl Future<Output = Vec<T>> + Send + use<T> {
    let meeting = Arc::new(Barrier::new(workers));
    let call = |_| {
        let meeting = Arc::clone(&meeting);
        handle.spawn_unique(async move {
            meeting.wait();
            f()
        })
    };
    let calls: Vec<_> = (0..workers).map(call).collect();
    join_all(calls)
}

/// Runs a task on each worker. They are queued by one worker, to be taken from it, or by this thread, to be fetched.
pub fn all_at_once(runtime: &Runtime, workers: usize, from_a_worker: bool) {
    let handle = runtime.handle().clone();
    let meet = move || on_each(&handle, workers, || ());
    if from_a_worker {
        runtime.run(async move { meet().await });
    } else {
        runtime.run(meet());
    }
}
