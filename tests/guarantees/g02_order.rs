//! G2: within a color, first in is first out, in the order of scheduling.

use colored::sync::oneshot;
use colored::{Color, ColorCell, hop, spawn_colored, spawn_unique, yield_now};
use colored_tests::gate::Gate;
use colored_tests::{Dice, Trace, join_all, run, runtime, shared, wait_until};
use std::sync::mpsc;
use std::thread;

const HELD: u64 = 1;
const ASIDE: u64 = 2;

/// Shows G2.
#[test]
fn spawns_wakes_posts_and_hops_share_one_order() {
    shared(|| {
        let runtime = runtime(4);
        let handle = runtime.handle();
        let trace = Trace::new();
        let cell = handle.cell(HELD, ());
        let mut sleepers = Vec::new();
        for number in 0..25 {
            let (wake, woken) = oneshot::channel();
            let trace = trace.clone();
            let sleeper = async move {
                woken.await.unwrap();
                trace.push(4 * number + 1);
            };
            sleepers.push((wake, handle.spawn_colored(HELD, sleeper)));
        }
        // By G2, all of them wait when a later task has run.
        runtime.run(async { spawn_colored(HELD, async {}).await.unwrap() });
        let gate = Gate::close(handle, HELD);
        let mut expected = Vec::new();
        for (number, (wake, sleeper)) in sleepers.into_iter().enumerate() {
            expected.extend(4 * number..4 * number + 4);
            let ours = trace.clone();
            drop(handle.spawn_colored(HELD, async move { ours.push(4 * number) }));
            wake.send(()).unwrap();
            drop(sleeper);
            let ours = trace.clone();
            cell.post(move |()| ours.push(4 * number + 2));
            let ours = trace.clone();
            hop_now(handle, async move { ours.push(4 * number + 3) });
        }
        gate.open();
        runtime.run(async { spawn_colored(HELD, async {}).await.unwrap() });
        assert_eq!(trace.take(), expected);
    });
}

/// Makes a task hop to the held color, and returns when it is scheduled there.
fn hop_now(handle: &colored::Handle, then: impl Future<Output = ()> + Send + 'static) {
    let aside = Gate::close(handle, ASIDE);
    drop(handle.spawn_colored(ASIDE, async move {
        hop(Color::new(HELD)).await;
        then.await;
    }));
    // It runs when the hopper has been moved: a lane takes one turn after the other.
    let (done, over) = mpsc::channel();
    drop(handle.spawn_colored(ASIDE, async move { done.send(()).unwrap() }));
    aside.open();
    over.recv().unwrap();
}

/// Shows G2.
#[test]
fn tasks_run_in_the_order_of_their_wakes() {
    shared(|| {
        let runtime = runtime(4);
        let trace = Trace::new();
        let mut wakes: Vec<_> = (0..1000)
            .map(|number| {
                let (wake, woken) = oneshot::channel();
                let trace = trace.clone();
                drop(runtime.handle().spawn_colored(HELD, async move {
                    woken.await.unwrap();
                    trace.push(number);
                }));
                (number, wake)
            })
            .collect();
        runtime.run(async { spawn_colored(HELD, async {}).await.unwrap() });
        let mut dice = Dice::new(2);
        for i in (1..wakes.len()).rev() {
            wakes.swap(i, dice.below(i as u64 + 1) as usize);
        }
        let order: Vec<_> = wakes.iter().map(|(number, _)| *number).collect();
        let gate = Gate::close(runtime.handle(), HELD);
        wakes.into_iter().for_each(|(_, wake)| wake.send(()).unwrap());
        gate.open();
        runtime.run(async { spawn_colored(HELD, async {}).await.unwrap() });
        assert_eq!(trace.take(), order);
    });
}

/// Shows G2.
#[test]
fn a_lane_that_moves_between_workers_keeps_its_order() {
    let trace = Trace::new();
    let ours = trace.clone();
    run(8, async move {
        // The lane goes back to a deque after each slice, where the other seven look for work.
        let numbers = (0..20_000).map(|number| {
            let trace = ours.clone();
            spawn_colored(HELD, async move { trace.push(number) })
        });
        let numbers: Vec<_> = numbers.collect();
        let others: Vec<_> = (0..64).map(|_| spawn_unique(rounds(200))).collect();
        join_all(numbers).await;
        join_all(others).await;
    });
    assert_eq!(trace.take(), (0..20_000).collect::<Vec<_>>());
}

async fn rounds(count: usize) {
    for _ in 0..count {
        yield_now().await;
    }
}

/// Shows G2.
#[test]
fn a_task_that_yields_goes_behind_the_waiting_ones() {
    shared(|| {
        let runtime = runtime(4);
        let trace = Trace::new();
        let gate = Gate::close(runtime.handle(), HELD);
        for number in 0..3 {
            let trace = trace.clone();
            drop(runtime.handle().spawn_colored(HELD, async move {
                for _ in 0..500 {
                    trace.push(number);
                    yield_now().await;
                }
                trace.push(number);
            }));
        }
        gate.open();
        wait_until(|| trace.len() == 1503);
        let cycle: Vec<_> = (0..1503).map(|i| i % 3).collect();
        assert_eq!(trace.take(), cycle);
    });
}

/// asio#295: a post that one thread makes before it signals another runs before the posts that the other then
/// makes.
/// Shows G2.
#[test]
fn posts_of_two_threads_keep_their_causal_order() {
    shared(|| {
        let runtime = runtime(4);
        let cell = runtime.handle().cell(HELD, Vec::new());
        let other = cell.clone();
        let (tell, told) = mpsc::channel();
        let second = thread::spawn(move || {
            for number in told {
                other.post(move |trace: &mut Vec<u32>| trace.push(number));
            }
        });
        for number in 0..20_000 {
            cell.post(move |trace| trace.push(2 * number));
            tell.send(2 * number + 1).unwrap();
        }
        drop(tell);
        second.join().unwrap();
        let trace = runtime.run(async move { cell.call(std::mem::take).await });
        assert_eq!(trace.len(), 40_000);
        let mut place = vec![0; trace.len()];
        trace.iter().enumerate().for_each(|(at, number)| place[*number as usize] = at);
        assert!(place.chunks(2).all(|pair| pair[0] < pair[1]), "a consequence overtook its cause");
    });
}

/// Shows G2.
#[test]
fn calls_wait_behind_earlier_posts() {
    run(4, async {
        let cell = ColorCell::new(Color::new(HELD), 0);
        for round in 1..=2_000 {
            cell.post(|count| *count += 1);
            assert_eq!(cell.call(|count| *count).await, round);
        }
    });
}
