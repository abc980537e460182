//! Priorities, stepped by hand. On real threads these cases are coincidences.

use crate::doubles::{Bells, NeverParks, by};
use colored_core::{
    Color, ColorCell, Options, Priority, Scheduler, SchedulerHandle, Step, Worker, spawn_local,
    when, yield_now,
};
use colored_lab::{Place, Places};
use std::future::poll_fn;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

fn one_worker(options: Options) -> (SchedulerHandle, Worker) {
    let (handle, mut workers) = Scheduler::with_options(1, 1, Box::new(NeverParks), options);
    (handle, workers.pop().expect("one worker"))
}

/// Colors that always have something to do.
fn saturate(handle: &SchedulerHandle, colors: std::ops::Range<u64>) {
    for color in colors {
        let endless = async {
            loop {
                yield_now().await;
            }
        };
        drop(handle.spawn_colored(Color::new(color), endless));
    }
}

/// Two tasks that are pinned to the worker, of two colors, and wake each other for ever.
fn play(handle: &SchedulerHandle, first: u64) {
    let wakers = Arc::new([const { Mutex::new(None::<Waker>) }; 2]);
    for own in 0..2 {
        let wakers = Arc::clone(&wakers);
        let local = poll_fn(move |cx| {
            *wakers[own].lock().unwrap() = Some(cx.waker().clone());
            let other = wakers[1 - own].lock().unwrap().take();
            other.inspect(Waker::wake_by_ref);
            Poll::<()>::Pending
        });
        let begin = async move { drop(spawn_local(local)) };
        drop(handle.spawn_colored(Color::new(first + own as u64), begin));
    }
}

fn flag(handle: &SchedulerHandle, color: u64) -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    let run = async move { set.store(true, Ordering::Relaxed) };
    drop(handle.spawn_colored(Color::new(color), run));
    flag
}

fn step_until(worker: &mut Worker, flag: &AtomicBool, most: u32) {
    let steps = (1..=most).find(|_| {
        let _ran = worker.step();
        flag.load(Ordering::Relaxed)
    });
    assert!(steps.is_some(), "not within {most} steps");
}

/// Lanes that were queued before the first priority are older than lanes that are queued by class.
#[test]
fn lanes_from_before_the_first_priority_have_their_turns() {
    for options in [
        Options::default(),
        by(&Places { place: Place::Home, steals: true }),
        by(&Places { place: Place::Everybody, steals: false }),
    ] {
        let (handle, mut worker) = one_worker(options);
        let left_over = flag(&handle, 1);
        handle.set_priority(Color::new(9), Priority::High);
        saturate(&handle, 2..4);
        step_until(&mut worker, &left_over, 20);
    }
}

/// A worker to which something is always pinned comes to every class.
#[test]
fn pinned_lanes_leave_the_lower_classes_their_turns() {
    let (handle, mut worker) = one_worker(Options::default());
    handle.set_priority(Color::new(1), Priority::Low);
    play(&handle, 10);
    for _ in 0..4 {
        let _ran = worker.step();
    }
    saturate(&handle, 3..5);
    let low = flag(&handle, 1);
    step_until(&mut worker, &low, 200);
}

/// One lane was queued before the first priority, and one after it. That is one more than their worker runs next.
#[test]
fn a_lane_behind_one_that_is_left_over_wakes_a_sleeper() {
    let bells = Bells::default();
    let options = Options::default();
    let (handle, mut workers) = Scheduler::with_options(2, 1, Box::new(bells.clone()), options);
    let mut other = workers.pop().expect("two workers");
    let main = {
        let (handle, bells) = (handle.clone(), bells.clone());
        async move {
            // The other worker parks here, and not earlier: a task that is spawned from outside would go to it.
            while !matches!(other.step(), Step::Park(_)) {}
            let _left_over = flag(&handle, 1);
            handle.set_priority(Color::new(9), Priority::High);
            let before = bells.rung();
            let _ranked = flag(&handle, 2);
            bells.rung() - before
        }
    };
    let mut main = handle.spawn_colored(Color::new(3), main);
    assert_eq!(workers[0].step(), Step::Ran);
    assert_eq!(main.try_take().expect("it has run").expect("no panic"), 1);
}

