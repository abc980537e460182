//! A batch whose closure panics ends as any other: the lanes that it has made runnable run, and the worker goes on
//! waking others.

use crate::doubles::Bells;
use colored_core::{Color, Scheduler, SchedulerHandle, Step, Worker};
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

struct Pair {
    handle: SchedulerHandle,
    workers: Vec<Worker>,
    bells: Bells,
}

impl Pair {
    fn new() -> Self {
        let bells = Bells::default();
        let (handle, workers) = Scheduler::with_workers(2, 1, Box::new(bells.clone()));
        Self { handle, workers, bells }
    }

    /// Steps one worker until it parks.
    fn run(&mut self, worker: usize) {
        while self.workers[worker].step() == Step::Ran {}
    }

    /// Runs a batch of the first worker that panics after `events`.
    fn run_panicking(&mut self, count: usize, events: impl FnOnce(&SchedulerHandle)) {
        let handle = self.handle.clone();
        let worker = &mut self.workers[0];
        let batch = || {
            worker.batch(count, || {
                events(&handle);
                resume_unwind(Box::new("on purpose"));
            })
        };
        assert!(catch_unwind(AssertUnwindSafe(batch)).is_err());
    }

    /// The first worker makes three lanes runnable at once, in a poll. Returns the number of lanes that have run.
    fn fill(&mut self) -> Arc<AtomicUsize> {
        let (handle, ran) = (self.handle.clone(), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&ran);
        drop(self.handle.spawn_colored(Color::new(9), async move {
            for color in 10..13 {
                let count = Arc::clone(&count);
                drop(handle.spawn_colored(Color::new(color), async move {
                    count.fetch_add(1, Ordering::Relaxed);
                }));
            }
        }));
        assert_eq!(self.workers[0].step(), Step::Ran);
        ran
    }
}

#[test]
fn others_are_woken_after_it() {
    let mut pair = Pair::new();
    pair.run(1);
    pair.run(0);
    pair.run_panicking(3, |handle| {
        for color in 1..4 {
            drop(handle.spawn_colored(Color::new(color), async {}));
        }
    });
    assert_eq!(pair.bells.rung(), 1, "the other is told of what the batch has left");
    pair.run(1);
    pair.run(0);
    let before = pair.bells.rung();
    let _ran = pair.fill();
    assert!(pair.bells.rung() > before, "a poll after the batch wakes the other");
}

/// A batch of many events collects the lanes that go to others, and hands them out at its end.
#[test]
fn lanes_of_a_batch_are_sent_home_at_its_end() {
    const MANY: u64 = 20;
    let mut pair = Pair::new();
    let (wakers, done) = (Arc::new(Mutex::new(Vec::<Waker>::new())), Arc::new(AtomicUsize::new(0)));
    for color in 1..=MANY {
        let (wakers, done, mut waited) = (Arc::clone(&wakers), Arc::clone(&done), false);
        drop(pair.handle.spawn_colored(
            Color::new(color),
            poll_fn(move |cx| {
                if std::mem::replace(&mut waited, true) {
                    done.fetch_add(1, Ordering::Relaxed);
                    return Poll::Ready(());
                }
                wakers.lock().unwrap().push(cx.waker().clone());
                Poll::Pending
            }),
        ));
    }
    pair.run(1);
    pair.run(0);
    let events = std::mem::take(&mut *wakers.lock().unwrap());
    assert_eq!(events.len() as u64, MANY, "all of them have run on the other worker, and wait");
    pair.run_panicking(events.len(), |_| events.into_iter().for_each(Waker::wake));
    assert!(pair.bells.rung() > 0, "the other is told of its lanes");
    pair.run(1);
    assert_eq!(done.load(Ordering::Relaxed) as u64, MANY);
    // The worker collects nothing any more.
    let ran = pair.fill();
    pair.run(0);
    assert_eq!(ran.load(Ordering::Relaxed), 3);
}
