//! Tasks with a stack, beside futures of the same runtime, `may`'s coroutines and threads.

mod echo;
mod pairs;

pub(super) use echo::case as echo;
pub(super) use pairs::case as pairs;

use crate::memory;
use crate::setup::{Setup, workers};
use colored_benches::measure::{Case, Entry, Role, Sample, Unit};
use colored_stackful::{spawn_unique, wait, yield_now};
use std::thread;

/// The stack of a thread, and of a coroutine of `may`, in bytes. Ours is as large in addresses as it is by default.
pub(crate) const STACK: usize = 64 << 10;

/// Sets `may` up. Its threads may change cores, as ours do.
pub(crate) fn prepare_may() {
    may::config().set_workers(workers()).set_stack_size(STACK / size_of::<usize>());
    may::config().set_worker_pin(false);
}

/// A thread with a small stack.
fn start<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> thread::JoinHandle<T> {
    thread::Builder::new().stack_size(STACK).spawn(work).expect("the system gives a thread")
}

/// Spawns and joins many tasks.
pub(super) fn spawn(setup: &Setup) -> Case {
    prepare_may();
    let count = setup.count(1_000, 100);
    let on = setup.runtimes().unique();
    let ours = move || {
        Sample::time(count, || {
            let sum: u64 = colored_benches::Rival::run(on, async move {
                let all = move || {
                    let tasks: Vec<_> =
                        (0..count).map(|index| spawn_unique(move || index)).collect();
                    tasks.into_iter().map(|task| wait(task).expect("no task panics")).sum()
                };
                spawn_unique(all).await.expect("no task panics")
            });
            assert_eq!(sum, count * (count - 1) / 2, "a task was lost");
        })
    };
    let may = move || {
        Sample::time(count, || {
            let all = may::go!(move || {
                let tasks: Vec<_> = (0..count).map(|index| may::go!(move || index)).collect();
                tasks.into_iter().map(|task| task.join().expect("no task panics")).sum::<u64>()
            });
            let sum = all.join().expect("no task panics");
            assert_eq!(sum, count * (count - 1) / 2, "a task was lost");
        })
    };
    let threads = move || {
        Sample::time(count, || {
            let tasks: Vec<_> = (0..count).map(|index| start(move || index)).collect();
            let sum: u64 = tasks.into_iter().map(|task| task.join().expect("none panics")).sum();
            assert_eq!(sum, count * (count - 1) / 2, "a thread was lost");
        })
    };
    let futures = super::spawn::sampler(on, count);
    let entries = vec![
        Entry::subject(ours),
        Entry::peer("futures", futures),
        Entry::peer("may", may),
        Entry::peer("threads", threads),
    ];
    Case { unit: Unit::ns("ns/task"), pace: setup.pace(), entries }
}

/// Many tasks yield many times.
pub(super) fn yields(setup: &Setup) -> Case {
    prepare_may();
    const TASKS: u64 = 200;
    let yields = setup.count(500, 5);
    let on = setup.runtimes().unique();
    let ours = move || {
        Sample::time(TASKS * yields, || {
            colored_benches::Rival::run(on, async move {
                let task = || spawn_unique(move || (0..yields).for_each(|_| yield_now()));
                for task in (0..TASKS).map(|_| task()).collect::<Vec<_>>() {
                    task.await.expect("no task panics");
                }
            })
        })
    };
    let may = move || {
        Sample::time(TASKS * yields, || {
            let task = || may::go!(move || (0..yields).for_each(|_| may::coroutine::yield_now()));
            for task in (0..TASKS).map(|_| task()).collect::<Vec<_>>() {
                task.join().expect("no task panics");
            }
        })
    };
    let threads = move || {
        Sample::time(TASKS * yields, || {
            let task = || start(move || (0..yields).for_each(|_| thread::yield_now()));
            for task in (0..TASKS).map(|_| task()).collect::<Vec<_>>() {
                task.join().expect("no thread panics");
            }
        })
    };
    let entries = vec![
        Entry::subject(ours),
        Entry::peer("futures", super::yields::sampler(on, yields)),
        Entry::peer("may", may),
        Entry::peer("threads", threads),
    ];
    Case { unit: Unit::ns("ns/yield"), pace: setup.pace(), entries }
}

/// The memory of tasks that wait.
pub(super) fn idle(setup: &Setup) -> Case {
    let entry = |role, name: &'static str| {
        memory::entry(role, name, format!("idle:stacks_{name}"), setup.mode)
    };
    let entries = vec![
        entry(Role::Subject, "colored"),
        entry(Role::Peer, "may"),
        entry(Role::Peer, "threads"),
    ];
    Case { unit: memory::bytes("B/task"), pace: setup.rounds(1), entries }
}