/// Lanes that are always in the worker's own queue, and lanes that are always pinned to it, leave the injector all
/// its turns.
#[test]
fn lanes_from_outside_have_their_turns_beside_pinned_lanes() {
    let (handle, mut worker) = one_worker(Options::default());
    for color in [1, 2, 3] {
        handle.set_priority(Color::new(color), Priority::High);
    }
    play(&handle, 10);
    saturate(&handle, 1..3);
    for _ in 0..100 {
        let _ran = worker.step();
        let high = flag(&handle, 3);
        step_until(&mut worker, &high, 8);
    }
}

/// A task that becomes urgent after everything was told to cancel is cancelled too, with all tasks that wait before
/// it. Its lane, which waited as one of the lowest class, is in the queue of the highest.
#[test]
fn a_task_that_becomes_urgent_in_a_shutdown_is_cancelled() {
    let (handle, mut worker) = one_worker(Options { slice_polls: 1, ..Options::default() });
    let color = Color::new(1);
    handle.set_priority(color, Priority::Low);
    let pending = || handle.spawn_colored(color, std::future::pending::<()>());
    let (first, second) = (pending(), pending());
    handle.scheduler().shut_down();
    let urgent = handle.spawn_high_from(Location::caller(), color, std::future::pending::<()>());
    let steps = (0..100).find(|_| worker.step() == Step::Stopped);
    assert!(steps.is_some(), "the worker does not stop");
    for task in [first, second, urgent] {
        assert!(task.is_finished());
    }
}

fn two_workers(bells: &Bells) -> (SchedulerHandle, Worker, Worker) {
    let options = Options::default();
    let (handle, mut workers) = Scheduler::with_options(2, 1, Box::new(bells.clone()), options);
    let other = workers.pop().expect("two workers");
    (handle, workers.pop().expect("two workers"), other)
}

/// Spawns a task from outside and has that worker run it.
fn on(handle: &SchedulerHandle, worker: &mut Worker, f: impl FnOnce() + Send + 'static) {
    let ran = handle.spawn_colored(Color::unique(), async { f() });
    while !ran.is_finished() {
        assert_eq!(worker.step(), Step::Ran);
    }
}

/// A worker with a queue of its own first takes the high lanes from another one's queue.
#[test]
fn high_lanes_are_stolen_first() {
    let (handle, mut here, mut there) = two_workers(&Bells::default());
    handle.set_priority(Color::new(9), Priority::High);
    let busy = handle.clone();
    on(&handle, &mut there, move || saturate(&busy, 1..4));
    let (high, run) = (Arc::new(Mutex::new(None)), handle.clone());
    let keep = Arc::clone(&high);
    on(&handle, &mut here, move || *keep.lock().unwrap() = Some(flag(&run, 9)));
    let high = high.lock().unwrap().take().expect("spawned on the first worker");
    step_until(&mut there, &high, 2);
}

/// A worker that runs something else wakes another for a high lane that is alone, and for no other lane that is
/// alone.
#[test]
fn a_high_lane_wakes_a_sleeper() {
    for (priority, wakes) in [(Priority::High, 1), (Priority::Normal, 0), (Priority::Low, 0)] {
        let bells = Bells::default();
        let (handle, mut here, mut there) = two_workers(&bells);
        handle.set_priority(Color::new(8), Priority::High);
        handle.set_priority(Color::new(9), priority);
        let (run, count) = (handle.clone(), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&count);
        on(&handle, &mut here, move || {
            // The spawn from outside has woken the other worker.
            while !matches!(there.step(), Step::Park(_)) {}
            let before = bells.rung();
            let _spawned = flag(&run, 9);
            counted.store(bells.rung() - before, Ordering::Relaxed);
        });
        assert_eq!(count.load(Ordering::Relaxed), wakes, "{priority:?}");
    }
}

/// So does a lane that is raised while it waits.
#[test]
fn a_raise_of_a_queued_lane_wakes_a_sleeper() {
    for (priority, wakes) in [(Priority::High, 1), (Priority::Normal, 1), (Priority::Low, 0)] {
        let bells = Bells::default();
        let (handle, mut here, mut there) = two_workers(&bells);
        handle.set_priority(Color::new(9), Priority::Low);
        let (run, count) = (handle.clone(), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&count);
        on(&handle, &mut here, move || {
            while !matches!(there.step(), Step::Park(_)) {}
            let _spawned = flag(&run, 9);
            let before = bells.rung();
            run.set_priority(Color::new(9), priority);
            counted.store(bells.rung() - before, Ordering::Relaxed);
        });
        assert_eq!(count.load(Ordering::Relaxed), wakes, "{priority:?}");
    }
}

