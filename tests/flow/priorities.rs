//! Priorities between colors: they choose the next color, and urgent work raises a waiting color. The order within a
//! color stays, and the lowest class gets its turns.

use colored::runtime::Tuning;
use colored::sync::oneshot;
use colored::{
    Color, ColorCell, Handle, Priority, Runtime, hop, spawn_colored, task, when, yield_now,
};
use colored_tests::choice::{by, policies};
use colored_tests::drops::{Drops, keep};
use colored_tests::gate::Gate;
use colored_tests::{Trace, join_all, meet, run, runtime, shared, storm, wait_until};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// A color that keeps the only worker busy.
const BUSY: u64 = 1_000;

/// A runtime with one worker, on which priorities are in use.
fn ranked() -> Runtime {
    let runtime = runtime(1);
    runtime.handle().set_priority(BUSY, Priority::High);
    runtime
}

/// Spawns a task that notes its color.
fn note(handle: &Handle, trace: &Trace<u64>, color: u64) {
    let trace = trace.clone();
    drop(handle.spawn_colored(color, async move { trace.push(color) }));
}

/// As `note`, urgent.
fn alarm(handle: &Handle, trace: &Trace<u64>, color: u64, mark: u64) {
    let trace = trace.clone();
    let _entered = handle.enter();
    let alarm = task::Builder::new().color(color).priority(Priority::High);
    drop(alarm.spawn(async move { trace.push(mark) }));
}

#[test]
fn a_high_color_runs_before_a_hundred_low_ones_that_wait() {
    shared(|| {
        let runtime = ranked();
        let (handle, trace) = (runtime.handle(), Trace::new());
        for color in 0..100 {
            handle.set_priority(color, Priority::Low);
        }
        handle.set_priority(500u64, Priority::High);
        let gate = Gate::close(handle, BUSY);
        (0..100).for_each(|color| note(handle, &trace, color));
        note(handle, &trace, 200);
        note(handle, &trace, 500);
        gate.open();
        wait_until(|| trace.len() == 102);
        let order = trace.take();
        // The order of the classes, and within each class the order of arrival. Of 32 turns one may be a lower
        // class's.
        assert_eq!(order[0], 500);
        assert!(order[1..3].contains(&200), "{order:?}");
        let low: Vec<_> = order.into_iter().filter(|color| *color < 100).collect();
        assert_eq!(low, (0..100).collect::<Vec<_>>());
    });
}

#[test]
fn a_color_that_waits_is_raised_at_once() {
    shared(|| {
        let runtime = ranked();
        let (handle, trace) = (runtime.handle(), Trace::new());
        let gate = Gate::close(handle, BUSY);
        (0..10).for_each(|color| note(handle, &trace, color));
        // Both wait in the queue of the normal class, seventh and ninth.
        handle.set_priority(6u64, Priority::High);
        alarm(handle, &trace, 8, 80);
        gate.open();
        wait_until(|| trace.len() == 11);
        assert_eq!(trace.take(), [6, 8, 80, 0, 1, 2, 3, 4, 5, 7, 9]);
        assert_eq!(handle.priority(6u64), Priority::High);
        assert_eq!(handle.priority(8u64), Priority::Normal);
    });
}

/// The urgent task raises its color only while it is queued, and overtakes no other task of the color.
#[test]
fn within_a_color_the_order_stays() {
    shared(|| {
        let runtime = ranked();
        let (handle, trace) = (runtime.handle(), Trace::new());
        let cell = handle.cell(7, ());
        let gate = Gate::close(handle, BUSY);
        note(handle, &trace, 0);
        for number in 0..300 {
            let ours = trace.clone();
            match number % 3 {
                0 => cell.post(move |()| ours.push(1_000 + number)),
                1 => alarm(handle, &trace, 7, 1_000 + number),
                _ => drop(handle.spawn_colored(7, async move { ours.push(1_000 + number) })),
            }
        }
        gate.open();
        wait_until(|| trace.len() == 301);
        let order: Vec<_> = trace.take().into_iter().filter(|mark| *mark > 0).collect();
        assert_eq!(order, (1_000..1_300).collect::<Vec<_>>());
    });
}

