//! A batch whose closure panics ends as any other: the lanes that it has made runnable run, and the worker goes on
//! waking others.

use crate::doubles::{Bells, by};
use colored_core::{
    Color, Destination, Options, Policy, Runnable, Scheduler, SchedulerHandle, Step, Worker,
};
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
        Self::with(Options::default())
    }

    fn with(options: Options) -> Self {
        let bells = Bells::default();
        let (handle, workers) = Scheduler::with_options(2, 1, Box::new(bells.clone()), options);
        Self { handle, workers, bells }
    }

    /// So many tasks, each under a color of its own, wait after a poll by the second worker. Returns their wakers, and
    /// how many have ended.
    fn wait_on_the_second(&mut self, tasks: u64) -> (Vec<Waker>, Arc<AtomicUsize>) {
        let (wakers, done) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
        for color in 1..=tasks {
            let (wakers, done, mut waited) = (Arc::clone(&wakers), Arc::clone(&done), false);
            drop(self.handle.spawn_colored(
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
        self.run(1);
        self.run(0);
        (std::mem::take(&mut *wakers.lock().unwrap()), done)
    }

    /// The lanes that wait for each worker.
    fn loads(&self) -> [usize; 2] {
        [0, 1].map(|worker| self.handle.scheduler().load(worker))
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
    let (events, done) = pair.wait_on_the_second(MANY);
    assert_eq!(events.len() as u64, MANY, "all of them have run on the other worker, and wait");
    pair.run_panicking(events.len(), |_| events.into_iter().for_each(Waker::wake));
    assert!(pair.bells.rung() > 0, "the other is told of its lanes");
    assert_eq!(pair.loads(), [0, MANY as usize]);
    pair.run(1);
    assert_eq!(done.load(Ordering::Relaxed) as u64, MANY);
    // The worker collects nothing any more.
    let ran = pair.fill();
    pair.run(0);
    assert_eq!(ran.load(Ordering::Relaxed), 3);
}

#[test]
fn a_lane_of_a_batch_of_few_events_runs_where_the_batch_is() {
    let mut pair = Pair::new();
    let (events, _) = pair.wait_on_the_second(1);
    let rung = pair.bells.rung();
    pair.run_panicking(1, |_| events.into_iter().for_each(Waker::wake));
    assert_eq!((pair.loads(), pair.bells.rung()), ([1, 0], rung));
}

/// A policy that leaves a lane where it became runnable means that.
#[test]
fn with_a_policy_no_lane_of_a_batch_is_sent_home() {
    #[derive(Debug)]
    struct Usual;
    impl Policy for Usual {
        fn destination(&self, _: Runnable, _: &Scheduler) -> Destination {
            Destination::Usual
        }
    }
    const MANY: usize = 20;
    let mut pair = Pair::with(by(&Usual));
    let (events, _) = pair.wait_on_the_second(MANY as u64);
    pair.run_panicking(MANY, |_| events.into_iter().for_each(Waker::wake));
    assert_eq!(pair.loads(), [MANY, 0]);
}
