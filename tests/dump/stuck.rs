//! Dumps while workers are stuck.

use colored::Color;
use colored::diagnose::dump::WorkerState;
use colored_tests::attempts::within;
use colored_tests::gate::Gate;
use colored_tests::{alone, runtime, shared};
use std::future::pending;
use std::thread;
use std::time::{Duration, Instant};

/// The aim of a dump while every worker is stuck.
const SOON: Duration = Duration::from_millis(20);

/// Shows G14.
#[test]
fn a_dump_while_every_worker_is_stuck_names_color_task_place_and_worker_in_20_ms() {
    alone(|| {
        within(SOON, || {
            let runtime = runtime(2);
            let handle = runtime.handle();
            let line = line!() + 1;
            let waiting = handle.spawn_colored(3, pending::<()>());
            let names = [Color::named("stuck one"), Color::named("stuck two")];
            let gates = names.map(|color| Gate::close(handle, color));
            // Their polls last for longer than a slice: the workers are stuck, not just busy.
            thread::sleep(Duration::from_millis(30));
            let begin = Instant::now();
            let dump = handle.dump();
            let mut taken = begin.elapsed();
            let mut found = Vec::new();
            for worker in dump.workers() {
                let WorkerState::Running { color, task: Some((_, spawned)), time, .. } =
                    worker.state
                else {
                    panic!("worker {} is stuck in a task", worker.worker)
                };
                assert!(spawned.file().ends_with("gate.rs"), "{spawned}");
                assert!(time >= Duration::from_millis(30), "{time:?}");
                let thread = worker.thread.as_deref().unwrap_or("thread 0: S");
                // The machine may have given it no CPU since, on which to go to sleep.
                if cfg!(target_os = "linux") && !thread.contains(": S (sleeping)") {
                    println!("another attempt: {thread}");
                    taken = Duration::MAX;
                }
                found.push(color);
            }
            found.sort_unstable();
            let mut names = names;
            names.sort_unstable();
            assert_eq!(found, names);
            let waits = dump.tasks().find(|task| task.id() == waiting.id()).expect("it waits");
            assert_eq!(waits.spawned().line(), line);
            let text = dump.to_string();
            assert!(
                text.contains("worker 0 runs task ") && text.contains("color \"stuck two\""),
                "{text}"
            );
            gates.into_iter().for_each(Gate::open);
            taken
        });
    });
}

/// A color in which a poll does not end, and one that is queued behind it.
/// Shows G14.
#[test]
fn a_color_that_cannot_be_read_is_named() {
    shared(|| {
        let runtime = runtime(1);
        let handle = runtime.handle();
        let first = handle.spawn_colored(1, pending::<()>());
        let second = handle.spawn_colored(2, pending::<()>());
        colored_tests::settle(&runtime, 2);
        let gate = Gate::close(handle, 1);
        drop(handle.spawn_colored(2, async {}));
        let dump = handle.dump();
        assert_eq!(dump.unread(), [Color::new(1), Color::new(2)]);
        let listed = |id| dump.tasks().any(|task| task.id() == id);
        assert!(!listed(first.id()) && !listed(second.id()));
        assert!(dump.to_string().contains("color 0x2: in use or queued all the time"), "{dump}");
        gate.open();
        colored_tests::settle(&runtime, 1);
        colored_tests::settle(&runtime, 2);
        let dump = handle.dump();
        let listed = |id| dump.tasks().any(|task| task.id() == id);
        assert!(listed(first.id()) && listed(second.id()));
    });
}
