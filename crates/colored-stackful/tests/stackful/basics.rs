//! Spawning, waiting, ending.

use crate::support::runtime;
use colored::Color;
use colored::time::Duration;
use colored_stackful as stackful;

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
