//! The handle against the completion of its task.

use super::check;
use super::doubles::{Port, lane, run_beside, spawn};
use crate::sync::{Arc, Mutex};
use loom::thread;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Counts how often it was woken. The payload makes a leak visible.
struct Count(AtomicUsize, #[expect(dead_code, reason = "loom finds it if it leaks")] Arc<()>);

impl Wake for Count {
    fn wake(self: std::sync::Arc<Self>) {
        // Ordering: read after the threads have been joined.
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn counter() -> (std::sync::Arc<Count>, Waker) {
    let count = std::sync::Arc::new(Count(AtomicUsize::new(0), Arc::new(())));
    (std::sync::Arc::clone(&count), Waker::from(count))
}

fn poll<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

/// Either the handle finds the output, or it is woken and finds it then.
#[test]
fn register_against_completion() {
    check(|| {
        let port = Port::new();
        let lane = lane(&port);
        let output = Arc::new(7);
        let mut join = spawn(&lane, async move { output });
        let thread = run_beside(&port, || ());
        let (count, waker) = counter();
        let early = poll(&mut join, &waker);
        thread.join().unwrap();
        if early.is_pending() {
            assert_eq!(count.0.load(Ordering::Relaxed), 1, "the joiner was not woken");
            assert!(poll(&mut join, &waker).is_ready());
        }
    });
}

/// The waker that was given last is woken.
#[test]
fn change_of_waker_against_completion() {
    check(|| {
        let port = Port::new();
        let lane = lane(&port);
        let mut join = spawn(&lane, async {});
        let (_, first) = counter();
        assert!(poll(&mut join, &first).is_pending());
        let thread = run_beside(&port, || ());
        let (count, second) = counter();
        let changed = poll(&mut join, &second);
        thread.join().unwrap();
        if changed.is_pending() {
            assert_eq!(count.0.load(Ordering::Relaxed), 1, "the joiner was not woken");
            assert!(poll(&mut join, &second).is_ready());
        }
    });
}

/// The output is dropped by one of the two, and so is the waker.
/// Shows G8.
#[test]
fn drop_against_completion() {
    check(|| {
        let port = Port::new();
        let lane = lane(&port);
        let output = Arc::new(7);
        let mut join = spawn(&lane, async move { output });
        let (_, waker) = counter();
        assert!(poll(&mut join, &waker).is_pending());
        let thread = run_beside(&port, || ());
        drop(join);
        thread.join().unwrap();
    });
}

/// The handle goes before the first poll, while the task is run: the fast way and the slow one.
#[test]
fn detach_against_first_poll() {
    check(|| {
        let port = Port::new();
        let lane = lane(&port);
        let output = Arc::new(7);
        let join = spawn(&lane, async move { output });
        let thread = run_beside(&port, || ());
        drop(join);
        thread.join().unwrap();
    });
}

/// A handle that is polled on one thread and then on another takes its waker along.
#[test]
fn a_handle_moves_while_its_task_ends() {
    check(|| {
        let port = Port::new();
        let lane = lane(&port);
        let mut join = spawn(&lane, async { 7 });
        let (_, first) = counter();
        assert!(poll(&mut join, &first).is_pending());
        let found = Arc::new(Mutex::new(None));
        let (result, runner) = (Arc::clone(&found), Arc::clone(&port));
        let thread = thread::spawn(move || *result.lock() = join.try_take());
        runner.run_all();
        thread.join().unwrap();
        let found = found.lock().take();
        assert!(found.is_none_or(|output| output.expect("not aborted") == 7));
    });
}