/// A lane that waits behind others of its class is raised before all of them, from wherever in the queue it is.
#[test]
fn a_queued_lane_is_raised_from_any_place_in_its_queue() {
    for place in [10, 15, 19] {
        let (handle, mut worker) = one_worker(Options::default());
        handle.set_priority(Color::new(9), Priority::Low);
        let trace = Arc::new(Mutex::new(Vec::new()));
        for color in 10..20 {
            let trace = Arc::clone(&trace);
            let note = async move { trace.lock().unwrap().push(color) };
            drop(handle.spawn_colored(Color::new(color), note));
        }
        handle.set_priority(Color::new(place), Priority::High);
        while worker.step() == Step::Ran {}
        let mut expected: Vec<u64> = (10..20).filter(|color| *color != place).collect();
        expected.insert(0, place);
        assert_eq!(*trace.lock().unwrap(), expected);
    }
}

/// An urgent task makes its color urgent until it has had its turn.
#[test]
fn a_color_is_urgent_as_long_as_its_task_waits() {
    let (handle, mut worker) = one_worker(Options::default());
    handle.set_priority(Color::new(1), Priority::High);
    saturate(&handle, 1..2);
    let color = Color::new(2);
    let turns = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&turns);
    let normal = async move {
        loop {
            count.fetch_add(1, Ordering::Relaxed);
            yield_now().await;
        }
    };
    drop(handle.spawn_colored(color, normal));
    let urgent = handle.spawn_high_from(Location::caller(), color, async {});
    let steps = (0..4).find(|_| worker.step() == Step::Ran && urgent.is_finished());
    assert!(steps.is_some(), "it waits beside what is no more urgent");
    let before = turns.load(Ordering::Relaxed);
    (0..24).for_each(|_| assert_eq!(worker.step(), Step::Ran));
    // A slice has 64 polls: one for the lower class at most.
    let since = turns.load(Ordering::Relaxed) - before;
    assert!(since <= 64, "{since} turns of what is not urgent any more");
}

/// The color lets a reader in for which an urgent task waits. The reader then runs beside the color, under a fresh
/// one, which is urgent too. So is the fresh color of a behavior that only looks.
#[test]
fn a_reader_for_an_urgent_task_is_urgent_to_the_end() {
    for several in [false, true] {
        let (handle, mut worker) = one_worker(Options::default());
        handle.set_priority(Color::new(1), Priority::High);
        let [a, b] = [30, 31].map(|color| ColorCell::new_in(&handle, Color::new(color), ()));
        let busy = handle.clone();
        // These lanes are in the worker's own queue, like lanes that it schedules itself.
        on(&handle, &mut worker, move || {
            saturate(&busy, 2..26);
            [30, 31].into_iter().for_each(|color| drop(flag(&busy, color)));
        });
        let looked = Arc::new(AtomicBool::new(false));
        let set = Arc::clone(&looked);
        drop(handle.spawn_colored(Color::new(1), async move {
            if several {
                when((a.shared(), b.shared()), move |(), ()| set.store(true, Ordering::Relaxed))
                    .await;
            } else {
                a.read(move |()| set.store(true, Ordering::Relaxed)).await;
            }
        }));
        step_until(&mut worker, &looked, 10);
    }
}

/// Twenty tasks that wait to read the same cell came before the urgent one, and the color lets them in with it.
#[test]
fn an_urgent_reader_runs_before_the_readers_admitted_with_it() {
    let (handle, mut worker) = one_worker(Options::default());
    handle.set_priority(Color::new(1), Priority::High);
    let cell = ColorCell::new_in(&handle, Color::new(30), ());
    let trace = Arc::new(Mutex::new(Vec::new()));
    let reader = |number: usize| {
        let (cell, trace) = (cell.clone(), Arc::clone(&trace));
        async move { cell.read(move |()| trace.lock().unwrap().push(number)).await }
    };
    cell.post(|()| ());
    let mut others: Vec<_> = (0..20).map(|number| Box::pin(reader(number))).collect();
    for other in &mut others {
        let mut cx = Context::from_waker(Waker::noop());
        assert!(other.as_mut().poll(&mut cx).is_pending(), "the post is before it");
    }
    drop(handle.spawn_colored(Color::new(1), reader(20)));
    while worker.step() == Step::Ran {}
    let trace = trace.lock().unwrap();
    assert_eq!((trace.len(), trace[0]), (21, 20));
}
