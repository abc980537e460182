//! Spare workers, stepped by hand, and what another thread sees of a slice.

use crate::doubles::{Clock, NeverParks};
use colored_core::{
    Color, ColorCell, InPlace, Level, Options, Priority, Scheduler, SchedulerHandle, Step, Worker,
    block_in_place, current_task, yield_now,
};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// One worker and a spare one, which has joined if `joined`.
fn pair(joined: bool) -> (SchedulerHandle, Worker, Worker) {
    let options = Options { spares: 1, ..Options::default() };
    let (handle, mut workers) = Scheduler::with_options(1, 1, Box::new(NeverParks), options);
    let mut spare = workers.pop().unwrap();
    let worker = workers.pop().unwrap();
    assert_eq!((worker.index(), spare.index()), (0, 1));
    assert_eq!((handle.scheduler().workers(), handle.scheduler().spares()), (1, 1));
    if joined {
        handle.scheduler().want_spares(1);
    } else {
        assert_eq!(spare.step(), Step::Park(None));
        assert!(spare.is_absent());
    }
    (handle, worker, spare)
}

/// Colors with a priority keep the scheduler alive until it stops.
fn stop<const N: usize>(handle: &SchedulerHandle, workers: [Worker; N]) {
    handle.scheduler().shut_down();
    let mut left = Vec::from(workers);
    while !left.is_empty() {
        left.retain_mut(|worker| worker.step() != Step::Stopped);
    }
}

fn count(handle: &SchedulerHandle, tasks: usize) -> Arc<AtomicUsize> {
    let ran = Arc::new(AtomicUsize::new(0));
    for _ in 0..tasks {
        let ran = Arc::clone(&ran);
        drop(handle.spawn_unique(async move { _ = ran.fetch_add(1, Ordering::Relaxed) }));
    }
    ran
}

#[test]
fn an_absent_spare_takes_nothing() {
    let (handle, mut worker, mut spare) = pair(false);
    let ran = count(&handle, 3);
    assert_eq!(spare.step(), Step::Park(None));
    assert_eq!(ran.load(Ordering::Relaxed), 0);
    while worker.step() == Step::Ran {}
    assert_eq!(ran.load(Ordering::Relaxed), 3);
    stop(&handle, [worker, spare]);
}

/// The spare has taken a batch into its deque. When it leaves, the worker finds the batch where lanes from outside
/// are, and steals nothing.
#[test]
fn a_spare_that_leaves_keeps_no_lane() {
    let (handle, mut worker, mut spare) = pair(true);
    let ran = count(&handle, 40);
    assert_eq!(spare.step(), Step::Ran);
    let by_spare = ran.load(Ordering::Relaxed);
    assert!(by_spare > 0 && by_spare < 40, "{by_spare}");
    handle.scheduler().want_spares(0);
    assert_eq!(spare.step(), Step::Park(None));
    assert!(spare.is_absent());
    while worker.step() == Step::Ran {}
    assert_eq!(ran.load(Ordering::Relaxed), 40);
    assert_eq!(handle.scheduler().worker_metrics(0).steals, 0);
    stop(&handle, [worker, spare]);
}

/// An absent spare is asleep, whatever was recorded before.
#[test]
fn the_time_of_an_absent_spare_is_no_run_time() {
    for level in [Level::Off, Level::Slices] {
        let clock = Clock::default();
        let options = Options { spares: 1, ..Options::default() };
        let (handle, mut workers) = Scheduler::with_options(1, 1, Box::new(clock.clone()), options);
        handle.scheduler().set_level(level);
        let mut spare = workers.pop().unwrap();
        let worker = workers.pop().unwrap();
        handle.scheduler().want_spares(1);
        let time = clock.clone();
        drop(handle.spawn_unique(async move { time.spend(3_000) }));
        assert_eq!(spare.step(), Step::Ran);
        handle.scheduler().want_spares(0);
        assert_eq!(spare.step(), Step::Park(None));
        clock.spend(5_000_000);
        let metrics = handle.scheduler().worker_metrics(1);
        let awake = metrics.run + metrics.search + metrics.io;
        assert!(awake < Duration::from_micros(10), "{metrics:?}");
        assert!(metrics.parked >= Duration::from_millis(5), "{metrics:?}");
        handle.scheduler().want_spares(1);
        let time = clock.clone();
        drop(handle.spawn_unique(async move { time.spend(3_000_000) }));
        assert_eq!(spare.step(), Step::Ran);
        let metrics = handle.scheduler().worker_metrics(1);
        assert!(metrics.run >= Duration::from_millis(3), "{metrics:?}");
        stop(&handle, [worker, spare]);
    }
}

