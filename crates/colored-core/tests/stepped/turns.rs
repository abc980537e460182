//! Turns that a theft has freed, stepped by hand.

use crate::doubles::NeverParks;
use crate::stopping::stop;
use colored_core::{Color, Options, Scheduler, SchedulerHandle, Step, Worker};
use std::sync::{Arc, Mutex};

/// The colors of tasks in the order in which they ran.
type Trace = Arc<Mutex<Vec<u64>>>;

/// Colors with much to do, which fill their slices.
const HOT: [u64; 2] = [1, 2];
/// How many tasks each hot color has.
const TASKS: usize = 12;

fn two_workers() -> (SchedulerHandle, Vec<Worker>, Trace) {
    let options = Options { slice_polls: 1, ..Options::default() };
    let (handle, workers) = Scheduler::with_options(2, 1, Box::new(NeverParks), options);
    (handle, workers, Trace::default())
}

/// Schedules so many tasks of each color on an idle worker.
fn schedule(worker: &mut Worker, trace: &Trace, colors: Vec<(u64, usize)>) {
    let (kept, spawner) = (Arc::clone(trace), worker.handle().clone());
    drop(worker.handle().spawn_colored(Color::new(9), async move {
        for (color, tasks) in colors {
            for _ in 0..tasks {
                let trace = Arc::clone(&kept);
                drop(spawner.spawn_colored(Color::new(color), async move {
                    trace.lock().unwrap().push(color);
                }));
            }
        }
    }));
    assert_eq!(worker.step(), Step::Ran);
    assert!(trace.lock().unwrap().is_empty());
}

/// A hot color, three others with one task each, and the same again.
fn two_hot_ones() -> Vec<(u64, usize)> {
    let half = |hot, first: u64| {
        let others = (first..first + 3).map(|color| (color, 1));
        std::iter::once((hot, TASKS)).chain(others)
    };
    half(HOT[0], 10).chain(half(HOT[1], 20)).collect()
}

fn run_slices(worker: &mut Worker, count: usize, trace: &Trace) -> Vec<u64> {
    for _ in 0..count {
        assert_eq!(worker.step(), Step::Ran);
    }
    std::mem::take(&mut trace.lock().unwrap())
}

/// A round of the queue has one slice of each color.
#[test]
fn without_a_theft_a_hot_color_goes_behind_all_others_after_each_slice() {
    let (handle, mut workers, trace) = two_workers();
    schedule(&mut workers[0], &trace, two_hot_ones());
    let ran = run_slices(&mut workers[0], 12, &trace);
    // The lane that became runnable last is first.
    assert_eq!(ran, [22, 1, 10, 11, 12, 2, 20, 21, 1, 2, 1, 2]);
    stop(&handle, &mut workers);
}

/// The thief takes four of eight lanes, so each side has four free turns, and a round of either queue takes eight
/// slices once more. After that all colors take turns as before.
/// Shows G7.
#[test]
fn a_hot_color_has_the_turns_of_as_many_as_were_stolen() {
    let (handle, mut workers, trace) = two_workers();
    let [victim, thief] = &mut workers[..] else { unreachable!("two workers") };
    schedule(victim, &trace, two_hot_ones());
    let ran = run_slices(thief, 12, &trace);
    assert_eq!(ran, [1, 1, 1, 1, 10, 1, 11, 12, 1, 1, 1, 1]);
    let ran = run_slices(victim, 11, &trace);
    assert_eq!(ran, [22, 2, 2, 2, 2, 20, 2, 21, 2, 2, 2]);
    stop(&handle, &mut workers);
}

/// Turns that one theft has freed, and that no lane has used, are gone after the next theft.
#[test]
fn free_turns_of_a_thief_that_has_run_out_of_lanes_are_forgotten() {
    let (handle, mut workers, trace) = two_workers();
    let [victim, thief] = &mut workers[..] else { unreachable!("two workers") };
    schedule(victim, &trace, (30..38).map(|color| (color, 1)).collect());
    assert_eq!(run_slices(thief, 4, &trace), [30, 31, 32, 33]);
    assert_eq!(run_slices(victim, 4, &trace), [37, 34, 35, 36]);
    schedule(victim, &trace, two_hot_ones());
    let ran = run_slices(thief, 12, &trace);
    assert_eq!(ran, [1, 1, 1, 1, 10, 1, 11, 12, 1, 1, 1, 1]);
    stop(&handle, &mut workers);
}

/// Thefts free 64 turns at most, however many lanes they take.
/// Shows G7.
#[test]
fn a_hot_color_has_at_most_64_turns_of_others() {
    let (handle, mut workers, trace) = two_workers();
    let [victim, thief] = &mut workers[..] else { unreachable!("two workers") };
    let mut colors: Vec<_> = (100..200).map(|color| (color, 1)).collect();
    colors.push((HOT[0], 200));
    colors.extend((200..260).map(|color| (color, 1)));
    schedule(victim, &trace, colors);
    let stolen = run_slices(thief, 96, &trace);
    assert_eq!(stolen, (100..196).collect::<Vec<_>>());
    // All others have had their turn before the hot color has its own next one.
    let others = 4 + 60;
    let ran = run_slices(victim, others + 1 + 64, &trace);
    assert_eq!(ran.iter().filter(|color| **color == HOT[0]).count(), 1 + 64);
    stop(&handle, &mut workers);
}
