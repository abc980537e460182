//! Policies, stepped by hand. On real threads these cases are coincidences.

use crate::doubles::{Bells, by};
use crate::stopping::stop;
use colored_core::{
    Color, Destination, Options, Policy, Priority, Runnable, Scheduler, Step, Worker, hop,
    spawn_local, yield_now,
};
use colored_lab::{Place, Places};
use std::future::{pending, poll_fn};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

fn run_until_it_parks(worker: &mut Worker) {
    while !matches!(worker.step(), Step::Park(_)) {}
}

fn run_slices(worker: &mut Worker, count: u32) {
    for _ in 0..count {
        assert_eq!(worker.step(), Step::Ran);
    }
}

/// A color follows a local task to another worker, and that worker leaves it at home again. Then the home's worker
/// must come.
#[test]
fn a_color_that_returns_from_a_pinned_task_wakes_its_home_worker() {
    let options = Options { slice_polls: 1, ..by(&Places { place: Place::Number, steals: false }) };
    let bells = Bells::default();
    let (handle, mut workers) = Scheduler::with_options(2, 1, Box::new(bells.clone()), options);
    let [here, home] = &mut workers[..] else { unreachable!("two workers") };
    // The number of a color says which worker is its home, and a task that waits keeps the color there.
    drop(handle.spawn_colored(Color::new(1), pending::<()>()));
    let waker = Arc::new(Mutex::new(None::<Waker>));
    let place = Arc::clone(&waker);
    drop(handle.spawn_colored(Color::new(2), async move {
        let local = async move {
            hop(Color::new(1)).await;
            poll_fn(|cx| {
                *place.lock().unwrap() = Some(cx.waker().clone());
                Poll::<()>::Pending
            })
            .await;
        };
        drop(spawn_local(local).ok());
        // The worker stays awake, so what it does for the home is not what a worker does that has just woken up.
        loop {
            yield_now().await;
        }
    }));
    run_until_it_parks(home);
    run_slices(here, 10);

    let local = waker.lock().unwrap().take().expect("it waits under color 1");
    local.wake();
    let ran = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&ran);
    drop(handle.spawn_colored(Color::new(1), async move {
        count.fetch_add(1, Ordering::Relaxed);
    }));
    // Now the color is on its way to the local task.
    run_until_it_parks(home);
    assert_eq!(ran.load(Ordering::Relaxed), 0);
    let before = bells.of(1);
    run_slices(here, 4);
    assert_eq!(bells.of(1), before + 1);
    run_until_it_parks(home);
    assert_eq!(ran.load(Ordering::Relaxed), 1);

    stop(&handle, &mut workers);
}

/// A worker makes a fresh color of a lane that another worker has kept. The lane runs here, as if it were new, and
/// the other worker sleeps on.
#[test]
fn a_lane_that_is_used_again_has_no_home() {
    // Two batches of spare lanes. A worker hands on one of them.
    const MANY: usize = 128;
    let options = by(&Places { place: Place::Home, steals: false });
    let bells = Bells::default();
    let (handle, mut workers) = Scheduler::with_options(2, 1, Box::new(bells.clone()), options);
    let [here, other] = &mut workers[..] else { unreachable!("two workers") };
    for _ in 0..MANY {
        drop(handle.spawn_unique(async {}));
    }
    run_until_it_parks(other);
    let ran = Arc::new(AtomicUsize::new(0));
    let (spawner, count) = (handle.clone(), Arc::clone(&ran));
    drop(handle.spawn_unique(async move {
        for _ in 0..MANY / 2 {
            let count = Arc::clone(&count);
            drop(spawner.spawn_unique(async move {
                count.fetch_add(1, Ordering::Relaxed);
            }));
        }
    }));
    let before = bells.of(1);
    run_until_it_parks(here);
    assert_eq!(ran.load(Ordering::Relaxed), MANY / 2);
    assert_eq!(bells.of(1), before, "nothing is there for it");

    stop(&handle, &mut workers);
}

/// The first color goes to the first worker, all others into the queue for all.
#[derive(Debug)]
struct FirstOrAll;

impl Policy for FirstOrAll {
    fn destination(&self, lane: Runnable, _: &Scheduler) -> Destination {
        if lane.color == Color::new(0) { Destination::Worker(0) } else { Destination::Everybody }
    }

    fn steals(&self) -> bool {
        false
    }
}

/// A worker that was called, and has found its lane, wakes an idle one only if there is a lane for all.
#[test]
fn a_worker_that_was_called_wakes_no_other_for_nothing() {
    for by_class in [false, true] {
        let bells = Bells::default();
        let options = by(&FirstOrAll);
        let (handle, mut workers) = Scheduler::with_options(2, 1, Box::new(bells.clone()), options);
        let [called, idle] = &mut workers[..] else { unreachable!("two workers") };
        if by_class {
            (1..4).for_each(|color| handle.set_priority(Color::new(color), Priority::High));
        }
        let ran = Arc::new(AtomicUsize::new(0));
        let spawn = |color| {
            let count = Arc::clone(&ran);
            drop(handle.spawn_colored(Color::new(color), async move {
                count.fetch_add(1, Ordering::Relaxed);
            }));
        };
        run_until_it_parks(called);
        run_until_it_parks(idle);
        let before = [bells.of(0), bells.of(1)];
        spawn(0);
        run_until_it_parks(called);
        assert_eq!(ran.load(Ordering::Relaxed), 1);
        assert_eq!(
            [bells.of(0), bells.of(1)],
            [before[0] + 1, before[1]],
            "nothing is there for it"
        );

        // The called worker counts as searching, so these wake nobody; and it takes one of them, at most, before it has stopped.
        (0..4).for_each(spawn);
        assert_eq!(bells.of(1), before[1]);
        assert_eq!(called.step(), Step::Ran);
        assert_eq!(bells.of(1), before[1] + 1, "a lane is there for it");
        run_until_it_parks(idle);
        run_until_it_parks(called);
        assert_eq!(ran.load(Ordering::Relaxed), 5);
        stop(&handle, &mut workers);
    }
}