#[test]
fn a_color_is_its_own_class_again_when_nothing_urgent_is_left_in_it() {
    shared(|| {
        let runtime = Runtime::builder().workers(1).tuning(Tuning::new().spare_workers(0));
        let runtime =
            runtime.tuning(Tuning::new().slice(1, Duration::from_secs(1))).build().unwrap();
        let (handle, trace) = (runtime.handle(), Trace::new());
        handle.set_priority(BUSY, Priority::High);
        let gate = Gate::close(handle, BUSY);
        note(handle, &trace, 1);
        note(handle, &trace, 7);
        alarm(handle, &trace, 7, 70);
        (0..20).for_each(|_| note(handle, &trace, 7));
        note(handle, &trace, 2);
        gate.open();
        wait_until(|| trace.len() == 24);
        // A slice has one poll here: the tasks behind the urgent one take turns with the other colors.
        let order = trace.take();
        assert_eq!(order[..2], [7, 70]);
        let others = [1, 2].map(|color| order.iter().position(|mark| *mark == color));
        assert!(others.iter().all(|place| place.is_some_and(|place| place < 10)), "{order:?}");
    });
}

/// A task that was spawned urgent is so at every wake, and wherever it hops.
#[test]
fn an_urgent_task_takes_its_urgency_along() {
    shared(|| {
        let runtime = ranked();
        let (handle, trace) = (runtime.handle(), Trace::new());
        let (wake, woken) = oneshot::channel();
        let ours = trace.clone();
        let traveller = async move {
            hop(Color::new(8)).await;
            ours.push(1);
            woken.await.unwrap();
            ours.push(2);
        };
        let _entered = handle.enter();
        drop(task::Builder::new().color(7).priority(Priority::High).spawn(traveller));
        wait_until(|| trace.len() == 1);
        let gate = Gate::close(handle, BUSY);
        (20..40).for_each(|color| note(handle, &trace, color));
        wake.send(()).unwrap();
        gate.open();
        wait_until(|| trace.len() == 22);
        assert_eq!(trace.take()[..3], [1, 2, 20]);
    });
}

/// A wait of an urgent task in another color's line makes that color urgent while it lasts.
/// Shows G7.
#[test]
fn a_color_that_an_urgent_task_waits_for_is_urgent() {
    type Ask = fn(ColorCell<()>, ColorCell<()>, Trace<u64>) -> BoxFuture;
    type BoxFuture = Pin<Box<dyn Future<Output = ()> + Send>>;
    let asks: [(&str, Ask); 5] = [
        ("call", |a, _, t| Box::pin(async move { a.call(move |()| t.push(70)).await })),
        ("read", |a, _, t| Box::pin(async move { a.read(move |()| t.push(70)).await })),
        ("when", |a, b, t| Box::pin(async move { when((&a, &b), move |(), ()| t.push(70)).await })),
        ("when it reads", |a, b, t| {
            Box::pin(async move { when((a.shared(), &b), move |(), ()| t.push(70)).await })
        }),
        ("when both are read", |a, b, t| {
            Box::pin(async move { when((a.shared(), b.shared()), move |(), ()| t.push(70)).await })
        }),
    ];
    shared(move || {
        for (how, ask) in asks {
            let runtime = ranked();
            let (handle, trace) = (runtime.handle(), Trace::new());
            let (a, b) = (handle.cell(7, ()), handle.cell(8, ()));
            handle.set_priority(500, Priority::High);
            for by_task in [false, true] {
                let gate = Gate::close(handle, BUSY);
                (10..30).for_each(|color| note(handle, &trace, color));
                [7, 8, 7, 8].into_iter().for_each(|color| note(handle, &trace, color));
                let asked = ask(a.clone(), b.clone(), trace.clone());
                let _entered = handle.enter();
                let builder = task::Builder::new();
                let asker = match by_task {
                    true => builder.color(600).priority(Priority::High).spawn(asked),
                    false => builder.color(500).spawn(asked),
                };
                gate.open();
                handle.block_on(asker).unwrap();
                wait_until(|| trace.len() == 25);
                let order = trace.take();
                let place = order.iter().position(|mark| *mark == 70).unwrap();
                // Of 32 turns one may be a lower class's.
                let before = order[..place].iter().filter(|mark| **mark >= 10).count();
                assert!(place >= 2 && before <= 1, "{how}: {order:?}");
            }
            // The priorities have not changed.
            let gate = Gate::close(handle, BUSY);
            [10, 7, 11, 8, 12].into_iter().for_each(|color| note(handle, &trace, color));
            gate.open();
            wait_until(|| trace.len() == 5);
            assert_eq!(trace.take(), [10, 7, 11, 8, 12], "{how}");
        }
    });
}

