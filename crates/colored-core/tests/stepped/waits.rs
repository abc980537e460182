//! The two waits of a color, with a clock that the test moves.

use crate::doubles::Clock;
use crate::stopping::stop;
use colored_core::{
    Color, ColorCell, Level, Scheduler, SchedulerHandle, Step, Usage, Worker, exclusive, hop, when,
    yield_now,
};
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

const RED: Color = Color::new(1);
const BLUE: Color = Color::new(2);
const GREEN: Color = Color::new(3);
/// Some time: a whole number of the meter's units, longer than a slice.
const T: u64 = 1024 * 1000;

struct Scene {
    handle: SchedulerHandle,
    workers: Vec<Worker>,
    clock: Clock,
}

impl Scene {
    fn at(level: Level) -> Self {
        let clock = Clock::default();
        let (handle, workers) = Scheduler::with_workers(1, 1, Box::new(clock.clone()));
        handle.scheduler().set_level(level);
        clock.spend(T);
        Self { handle, workers, clock }
    }

    fn new() -> Self {
        Self::at(Level::Tasks)
    }

    fn spawn(&self, color: Color, future: impl Future<Output = ()> + Send + 'static) {
        drop(self.handle.spawn_colored(color, future));
    }

    /// A task that takes so long.
    fn busy(&self, color: Color, time: u64) {
        let clock = self.clock.clone();
        self.spawn(color, async move { clock.spend(time) });
    }

    fn run_all(&mut self) {
        while self.workers[0].step() == Step::Ran {}
    }

    fn usage(&self, color: Color) -> Usage {
        let observed = self.handle.scheduler().usage();
        let found = observed.colors.iter().find(|of| of.color == color);
        found.map_or_else(Usage::default, |found| found.usage)
    }

    /// Waits for the color and for a CPU, run time, time kept: in units of `T`. And how many waits there were.
    fn times(&self, color: Color) -> ([u64; 4], u64) {
        let Usage { wait_color, wait_cpu, run, kept, waits, .. } = self.usage(color);
        let times = [wait_color, wait_cpu, run, kept].map(|time| time.as_nanos() as u64);
        assert!(times.iter().all(|time| time % T == 0), "{times:?}");
        (times.map(|time| time / T), waits)
    }

    fn shut_down(mut self) {
        stop(&self.handle, &mut self.workers);
    }
}

/// A gate that opens once.
#[derive(Clone, Default)]
struct Gate(Arc<Mutex<(bool, Option<Waker>)>>);

impl Gate {
    fn open(&self) {
        let mut gate = self.0.lock().unwrap();
        gate.0 = true;
        let waker = gate.1.take();
        drop(gate);
        waker.expect("a task waits").wake();
    }

