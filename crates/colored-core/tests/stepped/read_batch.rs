//! Readers that had to wait and are admitted together, stepped by hand.

use crate::doubles::Clock;
use crate::stopping::stop;
use colored_core::{
    CallError, Color, ColorCell, ColorLocal, Scheduler, SchedulerHandle, Step, Worker,
};
use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

/// The cell's color.
const RED: Color = Color::new(1);
/// Readers in a batch.
const READERS: usize = 20;

/// The order of the runs: a reader's number, or `None` for a task of another color.
type Trace = Arc<Mutex<Vec<Option<usize>>>>;
type Reading = Pin<Box<dyn Future<Output = Result<(), CallError>> + Send>>;

struct Scene {
    handle: SchedulerHandle,
    workers: Vec<Worker>,
    clock: Clock,
    trace: Trace,
}

impl Scene {
    fn new(workers: usize) -> Self {
        let clock = Clock::default();
        let (handle, workers) = Scheduler::with_workers(workers, 1, Box::new(clock.clone()));
        Self { handle, workers, clock, trace: Trace::default() }
    }

    /// Makes readers that take `nanos` each, and that wait for a write before them. They alone keep `cell`.
    fn readers(&self, nanos: u64) -> Vec<Reading> {
        let cell = ColorCell::new_in(&self.handle, RED, ());
        cell.post(|()| ());
        (0..READERS).map(|number| self.reader(&cell, number, nanos)).collect()
    }

    fn reader(&self, cell: &ColorCell<()>, number: usize, nanos: u64) -> Reading {
        self.reader_that(cell, number, nanos, || ())
    }

    /// Makes a reader that also calls `act` under the color that it finds.
    fn reader_that(&self, cell: &ColorCell<()>, number: usize, nanos: u64, act: fn()) -> Reading {
        let (cell, trace, clock) = (cell.clone(), Arc::clone(&self.trace), self.clock.clone());
        let mut reading: Reading = Box::pin(async move {
            let read = move |&(): &()| {
                trace.lock().unwrap().push(Some(number));
                clock.spend(nanos);
                act();
            };
            cell.try_read(read).await
        });
        assert!(poll(&mut reading).is_pending(), "the write is before it");
        reading
    }

    /// Steps one worker until it has nothing to do.
    fn run_all(&mut self) {
        while self.workers[0].step() == Step::Ran {}
    }

    /// How many readers ran in each step of one worker that ran some.
    fn readers_by_step(&mut self) -> Vec<usize> {
        let (mut counts, mut before) = (Vec::new(), 0);
        while self.workers[0].step() == Step::Ran {
            let now = self.order().len();
            counts.extend(Some(now - before).filter(|count| *count > 0));
            before = now;
        }
        counts
    }

    /// The readers in the order in which they ran.
    fn order(&self) -> Vec<usize> {
        self.trace.lock().unwrap().iter().flatten().copied().collect()
    }

    fn shut_down(mut self) {
        stop(&self.handle, &mut self.workers);
    }
}

