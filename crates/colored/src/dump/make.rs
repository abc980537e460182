//! How a dump is made.

use super::native::Stacks;
use super::{CallDump, Dump, WorkerDump, WorkerState, addresses, keeper, kernel};
use crate::driver::Driver;
use crate::wait_reason::Told;
use crate::wall;
use colored_core::dump::{Dumped, Dumping};
use colored_core::{Scheduler, task_name};
use std::thread;
use std::time::Duration;

/// The time between two looks at the lanes that are not idle. Short beside the 10 ms after which a worker is stuck.
pub(super) const LOOK: Duration = Duration::from_micros(100);

/// Makes a dump of a runtime. Waits while another thread makes one.
pub(crate) fn make(scheduler: &Scheduler, driver: &Driver) -> Dump {
    let begin = wall::now();
    let mut dumping = loop {
        match Dumping::begin(scheduler) {
            Some(dumping) => break dumping,
            None => thread::sleep(LOOK),
        }
    };
    while dumping.go_on() {}
    while !dumping.is_done() {
        thread::sleep(LOOK);
    }
    let seen = dumping.end();
    let tick = driver.clock.now_tick();
    let leaves = seen.sheet.tasks().iter().filter_map(|task| task.leaf);
    let descriptors = leaves.filter_map(|(leaf, _)| Told::of(leaf, tick)?.descriptor());
    let sockets = addresses::of(descriptors);
    let name = |id| Some((id, task_name(id)?));
    let names = seen.sheet.tasks().iter().filter_map(|task| name(task.id)).collect();
    let workers = workers(scheduler, driver, &seen);
    let calls = calls(driver);
    let keepers = keeper::keepers(&seen);
    Dump { seen, names, workers, calls, keepers, sockets, tick, took: wall::since(begin) }
}

/// A worker that has run one color for so long is looked at more closely.
const LONG: Duration = Duration::from_millis(10);

fn workers(scheduler: &Scheduler, driver: &Driver, seen: &Dumped) -> Vec<WorkerDump> {
    let state = |worker: usize| match seen.running[worker] {
        Some(slice) => WorkerState::Running {
            color: slice.color,
            task: slice.task,
            time: Duration::from_nanos(slice.nanos),
        },
        None if scheduler.is_parked(worker) => WorkerState::Parked,
        None if scheduler.is_absent(worker) => WorkerState::Absent,
        None => WorkerState::Searching,
    };
    let stacks = Stacks::default();
    let all = (0..seen.running.len()).map(|worker| {
        let state = state(worker);
        let is_long = matches!(state, WorkerState::Running { time, .. } if time >= LONG);
        let thread = driver.threads.number(worker).filter(|_| is_long);
        let stack = thread.and_then(|thread| stacks.of_thread(thread));
        let mut thread = thread.and_then(kernel::state);
        if let (Some(thread), Some(Err(why))) = (&mut thread, &stack) {
            *thread += "; ";
            *thread += why;
        }
        let stack = stack.and_then(Result::ok).unwrap_or_default();
        WorkerDump { worker, state, thread, stack }
    });
    all.filter(|worker| !matches!(worker.state, WorkerState::Absent)).collect()
}

fn calls(driver: &Driver) -> Vec<CallDump> {
    let calls = driver.pool.running().into_iter();
    calls
        .map(|(class, call)| {
            // The places of file operations are in this crate.
            let spawned = (class != "fs").then_some(call.site);
            CallDump { class, time: wall::since(call.since), spawned }
        })
        .collect()
}
