//! The poll of a task that asks to hop, and the first one under the new color.

use crate::doubles::NeverParks;
use crate::stopping::stop;
use colored_core::{Address, Color, Scheduler, Step, Worker, hop};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

const RED: Color = Color::new(1);
const BLUE: Color = Color::new(2);

fn run(worker: &mut Worker) {
    while worker.step() == Step::Ran {}
}

/// A task that has asked to hop goes on under the new color, one that has not goes on where it is.
#[test]
fn a_hop_in_this_poll_says_under_which_color_the_task_goes_on() {
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NeverParks));
    let (red, blue) = (Address::new(&handle, RED), Address::new(&handle, BLUE));
    let next = move || (red.is_next(), blue.is_next());
    assert_eq!(next(), (false, false), "this thread runs nothing");
    let mut task = handle.spawn_colored(RED, async move {
        assert_eq!(next(), (true, false));
        let mut hops = pin!(hop(BLUE));
        poll_fn(|cx| {
            let polled = hops.as_mut().poll(cx);
            assert_eq!(next(), (false, true));
            polled
        })
        .await;
    });
    run(&mut workers[0]);
    assert!(task.try_take().is_some_and(|ended| ended.is_ok()));
    stop(&handle, &mut workers);
}

/// A combinator that polls a branch only if the branch's own waker has been woken: the move wakes the task alone.
#[test]
fn a_hop_wakes_its_branch() {
    struct Woken(AtomicBool);
    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NeverParks));
    let mut task = handle.spawn_colored(RED, async {
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        let (waker, mut branch) = (Waker::from(Arc::clone(&woken)), pin!(hop(BLUE)));
        poll_fn(|_| match woken.0.swap(false, Ordering::Relaxed) {
            true => branch.as_mut().poll(&mut Context::from_waker(&waker)),
            false => Poll::Pending,
        })
        .await;
        Color::current()
    });
    run(&mut workers[0]);
    assert_eq!(task.try_take().expect("it has ended").unwrap(), Some(BLUE));
    // The waker of another task is no waker of this one either.
    let (polls, place) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(None)));
    let (counts, leaves) = (Arc::clone(&polls), Arc::clone(&place));
    drop(handle.spawn_colored(
        RED,
        poll_fn(move |cx| {
            *leaves.lock().unwrap() = Some(cx.waker().clone());
            counts.fetch_add(1, Ordering::Relaxed);
            Poll::<()>::Pending
        }),
    ));
    run(&mut workers[0]);
    let waker = place.lock().unwrap().clone().expect("it waits");
    drop(handle.spawn_colored(RED, async move {
        let mut branch = pin!(hop(BLUE));
        poll_fn(|_| branch.as_mut().poll(&mut Context::from_waker(&waker))).await;
    }));
    run(&mut workers[0]);
    assert_eq!(polls.load(Ordering::Relaxed), 2);
    stop(&handle, &mut workers);
}