fn poll(reading: &mut Reading) -> Poll<Result<(), CallError>> {
    reading.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

fn is_done(mut reading: Reading) -> bool {
    matches!(poll(&mut reading), Poll::Ready(Ok(())))
}

#[test]
fn all_read_once_and_begin_in_their_order() {
    let mut scene = Scene::new(2);
    let readers = scene.readers(100);
    scene.run_all();
    assert_eq!(scene.order(), (0..READERS).collect::<Vec<_>>());
    assert!(readers.into_iter().all(is_done));
    scene.shut_down();
}

/// A lane takes eight readers, if they are short.
#[test]
fn a_lane_takes_a_few() {
    let mut scene = Scene::new(2);
    let readers = scene.readers(100);
    assert_eq!(scene.readers_by_step(), [8, 8, 4]);
    assert!(readers.into_iter().all(is_done));
    scene.shut_down();
}

/// Also where the first reader is short.
/// Shows G7.
#[test]
fn a_lane_takes_no_more_when_it_has_taken_long() {
    let mut scene = Scene::new(2);
    let cell = ColorCell::new_in(&scene.handle, RED, ());
    cell.post(|()| ());
    let nanos = |number| if number == 0 { 100 } else { 20_000 };
    let readers: Vec<_> = (0..6).map(|number| scene.reader(&cell, number, nanos(number))).collect();
    assert_eq!(scene.readers_by_step(), [2, 1, 1, 1, 1]);
    assert!(readers.into_iter().all(is_done));
    scene.shut_down();
}

/// The lane stops after such a reader, so that no other one stands before the task that it has spawned, sees the
/// value that it has made, or has its color.
#[test]
fn a_lane_takes_no_more_after_one_that_leaves_something_there() {
    for leave in [spawn, keep, ask] {
        let mut scene = Scene::new(2);
        let cell = ColorCell::new_in(&scene.handle, RED, ());
        cell.post(|()| ());
        let readers: Vec<_> =
            (0..READERS).map(|number| scene.reader_that(&cell, number, 100, leave)).collect();
        drop(cell);
        let by_step = scene.readers_by_step();
        assert!(by_step.iter().all(|readers| *readers <= 1), "{by_step:?}");
        assert!(readers.into_iter().all(is_done));
        scene.shut_down();
    }
}

fn spawn() {
    drop(colored_core::spawn_here(async {}));
}

fn keep() {
    static SEEN: ColorLocal<AtomicU64> = ColorLocal::__new("SEEN", || AtomicU64::new(0));
    SEEN.with(|seen| assert_eq!(seen.fetch_add(1, Ordering::Relaxed), 0));
}

fn ask() {
    static COLORS: Mutex<BTreeSet<Color>> = Mutex::new(BTreeSet::new());
    let color = Color::current().expect("it runs under some color");
    assert!(COLORS.lock().unwrap().insert(color), "somebody has found {color:?} before");
}

/// Shows G7.
#[test]
fn long_readers_take_turns_with_others() {
    let mut scene = Scene::new(1);
    let readers = scene.readers(1_000_000);
    // A worker takes a part of the lanes in the injector.
    for color in 10..20 {
        let trace = Arc::clone(&scene.trace);
        let other = async move { trace.lock().unwrap().push(None) };
        drop(scene.handle.spawn_colored(Color::new(color), other));
    }
    scene.run_all();
    let other = scene.trace.lock().unwrap().iter().position(Option::is_none).expect("it ran");
    assert!(other <= 3, "{other} readers were before it");
    assert_eq!(scene.order(), (0..READERS).collect::<Vec<_>>());
    assert!(readers.into_iter().all(is_done));
    scene.shut_down();
}

/// There are as many lanes as workers, so both workers read at the same time.
#[test]
fn another_worker_runs_readers_of_the_same_batch() {
    let mut scene = Scene::new(2);
    let readers = scene.readers(1_000_000);
    assert_eq!(scene.workers[0].step(), Step::Ran);
    for count in 1..=READERS {
        assert_eq!(scene.workers[count % 2].step(), Step::Ran);
        assert_eq!(scene.order().len(), count, "worker {} had nothing to read", count % 2);
    }
    assert!(readers.into_iter().all(is_done));
    scene.shut_down();
}

#[test]
fn readers_that_have_not_begun_at_shutdown_get_an_error() {
    let mut scene = Scene::new(1);
    let readers = scene.readers(1_000_000);
    for _ in 0..3 {
        assert_eq!(scene.workers[0].step(), Step::Ran);
    }
    let trace = Arc::clone(&scene.trace);
    scene.shut_down();
    let begun = trace.lock().unwrap().len();
    assert!((1..READERS).contains(&begun), "{begun} had begun");
    for (number, mut reading) in readers.into_iter().enumerate() {
        match poll(&mut reading) {
            Poll::Ready(Ok(())) => assert!(number < begun),
            Poll::Ready(Err(CallError::ShutDown)) => assert!(number >= begun),
            other => panic!("reader {number}: {other:?}"),
        }
    }
    // The closures' own references are gone, and this one is left.
    assert_eq!(Arc::strong_count(&trace), 1);
}

/// A lane that is dropped drops the whole batch: a running reader may wait for another reader of the batch.
#[test]
fn a_lane_that_is_dropped_at_shutdown_drops_all_readers_that_have_not_begun() {
    let mut scene = Scene::new(2);
    let cell = ColorCell::new_in(&scene.handle, RED, ());
    cell.post(|()| ());
    let (left, gone) = std::sync::mpsc::channel::<()>();
    let first = {
        let (cell, trace) = (cell.clone(), Arc::clone(&scene.trace));
        let gone = Mutex::new(gone);
        Box::pin(async move {
            // The reader waits until all others are gone, and fails if they stay.
            let wait = move |&(): &()| {
                trace.lock().unwrap().push(Some(0));
                let end = gone.lock().unwrap().recv_timeout(std::time::Duration::from_secs(10));
                assert_eq!(end, Err(std::sync::mpsc::RecvTimeoutError::Disconnected));
            };
            cell.try_read(wait).await
        })
    };
    let mut readers: Vec<Reading> = vec![first];
    readers.extend((1..5).map(|_| -> Reading {
        let (cell, left) = (cell.clone(), left.clone());
        Box::pin(async move { cell.try_read(move |&()| drop(left.clone())).await })
    }));
    drop(left);
    readers.iter_mut().for_each(|reading| assert!(poll(reading).is_pending()));
    drop(cell);
    assert_eq!(scene.workers[0].step(), Step::Ran);
    let mut other = scene.workers.pop().expect("two workers");
    let handle = scene.handle.clone();
    let thread = std::thread::spawn({
        let trace = Arc::clone(&scene.trace);
        move || {
            while trace.lock().unwrap().is_empty() {
                std::thread::yield_now();
            }
            handle.scheduler().shut_down();
            while other.step() == Step::Ran {}
            other
        }
    });
    // The worker reads, and waits there.
    assert_eq!(scene.workers[0].step(), Step::Ran);
    scene.workers.push(thread.join().unwrap());
    assert!(matches!(poll(&mut readers[0]), Poll::Ready(Ok(()))));
    for reading in &mut readers[1..] {
        assert!(matches!(poll(reading), Poll::Ready(Err(CallError::ShutDown))));
    }
    scene.shut_down();
}
