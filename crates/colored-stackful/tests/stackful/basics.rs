//! Spawning, waiting, ending.

use crate::support::{run, runtime};
use colored::time::Duration;
use colored::{Color, Handle};
use colored_stackful as stackful;
use std::thread;

#[test]
fn a_closure_waits_and_returns() {
    let sum = runtime(2).block_on(async {
        stackful::spawn(7, || {
            assert_eq!(Color::current(), Some(Color::new(7)));
            stackful::sleep(Duration::from_millis(2));
            stackful::yield_now();
            stackful::wait(async { 40 }) + stackful::wait(colored::spawn(async { 2 })).unwrap()
        })
        .await
        .unwrap()
    });
    assert_eq!(sum, 42);
}

#[test]
fn two_closures_wait_beside_each_other() {
    let both = runtime(1).block_on(async {
        stackful::spawn(7, || {
            let (send, receive) = colored::sync::oneshot::channel();
            let greeting = String::from("hello");
            stackful::join(
                || stackful::wait(receive).unwrap(),
                || {
                    stackful::yield_now();
                    send.send(greeting.len()).unwrap();
                    greeting.as_str()
                },
            )
            .0
        })
        .await
        .unwrap()
    });
    assert_eq!(both, 5);
}

#[test]
fn a_stackful_task_hops_and_stays_on_its_thread() {
    run(4, async {
        let task = stackful::spawn(1, || {
            let thread = thread::current().id();
            for color in [2, 3, 1, 2] {
                stackful::wait(colored::hop(color));
                assert_eq!(Color::current(), Some(Color::new(color)));
                assert_eq!(thread::current().id(), thread);
            }
        });
        task.await.unwrap();
    });
}

#[test]
fn a_task_is_spawned_from_a_thread_that_has_entered_the_runtime() {
    let runtime = runtime(2);
    let handle: Handle = runtime.handle().clone();
    let task = thread::spawn(move || {
        let _inside = handle.enter();
        stackful::spawn(1, || Color::current().unwrap())
    });
    let task = task.join().unwrap();
    assert_eq!(runtime.run(task).unwrap(), Color::new(1));
}