/// The same for a behavior whose reader is admitted beside another reader: no urgency is left.
/// Shows G7.
#[test]
fn a_behavior_admitted_beside_others_takes_its_urgency_back() {
    shared(|| {
        let runtime = runtime(3);
        let (handle, trace) = (runtime.handle(), Trace::new());
        handle.set_priority(500, Priority::High);
        let (a, b) = (handle.cell(7, ()), handle.cell(8, ()));
        let held = Gate::close(handle, 8);
        let (inside, is_inside) = mpsc::channel();
        let (leave, leaves) = mpsc::channel::<()>();
        let reader = a.clone();
        let reads = handle.spawn_colored(1, async move {
            let read = reader.read(move |()| {
                inside.send(()).unwrap();
                leaves.recv().unwrap();
            });
            read.await;
        });
        is_inside.recv().unwrap();
        // The behavior has one color, and lacks the other.
        let beside = a.clone();
        let both = async move { when((beside.shared(), &b), |(), ()| ()).await };
        let asker = handle.spawn_colored(500, both);
        let (after, has_asked) = mpsc::channel();
        drop(handle.spawn_colored(500, async move { after.send(()).unwrap() }));
        has_asked.recv().unwrap();
        leave.send(()).unwrap();
        held.open();
        handle.block_on(async { (reads.await.unwrap(), asker.await.unwrap()) });
        let mut gates =
            [BUSY, BUSY + 1, BUSY + 2].map(|color| Gate::close(handle, color)).into_iter();
        [10, 7, 11].into_iter().for_each(|color| note(handle, &trace, color));
        gates.next().unwrap().open();
        wait_until(|| trace.len() == 3);
        gates.for_each(Gate::open);
        assert_eq!(trace.take(), [10, 7, 11]);
        drop(a);
    });
}

/// No caller waits for a post, so a post passes no priority on.
#[test]
fn a_post_lends_no_urgency() {
    shared(|| {
        let runtime = ranked();
        let (handle, trace) = (runtime.handle(), Trace::new());
        let cell = handle.cell(7, ());
        let gate = Gate::close(handle, BUSY);
        [1, 2, 7].into_iter().for_each(|color| note(handle, &trace, color));
        let ours = trace.clone();
        handle.set_priority(500, Priority::High);
        drop(handle.spawn_colored(500, async move { cell.post(move |()| ours.push(70)) }));
        gate.open();
        wait_until(|| trace.len() == 4);
        assert_eq!(trace.take(), [1, 2, 7, 70]);
    });
}

#[test]
fn a_lower_priority_holds_from_the_next_turn() {
    shared(|| {
        let runtime = ranked();
        let (handle, trace) = (runtime.handle(), Trace::new());
        handle.set_priority(1, Priority::High);
        handle.set_priority(1, Priority::Low);
        let gate = Gate::close(handle, BUSY);
        (1..4).for_each(|color| note(handle, &trace, color));
        gate.open();
        wait_until(|| trace.len() == 3);
        assert_eq!(trace.take(), [2, 3, 1]);
        assert_eq!(handle.priority(1), Priority::Low);
    });
}

/// Colors of each class are polled without end. This waits until each of the two lower classes has had 300 polls, and returns
/// how many each class had.
fn turns_beside_an_endless_high_color(workers: usize) -> [u64; 3] {
    let runtime = Runtime::builder().workers(workers).tuning(Tuning::new().spare_workers(0));
    let runtime = runtime.tuning(Tuning::new().slice(1, Duration::from_secs(1))).build().unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let polls: Arc<[AtomicU64; 3]> = Arc::default();
    let classes = [Priority::Low, Priority::Normal, Priority::High];
    runtime.handle().set_priority(BUSY, Priority::High);
    let gates: Vec<_> =
        (0..workers).map(|i| Gate::close(runtime.handle(), BUSY + i as u64)).collect();
    // The tasks are endless, and each class has more of them than there are workers.
    let tasks = (0..3 * 4).map(|number| {
        let class = number % 3;
        let color = 10 + number as u64;
        runtime.handle().set_priority(color, classes[class]);
        let (polls, over) = (Arc::clone(&polls), Arc::clone(&over));
        runtime.handle().spawn_colored(color, async move {
            while !over.load(Ordering::Relaxed) {
                polls[class].fetch_add(1, Ordering::Relaxed);
                yield_now().await;
            }
        })
    });
    let tasks: Vec<_> = tasks.collect();
    gates.into_iter().for_each(Gate::open);
    wait_until(|| polls[..2].iter().all(|polls| polls.load(Ordering::Relaxed) >= 300));
    over.store(true, Ordering::Relaxed);
    runtime.run(join_all(tasks));
    [0, 1, 2].map(|class| polls[class].load(Ordering::Relaxed))
}

/// Of 64 turns of a worker one is for the lowest class and one for the middle one.
/// Shows G7.
#[test]
fn the_lower_classes_have_their_share() {
    shared(|| {
        let [low, normal, high] = turns_beside_an_endless_high_color(1);
        assert!(low.abs_diff(normal) <= 2, "{low} {normal} {high}");
        let ratio = high / low;
        assert!((60..=64).contains(&ratio), "{low} {normal} {high}");
    });
}

