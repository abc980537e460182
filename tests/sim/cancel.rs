//! Each await of a future that may be cancelled is cancelled once, and time that passes while tasks run.

use super::{assert_all_seen, found, silent};
use colored::sim::{self, Builder, Fault, Faults};
use colored::time::{Duration, Instant, sleep};
use colored::{ColorCell, spawn_colored, yield_now};
use colored_tests::join_all;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The times that a future has waited when it was cancelled, or 0.
#[test]
fn each_await_is_cancelled_once_at_first() {
    let waited = Mutex::new(Vec::new());
    let report = Builder::new().seeds(1..40).workers(1..=1).run(|| {
        let (send, cancelled) = std::sync::mpsc::channel();
        let program = async move {
            let mut waits = 0;
            let future = async {
                for _ in 0..10 {
                    waits += 1;
                    yield_now().await;
                }
            };
            let is_cancelled = sim::cancellable(future).await.is_none();
            send.send(if is_cancelled { waits } else { 0 }).unwrap();
        };
        waited.lock().unwrap().push(cancelled);
        program
    });
    report.assert_passed();
    assert_eq!(report.cancelled(), 10);
    let waited: Vec<u32> =
        waited.into_inner().unwrap().iter().map(|waited| waited.recv().unwrap()).collect();
    let mut times = BTreeMap::new();
    waited.iter().for_each(|waits| *times.entry(*waits).or_insert(0) += 1);
    assert!((1..=10).all(|waits| times.contains_key(&waits)), "{waited:?}");
}

#[test]
fn outside_of_a_simulation_nothing_is_cancelled() {
    let done = colored::Runtime::builder().workers(1).build().unwrap().run(async {
        for _ in 0..200 {
            if sim::cancellable(yield_now()).await.is_none() {
                return false;
            }
        }
        true
    });
    assert!(done);
}

/// A client moves money in two calls.
async fn transfer(is_safe: bool) {
    let [from, to] = [(1, 100), (2, 0)].map(|(color, sum)| ColorCell::new(color, sum));
    let accounts = [from.clone(), to.clone()];
    let moves = async move {
        let [from, to] = accounts;
        from.call(|sum| *sum -= 10).await;
        to.call(|sum| *sum += 10).await;
    };
    let client = spawn_colored(3, async move {
        if is_safe {
            // A task goes on when nobody waits for it.
            let moving = spawn_colored(4, moves);
            let mut waits = moving;
            if sim::cancellable(&mut waits).await.is_none() {
                waits.await.unwrap();
            }
        } else {
            sim::cancellable(moves).await;
        }
    });
    client.await.unwrap();
    let sum = from.call(|sum| *sum).await + to.call(|sum| *sum).await;
    sim::always!(sum == 100, "no money is lost");
}

#[test]
fn a_transfer_that_is_not_cancel_safe_is_found_and_its_twin_passes() {
    let failure = super::failure(|| transfer(false));
    assert!(failure.message().contains("no money is lost"), "{failure}");
    assert!(failure.choices() <= 2, "a call that waits, and its end: {failure}");
    assert!(failure.to_string().contains("fault: cancelled at await "), "{failure}");
    let report = super::passes(|| transfer(true));
    assert!(report.cancelled() > 0);
}

/// A choice of the program is named by its place, its color and how often it came there.
#[test]
fn a_choice_of_the_program_stays_the_same_one_when_others_are_removed() {
    let failure = super::failure(|| async {
        let tasks: Vec<_> = (1..5_u64)
            .map(|color| {
                spawn_colored(color, async move {
                    let mut faults = 0;
                    for _ in 0..10 {
                        faults += u32::from(sim::buggify!(3));
                        yield_now().await;
                    }
                    faults
                })
            })
            .collect();
        let mut most = 0;
        for task in tasks {
            most = most.max(task.await.unwrap());
        }
        sim::always!(most < 5, "a task has few faults");
    });
    assert_eq!(failure.choices(), 5, "{failure}");
    assert_eq!(failure.to_string().matches("`buggify!` at tests/sim/cancel.rs").count(), 5);
}

/// A task works under a lease of 10 ms, which another one takes over when it is over.
async fn lease(looks: bool) {
    let owner = ColorCell::new(1, 0);
    let other = owner.clone();
    let end = Instant::now() + Duration::from_millis(10);
    let takes_over = spawn_colored(2, async move {
        sleep(Duration::from_millis(10)).await;
        other.call(|owner| *owner = 2).await;
    });
    owner.call(|owner| *owner = 1).await;
    for _ in 0..5 {
        yield_now().await;
    }
    let is_owner = owner.call(move |owner| *owner == 1 || looks && Instant::now() >= end).await;
    sim::always!(is_owner, "nobody else works under the lease");
    takes_over.await.unwrap();
}

#[test]
fn time_passes_while_tasks_are_runnable_if_the_machine_stalls() {
    super::passes_with(Builder::new().seeds(silent(1000)), || lease(false));
    let stalls = || Builder::new().faults(Faults::none().with(Fault::Stall));
    let failure = found(&stalls().run(|| lease(false)));
    assert!(failure.to_string().contains("fault: nothing runs for 10ms"), "{failure}");
    super::passes_with(stalls().seeds(silent(1000)), || lease(true));
}

/// Two timers are due one after the other, and the second one's task runs first.
#[test]
fn a_timer_fires_late() {
    let builder = Builder::new().seeds(silent(1000)).faults("stall".parse().unwrap());
    let report = builder.run(|| async {
        let log = ColorCell::new(1, Vec::new());
        let tasks: Vec<_> = (2..4_u64)
            .map(|color| {
                let log = log.clone();
                spawn_colored(color, async move {
                    let begin = Instant::now();
                    sleep(Duration::from_millis(color)).await;
                    let late = begin.elapsed() > Duration::from_millis(color);
                    log.call(move |log| log.push((color, late))).await;
                })
            })
            .collect();
        // Something else goes on meanwhile.
        for _ in 0..10 {
            yield_now().await;
        }
        join_all(tasks).await;
        let log = log.call(|log| log.clone()).await;
        sim::sometimes!(log[0] == (3, false) && log[1].0 == 2, "the second one is first");
        sim::sometimes!(log.contains(&(2, true)), "a timer is late");
    });
    assert_all_seen(&report);
}
