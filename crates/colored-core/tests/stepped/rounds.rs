//! How many slices come before a lane that has become runnable, stepped by hand (G7).

use crate::doubles::{Clock, by};
use crate::stopping::stop;
use colored_core::{
    Color, ColorCell, Options, Priority, Scheduler, SchedulerHandle, Step, Worker, yield_now,
};
use colored_lab::{Place, Places};
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

/// Workers, and the number of each turn that has run on them.
struct Bench {
    handle: SchedulerHandle,
    workers: Vec<Worker>,
    clock: Clock,
    over: Arc<AtomicBool>,
    ran: Arc<Mutex<Vec<usize>>>,
}

/// The number of a task that never ends.
const BUSY: usize = usize::MAX;

impl Bench {
    fn new(workers: usize, options: Options) -> Self {
        let (clock, options) = (Clock::default(), Options { slice_polls: 1, ..options });
        let (handle, workers) =
            Scheduler::with_options(workers, 1, Box::new(clock.clone()), options);
        Self { handle, workers, clock, over: Arc::default(), ran: Arc::default() }
    }

    /// Spawns `tasks` that never end on a worker, and gives each a turn. Each turn takes `nanos`.
    fn keep_busy(&mut self, worker: usize, tasks: usize, nanos: u64) {
        let (handle, over, ran) = (self.handle.clone(), self.over.clone(), self.ran.clone());
        let clock = self.clock.clone();
        let spawn_all = move || {
            for _ in 0..tasks {
                let (over, ran, clock) = (over.clone(), ran.clone(), clock.clone());
                drop(handle.spawn_unique(async move {
                    while !over.load(Ordering::Relaxed) {
                        ran.lock().unwrap().push(BUSY);
                        clock.spend(nanos);
                        yield_now().await;
                    }
                }));
            }
        };
        let color = Color::new(1 + worker as u64);
        self.handle.post_to_worker(worker, color, spawn_all).ok().expect("there is such a worker");
        self.run(worker, 1 + tasks);
    }

    /// Runs slices of a worker, and returns the numbers of the turns in them.
    fn run(&mut self, worker: usize, slices: usize) -> Vec<usize> {
        for _ in 0..slices {
            assert_eq!(self.workers[worker].step(), Step::Ran);
        }
        std::mem::take(&mut self.ran.lock().unwrap())
    }

    /// Spawns a task from this thread, which is no worker.
    fn spawn(&self, number: usize) {
        let ran = self.ran.clone();
        drop(self.handle.spawn_unique(async move { ran.lock().unwrap().push(number) }));
    }

    fn close(mut self) {
        self.over.store(true, Ordering::Relaxed);
        stop(&self.handle, &mut self.workers);
    }
}

/// The place of each number in `ran`, in the order of the numbers.
fn places(ran: &[usize], numbers: usize) -> Vec<usize> {
    let place = |number| ran.iter().position(|other| *other == number).expect("it has run");
    (0..numbers).map(place).collect()
}

fn lanes_from_outside_wait_for_each_lane_once(options: Options) {
    let mut bench = Bench::new(2, options);
    bench.keep_busy(0, 4, 0);
    // The worker stops in the middle of a round.
    bench.run(0, 2);
    (0..500).for_each(|number| bench.spawn(number));
    let ran = bench.run(0, 4 + 500 + 4);
    let places = places(&ran, 500);
    assert!(places.is_sorted(), "in the order in which they came");
    assert!(places[0] <= 4, "after {} slices of 4 lanes", places[0]);
    assert_eq!(places[499], places[0] + 499, "nobody had two turns meanwhile");
    // And the tasks that never end go on, each in its turn.
    assert!(bench.run(0, 8).iter().all(|number| *number == BUSY));
    bench.close();
}

/// Shows G7.
#[test]
fn five_hundred_from_outside_wait_for_each_lane_once() {
    lanes_from_outside_wait_for_each_lane_once(Options::default());
}

/// Likewise by a policy that leaves lanes from outside where they are.
/// Shows G7.
#[test]
fn five_hundred_from_outside_wait_for_each_lane_once_without_stealing() {
    for places in [
        &Places { place: Place::Usual, steals: false },
        &Places { place: Place::Least(8), steals: false },
    ] {
        lanes_from_outside_wait_for_each_lane_once(by(places));
    }
}

/// A stream of lanes from outside does not keep the worker's own lanes from their turns.
/// Shows G7.
#[test]
fn a_stream_from_outside_lets_the_others_run() {
    let mut bench = Bench::new(1, Options::default());
    bench.keep_busy(0, 4, 0);
    (0..10).for_each(|number| bench.spawn(number));
    let mut own = 0;
    for number in 10..1_010 {
        if bench.run(0, 1) == [BUSY] {
            own += 1;
        } else {
            // As many tasks come as go.
            bench.spawn(number);
        }
    }
    // A round has ten lanes from outside, and four of its own.
    assert!((270..300).contains(&own), "{own} of 1000 slices");
    bench.close();
}