/// Priorities have queues of their own.
#[test]
fn lanes_of_all_classes_run_after_a_spare_has_left() {
    let (handle, mut worker, mut spare) = pair(true);
    let ran = Arc::new(AtomicUsize::new(0));
    for color in 1..=40 {
        let priority = [Priority::High, Priority::Normal, Priority::Low][color as usize % 3];
        handle.set_priority(Color::new(color), priority);
        let ran = Arc::clone(&ran);
        drop(handle.spawn_colored(Color::new(color), async move {
            ran.fetch_add(1, Ordering::Relaxed);
        }));
    }
    assert_eq!(spare.step(), Step::Ran);
    handle.scheduler().want_spares(0);
    assert_eq!(spare.step(), Step::Park(None));
    while worker.step() == Step::Ran {}
    assert_eq!(ran.load(Ordering::Relaxed), 40);
    assert_eq!(handle.scheduler().worker_metrics(0).steals, 0);
    stop(&handle, [worker, spare]);
}

/// A task looks at the slice that it runs in, as the thread does that looks for stuck workers.
#[test]
fn another_thread_sees_the_color_the_task_and_the_announcement() {
    let clock = Clock::default();
    let options = Options::default();
    let (handle, mut workers) = Scheduler::with_options(1, 1, Box::new(clock.clone()), options);
    assert_eq!(handle.scheduler().running(0), None);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (sees, inner) = (Arc::clone(&seen), handle.clone());
    let color = Color::unique();
    let looks = move |sees: &Mutex<Vec<_>>| sees.lock().unwrap().push(inner.scheduler().running(0));
    let (line, spends) = (line!() + 1, clock.clone());
    let mut task = handle.spawn_colored(color, async move {
        looks(&sees);
        spends.spend(7_000_000);
        block_in_place(|| {
            looks(&sees);
            block_in_place(|| ());
            looks(&sees);
        });
        looks(&sees);
        let own = current_task().unwrap();
        assert_eq!(sees.lock().unwrap()[0].unwrap().task.unwrap().0, own);
    });
    assert_eq!(workers[0].step(), Step::Ran);
    assert!(task.try_take().is_some_and(|ended| ended.is_ok()));
    assert_eq!(current_task(), None);
    assert_eq!(handle.scheduler().running(0), None);
    let seen: Vec<_> = seen.lock().unwrap().drain(..).map(Option::unwrap).collect();
    assert!(seen.iter().all(|slice| slice.serial == seen[0].serial && slice.color == color));
    assert_eq!(seen.iter().map(|slice| slice.nanos / 1_000_000).collect::<Vec<_>>(), [0, 7, 7, 7]);
    let announced: Vec<_> = seen.iter().map(|slice| slice.in_place).collect();
    assert_eq!(announced, [InPlace::No, InPlace::Inside, InPlace::Inside, InPlace::Past]);
    let spawned = seen[0].task.unwrap().1;
    assert_eq!((spawned.file(), spawned.line()), (file!(), line));

    // A closure is no task, and the next slice has announced nothing.
    let cell = ColorCell::new_in(&handle, color, ());
    let (sees, inner) = (Arc::new(Mutex::new(None)), handle.clone());
    let looks = Arc::clone(&sees);
    cell.post(move |()| *looks.lock().unwrap() = inner.scheduler().running(0));
    assert_eq!(workers[0].step(), Step::Ran);
    let slice = sees.lock().unwrap().unwrap();
    assert_eq!((slice.color, slice.task, slice.in_place), (color, None, InPlace::No));
    assert_ne!(slice.serial, seen[0].serial);
    stop(&handle, [workers.remove(0)]);
}

/// A reader that runs beside the worker never mixes two slices or two tasks up.
#[test]
fn what_another_thread_sees_was_true_at_one_moment() {
    let (handle, mut workers) =
        Scheduler::with_options(1, 1, Box::new(NeverParks), Options::default());
    const TASKS: usize = if cfg!(miri) { 50 } else { 20_000 };
    let of_task = Arc::new(Mutex::new(std::collections::HashMap::new()));
    for _ in 0..TASKS {
        let color = Color::unique();
        let task = handle.spawn_colored(color, async {});
        of_task.lock().unwrap().insert(task.id(), color);
    }
    let has_seen = Arc::new(AtomicBool::new(false));
    let (sees, color) = (Arc::clone(&has_seen), Color::unique());
    // It goes on until the other thread has seen something.
    let last = handle.spawn_colored(color, async move {
        while !sees.load(Ordering::Relaxed) {
            yield_now().await;
        }
    });
    of_task.lock().unwrap().insert(last.id(), color);
    let looker = {
        let handle = handle.clone();
        std::thread::spawn(move || {
            let mut seen = Vec::new();
            while !handle.scheduler().has_stopped() {
                seen.extend(handle.scheduler().running(0).filter(|slice| slice.task.is_some()));
                has_seen.store(!seen.is_empty(), Ordering::Relaxed);
            }
            seen
        })
    };
    while workers[0].step() == Step::Ran {}
    handle.scheduler().shut_down();
    while workers[0].step() != Step::Stopped {}
    let seen = looker.join().unwrap();
    let of_task = of_task.lock().unwrap();
    assert!(!seen.is_empty());
    for slice in seen {
        let (id, spawned) = slice.task.unwrap();
        assert_eq!((of_task[&id], spawned.file()), (slice.color, file!()));
    }
}
