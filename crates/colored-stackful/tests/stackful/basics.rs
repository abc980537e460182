//! Spawning, waiting, ending.

use colored::time::Duration;
use colored::{Color, Runtime};
use colored_stackful as stackful;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn runtime(workers: usize) -> Runtime {
    Runtime::builder().workers(workers).build().unwrap()
}

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

struct Count(Arc<AtomicUsize>);

impl Drop for Count {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn an_abort_unwinds_the_stack_once() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let count = Count(Arc::clone(&dropped));
    runtime(2).block_on(async {
        let task = stackful::spawn(7, move || {
            let _count = count;
            stackful::wait(std::future::pending::<()>());
        });
        colored::time::sleep(Duration::from_millis(5)).await;
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
    });
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
}

#[test]
fn a_panic_goes_to_the_handle() {
    let error = runtime(1).block_on(async {
        stackful::spawn(7, || {
            stackful::yield_now();
            panic!("on purpose")
        })
        .await
        .unwrap_err()
    });
    assert!(error.is_panic());
    let _: stackful::JoinError = error;
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