/// Shows G7.
#[test]
fn no_class_starves_on_several_workers() {
    shared(|| {
        // How the turns are divided depends on which of the workers have a core.
        turns_beside_an_endless_high_color(3);
    });
}

/// Other workers take the lanes that one worker queues, the most urgent first.
/// Shows G6.
#[test]
fn every_worker_comes_for_ranked_lanes() {
    shared(|| {
        for workers in [2, 3, 8] {
            let runtime = runtime(workers);
            runtime.handle().set_priority(1, Priority::Low);
            for round in 0..20 {
                meet::all_at_once(&runtime, workers, round % 2 == 0);
            }
        }
    });
}

/// Priorities come and go while everything else happens: no lane is lost, none runs twice.
#[test]
fn colors_are_raised_and_lowered_in_a_storm() {
    shared(|| {
        let runtime = runtime(4);
        let (handle, over) = (runtime.handle().clone(), Arc::new(AtomicBool::new(false)));
        let stop = Arc::clone(&over);
        let fickle = std::thread::spawn(move || {
            let classes = [Priority::Low, Priority::High, Priority::Normal];
            for number in 0u64.. {
                if stop.load(Ordering::Relaxed) {
                    return number;
                }
                handle.set_priority(number % 64, classes[(number / 64 % 3) as usize]);
                let _entered = handle.enter();
                let alarm = task::Builder::new().color(number % 61).priority(Priority::High);
                drop(alarm.spawn(yield_now()));
            }
            unreachable!("it is told to stop")
        });
        storm::rage(&runtime, 200_000);
        over.store(true, Ordering::Relaxed);
        assert!(fickle.join().unwrap() > 64);
        (0..64u64).for_each(|color| runtime.handle().set_priority(color, Priority::Normal));
        wait_until(|| runtime.metrics().colors == 1);
        storm::wander_until_shutdown(runtime, 200, 3);
    });
}

#[test]
fn a_color_with_a_priority_stays_and_a_normal_one_goes() {
    run(2, async {
        let handle = Handle::current();
        let colors = || Handle::current().metrics().colors;
        assert_eq!(colors(), 1);
        handle.set_priority(5u64, Priority::Low);
        spawn_colored(5, async {}).await.unwrap();
        assert_eq!(colors(), 2);
        handle.set_priority(5u64, Priority::Normal);
        handle.set_priority(6u64, Priority::Normal);
        while colors() != 1 {
            yield_now().await;
        }
    });
}

#[test]
fn priorities_hold_under_every_policy() {
    shared(|| {
        for policy in policies() {
            let runtime = by(policy).workers(1).build().unwrap();
            let (handle, trace) = (runtime.handle(), Trace::new());
            handle.set_priority(BUSY, Priority::High);
            let gate = Gate::close(handle, BUSY);
            (0..10).for_each(|color| note(handle, &trace, color));
            handle.set_priority(6u64, Priority::High);
            gate.open();
            wait_until(|| trace.len() == 10);
            assert_eq!(trace.take()[0], 6, "{policy:?}");
            let runtime = by(policy).workers(3).build().unwrap();
            (0..64u64).step_by(3).for_each(|c| runtime.handle().set_priority(c, Priority::Low));
            storm::rage(&runtime, 8_000);
            storm::wander_until_shutdown(runtime, 48, 5);
        }
    });
}

#[test]
fn shutdown_drops_tasks_of_every_class() {
    shared(|| {
        for workers in [1, 3] {
            let runtime = runtime(workers);
            let drops = Drops::default();
            let handle = runtime.handle().clone();
            for color in 0..90u64 {
                let class = [Priority::Low, Priority::Normal, Priority::High][color as usize % 3];
                handle.set_priority(color, class);
                let waits = keep(drops.under(color), std::future::pending::<()>());
                let _entered = handle.enter();
                // A task can raise its color, and cannot lower it.
                let own = if class == Priority::High { class } else { Priority::Normal };
                drop(task::Builder::new().color(color).priority(own).spawn(waits));
            }
            runtime.shutdown_timeout(Duration::from_secs(60)).unwrap();
            drops.assert_exact(90);
            // The call is too late, and does nothing.
            handle.set_priority(1u64, Priority::High);
            assert_eq!(handle.priority(1u64), Priority::Normal);
            assert_eq!(handle.metrics().colors, 1);
        }
    });
}

/// A cell's color is raised by its name, and an idle one is called as ever.
#[test]
fn cells_have_the_priority_of_their_color() {
    run(2, async {
        let cell = ColorCell::new(Color::new(3), 0);
        Handle::current().set_priority(3u64, Priority::High);
        for round in 1..=500 {
            cell.post(|count| *count += 1);
            assert_eq!(cell.call(|count| *count).await, round);
        }
    });
}