    async fn pass(self) {
        poll_fn(|cx| {
            let mut gate = self.0.lock().unwrap();
            gate.1 = Some(cx.waker().clone());
            if gate.0 { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

#[test]
fn a_task_waits_for_a_cpu_until_its_color_runs_and_then_for_its_color() {
    let mut scene = Scene::new();
    scene.busy(RED, 10 * T);
    scene.busy(RED, 20 * T);
    scene.clock.spend(3 * T);
    assert_eq!(scene.times(RED), ([0, 6, 0, 0], 0), "of waits that go on");
    assert_eq!(scene.workers[0].step(), Step::Ran);
    scene.clock.spend(2 * T);
    scene.run_all();
    assert_eq!(scene.times(RED), ([10, 8, 30, 0], 2));
    scene.shut_down();
}

#[test]
fn a_section_that_waits_keeps_the_color() {
    let mut scene = Scene::new();
    let gate = Gate::default();
    scene.spawn(RED, exclusive(gate.clone().pass()));
    scene.busy(RED, T);
    scene.run_all();
    scene.clock.spend(5 * T);
    assert_eq!(scene.times(RED), ([5, 0, 0, 5], 1));
    gate.open();
    scene.clock.spend(2 * T);
    scene.run_all();
    // The section, which was woken, and the task behind it wait for the worker, twice `2 * T`.
    assert_eq!(scene.times(RED), ([5, 2 + 2, 1, 5], 3));
    scene.shut_down();
}

/// The closure has red and waits for blue, which a section keeps.
#[test]
fn a_when_that_lacks_a_color_keeps_the_others() {
    let mut scene = Scene::new();
    let gate = Gate::default();
    scene.spawn(BLUE, exclusive(gate.clone().pass()));
    scene.run_all();
    let cells = [RED, BLUE].map(|color| ColorCell::new_in(&scene.handle, color, ()));
    scene.spawn(GREEN, async move {
        let [red, blue] = &cells;
        when((red, blue), |(), ()| ()).await;
    });
    scene.run_all();
    scene.busy(RED, T);
    scene.clock.spend(5 * T);
    scene.run_all();
    gate.open();
    scene.run_all();
    let ([color, cpu, run, kept], _) = scene.times(RED);
    assert_eq!([color, cpu, run, kept], [5, 0, 1, 5]);
    scene.shut_down();
}

#[test]
fn readers_keep_the_color() {
    let mut scene = Scene::new();
    let cell = ColorCell::new_in(&scene.handle, RED, ());
    let (clock, handle) = (scene.clock.clone(), scene.handle.clone());
    let reader = cell.clone();
    scene.spawn(GREEN, async move {
        // A write before it lets the reader queue.
        reader.post(|()| ());
        let read = move |&(): &()| {
            drop(handle.spawn_colored(RED, async {}));
            clock.spend(4 * T);
        };
        reader.read(read).await;
    });
    scene.run_all();
    let ([color, cpu, ..], _) = scene.times(RED);
    assert_eq!([color, cpu], [4, 0]);
    drop(cell);
    scene.shut_down();
}

#[test]
fn a_closure_that_runs_at_once_holds_the_color() {
    let mut scene = Scene::new();
    let cell = ColorCell::new_in(&scene.handle, RED, ());
    let (clock, handle) = (scene.clock.clone(), scene.handle.clone());
    scene.spawn(GREEN, async move {
        let call = move |(): &mut ()| {
            drop(handle.spawn_colored(RED, async {}));
            clock.spend(4 * T);
        };
        cell.call(call).await;
    });
    scene.run_all();
    let ([color, cpu, run, _], waits) = scene.times(RED);
    assert_eq!(([color, cpu, run], waits >= 1), ([4, 0, 4], true));
    scene.shut_down();
}

#[test]
fn a_hop_is_a_wait_under_the_new_color() {
    let mut scene = Scene::new();
    let clock = scene.clock.clone();
    scene.spawn(RED, async move {
        clock.spend(2 * T);
        hop(BLUE).await;
        clock.spend(3 * T);
    });
    scene.clock.spend(T);
    assert_eq!(scene.workers[0].step(), Step::Ran);
    scene.clock.spend(7 * T);
    scene.run_all();
    assert_eq!(scene.times(RED), ([0, 1, 2, 0], 1));
    assert_eq!(scene.times(BLUE), ([0, 7, 3, 0], 1));
    scene.shut_down();
}

#[test]
fn a_yield_is_a_wait_behind_the_others() {
    let mut scene = Scene::new();
    let clock = scene.clock.clone();
    scene.spawn(RED, async move {
        clock.spend(2 * T);
        yield_now().await;
        clock.spend(2 * T);
    });
    scene.busy(RED, 5 * T);
    scene.run_all();
    assert_eq!(scene.times(RED), ([2 + 5, 0, 9, 0], 3));
    scene.shut_down();
}

#[test]
fn what_was_queued_before_the_recording_is_not_counted() {
    let mut scene = Scene::at(Level::Off);
    scene.busy(RED, T);
    scene.busy(RED, T);
    scene.clock.spend(9 * T);
    scene.handle.scheduler().set_level(Level::Tasks);
    scene.busy(RED, T);
    scene.clock.spend(T);
    scene.run_all();
    let usage = scene.usage(RED);
    assert_eq!((usage.waits, usage.turns, usage.depth), (1, 3, 0));
    // The third waits until the second has run, in part for a CPU: nobody knows since when the lane was queued.
    assert_eq!(scene.times(RED).0[0], 2);
    scene.shut_down();
}

#[test]
fn a_wait_in_which_the_recording_was_off_is_not_counted() {
    let mut scene = Scene::new();
    scene.busy(RED, T);
    scene.clock.spend(3 * T);
    scene.handle.scheduler().set_level(Level::Off);
    scene.clock.spend(100 * T);
    scene.handle.scheduler().set_level(Level::Tasks);
    scene.clock.spend(T);
    scene.busy(RED, T);
    scene.run_all();
    let usage = scene.usage(RED);
    assert_eq!((usage.waits, usage.depth), (2, 0));
    let ([color, cpu, run, _], _) = scene.times(RED);
    assert!(cpu <= 4, "the wait began anew: {cpu}");
    assert_eq!((color, run), (1, 2), "the second waits for the first");
    scene.shut_down();
}

/// A section is open, and a task waits for it, when the recording ends.
#[test]
fn no_time_is_counted_while_the_recording_is_off() {
    let mut scene = Scene::new();
    let gate = Gate::default();
    scene.spawn(RED, exclusive(gate.clone().pass()));
    scene.busy(RED, T);
    scene.run_all();
    scene.handle.scheduler().set_level(Level::Off);
    let ended = scene.times(RED);
    scene.clock.spend(100 * T);
    assert_eq!(scene.times(RED), ended);
    gate.open();
    scene.run_all();
    scene.clock.spend(100 * T);
    assert_eq!(scene.times(RED).0, [0; 4]);
    scene.shut_down();
}
