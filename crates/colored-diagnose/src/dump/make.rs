//! How a dump is made.

use super::native::Stacks;
use super::{CallDump, Dump, WorkerDump, WorkerState, addresses, keeper};
use crate::kernel;
use crate::subject::{Call, Subject};
use crate::wall;
use colored_core::dump::{Dumped, Dumping};
use colored_core::task_name;
use std::thread;
use std::time::Duration;

/// The time between two looks at the lanes that are not idle. Short beside the 10 ms after which a worker is stuck.
pub(super) const LOOK: Duration = Duration::from_micros(100);

/// Makes a dump of a runtime. Waits while another thread makes one.
pub fn make(subject: &dyn Subject) -> Dump {
    let (begin, scheduler) = (wall::now(), subject.scheduler());
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
    let notes = subject.notes();
    let leaves = seen.sheet.tasks().iter().filter_map(|task| task.leaf);
    let descriptors = leaves.filter_map(|(leaf, _)| notes.told(leaf)?.descriptor());
    let sockets = addresses::of(descriptors);
    let name = |id| Some((id, task_name(id)?));
    let names = seen.sheet.tasks().iter().filter_map(|task| name(task.id)).collect();
    let workers = workers(subject, &seen);
    let calls = calls(subject);
    let keepers = keeper::keepers(&seen);
    Dump { seen, names, workers, calls, keepers, sockets, notes, took: wall::since(begin) }
}

/// A worker that has run one color for so long is looked at more closely.
const LONG: Duration = Duration::from_millis(10);

fn workers(subject: &dyn Subject, seen: &Dumped) -> Vec<WorkerDump> {
    let scheduler = subject.scheduler();
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
        let thread = subject.diagnosis().threads.number_of(worker).filter(|_| is_long);
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

fn calls(subject: &dyn Subject) -> Vec<CallDump> {
    let dump =
        |Call { class, since, spawned }| CallDump { class, time: wall::since(since), spawned };
    subject.calls().into_iter().map(dump).collect()
}
