//! Blocking calls are inside the runtime, although under no color.

use colored::task::{self, BlockingClass};
use colored::time::{Duration, sleep, timeout};
use colored::{Color, ColorCell, Handle, exclusive, hop, spawn, spawn_blocking, spawn_colored};
use colored_tests::gate::Gate;
use colored_tests::{Trace, join_all, panic_of, run, runtime, shared};

#[test]
fn a_blocking_call_spawns_calls_and_waits() {
    run(2, async {
        let cell = ColorCell::new(7, 1);
        let called = cell.clone();
        let sum = spawn_blocking(move || {
            assert_eq!(Color::current(), None);
            let handle = Handle::try_current().expect("it is inside");
            let task = spawn_colored(7, async { Color::current() });
            assert_eq!(handle.block_on(task).unwrap(), Some(Color::new(7)));
            handle.block_on(async move {
                sleep(Duration::from_millis(1)).await;
                called.call(|value| *value += 1).await;
                // A blocking call inside a blocking call.
                spawn_blocking(move || Handle::current().block_on(called.call(|value| *value)))
                    .await
            })
        });
        assert_eq!(sum.await.unwrap().unwrap(), 2);
        let said = spawn_blocking(|| panic_of(|| colored::spawn_here(async {}))).await.unwrap();
        assert!(said.contains("`spawn_here` where no color runs"), "{said}");
    });
}

#[test]
fn a_call_has_the_id_of_its_handle() {
    run(1, async {
        let class = BlockingClass::new("ids", 1).unwrap();
        let call = || task::try_id();
        for handle in [spawn_blocking(call), class.spawn(call), class.spawn_ordered(7, call)] {
            let id = handle.id();
            assert_eq!(handle.await.unwrap(), Some(id));
        }
        // A task on the thread has its own.
        let call = class.spawn(|| {
            let task = Handle::current().block_on(async { task::id() });
            (task, task::id())
        });
        let id = call.id();
        let (task, after) = call.await.unwrap();
        assert!(task != id && after == id);
    });
}

#[test]
fn each_call_is_in_the_runtime_that_it_was_given_to() {
    shared(|| {
        let (first, second) = (runtime(1), runtime(3));
        // The task belongs to the second runtime although the first one spawned it, and so do the tasks that it
        // spawns.
        let handle = second.handle().clone();
        let workers = first.run(async move {
            let seen = || Handle::current().metrics().workers.len();
            let other = handle.spawn_blocking(move || (seen(), spawn(async move { seen() })));
            let own = spawn_blocking(seen).await.unwrap();
            let (there, task) = other.await.unwrap();
            [own, there, task.await.unwrap()]
        });
        assert_eq!(workers, [1, 3, 3]);
        // The threads stay, and are in no runtime between two calls.
        assert!(Handle::try_current().is_none());
    });
}

/// In a section the call has its place in the order of the color.
#[test]
fn a_blocking_call_in_a_section_is_serial_with_its_color() {
    shared(|| {
        let (runtime, trace) = (runtime(2), Trace::new());
        let gate = Gate::close(runtime.handle(), 7);
        let (before, during, after) = (trace.clone(), trace.clone(), trace.clone());
        let tasks = [
            runtime.handle().spawn_colored(7, async move { before.push("before") }),
            runtime.handle().spawn_colored(7, async move {
                let inside = during.clone();
                let call = spawn_blocking(move || {
                    inside.push("begins");
                    std::thread::sleep(Duration::from_millis(20));
                    inside.push("ends");
                });
                exclusive(call).await.unwrap();
            }),
            runtime.handle().spawn_colored(7, async move { after.push("after") }),
        ];
        gate.open();
        runtime.run(join_all(tasks));
        assert_eq!(trace.take(), ["before", "begins", "ends", "after"]);
    });
}

/// The target of a blocking call's wait ends with the runtime, and so does the call.
#[test]
fn shutdown_ends_the_waits_of_blocking_calls() {
    shared(|| {
        let runtime = runtime(2);
        let (tell, told) = std::sync::mpsc::channel();
        let call = runtime.handle().spawn_blocking(move || {
            Handle::current().block_on(async {
                tell.send(()).unwrap();
                std::future::pending::<()>().await;
            });
        });
        told.recv().unwrap();
        runtime.shutdown_timeout(Duration::from_secs(60)).expect("the call ends");
        assert!(call.is_finished());
    });
}

#[test]
fn a_wait_in_a_blocking_call_may_time_out() {
    run(2, async {
        hop(7).await;
        let waits = spawn_blocking(|| {
            let never = std::future::pending::<()>();
            Handle::current().block_on(timeout(Duration::from_millis(5), never)).is_err()
        });
        assert!(waits.await.unwrap());
    });
}