/// The batch that an idle worker takes is older than the lanes that come from outside while it runs the batch.
/// Shows G7.
#[test]
fn a_batch_from_outside_runs_before_later_lanes() {
    let mut bench = Bench::new(1, Options::default());
    (0..200).for_each(|number| bench.spawn(number));
    let ran = bench.run(0, 200);
    assert!(ran.is_sorted(), "{ran:?}");
    bench.close();
}

/// Two tasks wake each other for ever through the `next` slot.
/// Shows G7.
#[test]
fn three_of_the_next_slot_come_before_one_from_outside() {
    let mut bench = Bench::new(1, Options::default());
    let wakers: Arc<Mutex<[Option<Waker>; 2]>> = Arc::default();
    for own in [0, 1] {
        let (wakers, ran) = (wakers.clone(), bench.ran.clone());
        drop(bench.handle.spawn_unique(poll_fn(move |cx| -> Poll<()> {
            ran.lock().unwrap().push(BUSY);
            let mut wakers = wakers.lock().unwrap();
            wakers[own] = Some(cx.waker().clone());
            if let Some(other) = &wakers[1 - own] {
                other.wake_by_ref();
            }
            Poll::Pending
        })));
    }
    bench.run(0, 20);
    (0..100).for_each(|number| bench.spawn(number));
    let ran = bench.run(0, 500);
    for (number, place) in places(&ran, 100).into_iter().enumerate() {
        assert!(place <= 4 * (number + 1), "{number} after {place} slices");
    }
    // The wakers own the tasks.
    *wakers.lock().unwrap() = [None, None];
    bench.close();
}

/// As many events as a batch needs to send lanes home.
const MANY: usize = 1_000;

/// Makes a lane that has run last on the first worker. Its task waits for a wake, and then records its turn.
fn waiting_lane(bench: &mut Bench) -> Waker {
    let (waker, ran) = (Arc::new(Mutex::new(None)), bench.ran.clone());
    let left = waker.clone();
    let mut polls = AtomicUsize::new(0);
    drop(bench.handle.spawn_unique(poll_fn(move |cx| {
        *polls.get_mut() += 1;
        if *polls.get_mut() > 1 {
            ran.lock().unwrap().push(0);
            return Poll::Ready(());
        }
        *left.lock().unwrap() = Some(cx.waker().clone());
        Poll::Pending
    })));
    bench.run(0, 1);
    waker.lock().unwrap().take().expect("it has been polled")
}

/// A lane that is sent home to a busy worker is behind the worker's lanes, and not behind a number of steps.
/// Shows G7.
#[test]
fn a_lane_sent_home_waits_for_each_lane_once() {
    let mut bench = Bench::new(2, Options::default());
    let waker = waiting_lane(&mut bench);
    bench.keep_busy(0, 4, 0);
    bench.run(0, 2);
    bench.workers[1].batch(MANY, || waker.wake());
    let ran = bench.run(0, 10);
    assert_eq!(places(&ran, 1), [4]);
    bench.close();
}

/// Lanes that were sent home before the first priority are as old as the lanes that were in the deque then.
/// Shows G7.
#[test]
fn a_lane_sent_home_before_the_first_priority_has_its_turn() {
    let mut bench = Bench::new(2, Options::default());
    let waker = waiting_lane(&mut bench);
    bench.keep_busy(0, 4, 0);
    bench.workers[1].batch(MANY, || waker.wake());
    bench.handle.set_priority(Color::new(9), Priority::Low);
    let ran = bench.run(0, 200);
    let place = places(&ran, 1)[0];
    assert!(place <= 16, "after {place} slices of 4 lanes");
    bench.close();
}

/// Shows G7.
#[test]
fn a_slice_has_4096_closures_or_64_polls() {
    // The time stands still, and is not 0.
    let clock = Clock::default();
    clock.spend(1_000_000_000);
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(clock));
    let (color, ran) = (Color::new(1), Arc::new(AtomicUsize::new(0)));
    let cell = ColorCell::new_in(&handle, color, Arc::clone(&ran));
    for _ in 0..5_000 {
        cell.post(|ran| {
            ran.fetch_add(1, Ordering::Relaxed);
        });
    }
    let mut step = || {
        assert_eq!(workers[0].step(), Step::Ran);
        ran.swap(0, Ordering::Relaxed)
    };
    assert_eq!((step(), step()), (4096, 904));
    for _ in 0..100 {
        let ran = Arc::clone(&ran);
        drop(handle.spawn_colored(color, async move { ran.fetch_add(1, Ordering::Relaxed) }));
    }
    assert_eq!((step(), step()), (64, 36));
    stop(&handle, &mut workers);
}
