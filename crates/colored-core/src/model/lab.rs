//! The laboratory: what is handed to one worker is found by it, what is in a shared queue by
//! somebody, and nothing is left over at the end. A lost wake-up is a deadlock here.

use super::doubles::{Endless, OneTurn, Port, Witness, gate, lane};
use super::pool::{
    Flag, at_home, both_come, pool_with, run, start, start_both, stay_stuck, step_until_idle, stop,
    wake_up,
};
use super::{check, check_within};
use crate::color::Color;
use crate::lane::{ReadyLane, Slice, callback};
use crate::sched::Step;
use crate::sched::lab::{Balance, Options, Placement, Queue};
use crate::sync::Arc;
use loom::thread;
use std::future::pending;

fn of(queue: Queue, balance: Balance, placement: Placement) -> Options {
    Options { queue, balance, placement, ..Options::default() }
}

/// A worker hands a lane to another that goes to sleep, and stays in its poll until that has run it.
#[test]
fn push_against_sleep() {
    check_within(2, || {
        let options = of(Queue::PerWorker, Balance::Push { threshold: 1 }, Placement::Waker);
        stay_stuck(pool_with(2, options));
    });
}

/// A lane whose home goes to sleep is made runnable: nobody else would come.
#[test]
fn home_against_sleep() {
    check_within(2, || {
        let options = of(Queue::PerWorker, Balance::None, Placement::Home);
        let (handle, mut workers, beds) = pool_with(2, options);
        let done = Flag::new();
        let set = Arc::clone(&done);
        let gate = at_home(&handle, &mut workers[1], move || set.set());
        let home = start(workers.remove(1), &beds);
        gate.open();
        done.wait();
        handle.scheduler().shut_down();
        run(workers.remove(0), &beds);
        home.join().unwrap();
    });
}

/// The same, made runnable by another worker, and with thieves: the home or the other one runs it.
#[test]
fn home_against_sleep_and_thieves() {
    check_within(1, || {
        let options = of(Queue::PerWorker, Balance::Steal, Placement::Home);
        let (handle, mut workers, beds) = pool_with(2, options);
        let done = Flag::new();
        let set = Arc::clone(&done);
        let gate = at_home(&handle, &mut workers[1], move || set.set());
        // A place of its own for the opener: by color it is sent to nobody.
        drop(handle.spawn_unique(async move { gate.open() }));
        step_until_idle(&mut workers[0]);
        let threads = start_both(workers, &beds);
        done.wait();
        stop(&handle, threads);
    });
}

/// A lane is on its way from the inbox of its home to the deque while the other worker goes to sleep,
/// and the home has another lane to run before it.
#[test]
fn home_with_more_against_sleep() {
    check_within(1, || {
        let options = of(Queue::PerWorker, Balance::Steal, Placement::Home);
        let (handle, mut workers, beds) = pool_with(2, options);
        let (done, came) = (Flag::new(), Flag::new());
        let set = Arc::clone(&came);
        let gate = at_home(&handle, &mut workers[0], move || set.set());
        let (spawner, set) = (handle.clone(), Arc::clone(&done));
        drop(handle.spawn_unique(async move {
            // In the `next` slot, and so nobody's business.
            drop(spawner.spawn_unique(async move {
                came.wait();
                set.set();
            }));
        }));
        assert_eq!(workers[0].step(), Step::Ran);
        gate.open();
        let threads = start_both(workers, &beds);
        done.wait();
        stop(&handle, threads);
    });
}

/// A lane is left for a home that is awake and stuck, while a thief goes to sleep, and nothing else
/// happens: the thief finds it by its last look, or is woken.
fn stuck_home_against_sleep(queue: Queue) {
    check_within(2, move || {
        let (handle, mut workers, beds) = pool_with(2, of(queue, Balance::Steal, Placement::Home));
        let done = Flag::new();
        let set = Arc::clone(&done);
        let gate = at_home(&handle, &mut workers[1], move || set.set());
        wake_up(&handle, &mut workers[1]);
        let thief = start(workers.remove(0), &beds);
        gate.open();
        done.wait();
        handle.scheduler().shut_down();
        run(workers.remove(0), &beds);
        thief.join().unwrap();
    });
}

#[test]
fn inbox_of_a_stuck_home_against_sleep() {
    stuck_home_against_sleep(Queue::PerWorker);
}

#[test]
fn naive_queue_of_a_stuck_home_against_sleep() {
    stuck_home_against_sleep(Queue::PerWorkerTasks);
}

/// One worker stays in its poll, with a lane in its deque, while the other one goes to sleep.
#[test]
fn stay_stuck_against_thieves() {
    check_within(2, || {
        let options = of(Queue::PerWorker, Balance::Steal, Placement::Home);
        stay_stuck(pool_with(2, options));
    });
}

/// The home stops while the lane is handed to it.
#[test]
fn home_against_the_end() {
    check_within(2, || {
        let options = of(Queue::PerWorker, Balance::None, Placement::Home);
        let (handle, mut workers, beds) = pool_with(1, options);
        let (gate, wait) = gate();
        let join = handle.spawn_unique(async move {
            wait.await;
            pending::<()>().await;
        });
        step_until_idle(&mut workers[0]);
        let home = start(workers.remove(0), &beds);
        let opener = thread::spawn(move || gate.open());
        handle.scheduler().shut_down();
        opener.join().unwrap();
        home.join().unwrap();
        assert!(join.is_finished());
    });
}

/// Two lanes of which one cannot end before the other has run: both workers must come to the one
/// queue.
fn two_workers_for_two_lanes(queue: Queue, preemptions: usize) {
    check_within(preemptions, move || {
        let options = of(queue, Balance::Steal, Placement::Waker);
        both_come(pool_with(2, options), None);
    });
}

#[test]
fn two_workers_for_two_lanes_of_one_queue() {
    two_workers_for_two_lanes(Queue::Shared, 2);
}

#[test]
fn two_workers_for_two_entries_of_one_queue() {
    two_workers_for_two_lanes(Queue::SharedTasks, 1);
}

#[test]
fn two_workers_for_two_entries_of_naive_queues() {
    two_workers_for_two_lanes(Queue::PerWorkerTasks, 1);
}

/// A task comes behind another one of its color, whose lane is just left, or stays idle: both run, in
/// order, and no entry is left over.
fn announce_against_sleep(queue: Queue, balance: Balance) {
    check_within(2, move || {
        let options = of(queue, balance, Placement::Waker);
        let (handle, mut workers, beds) = pool_with(1, options);
        let witness = Arc::new(Witness::new());
        let done = Flag::new();
        let lane = handle.lane(Color::new(1));
        let first = Arc::clone(&witness);
        callback::post(&lane, move || first.note(1));
        let worker = start(workers.remove(0), &beds);
        let (second, set) = (Arc::clone(&witness), Arc::clone(&done));
        callback::post(&lane, move || {
            second.note(2);
            set.set();
        });
        drop(lane);
        done.wait();
        assert_eq!(witness.marks(), [1, 2]);
        handle.scheduler().shut_down();
        worker.join().unwrap();
        assert_eq!(handle.scheduler().lanes(), 1);
    });
}

#[test]
fn announce_against_sleep_in_one_queue() {
    announce_against_sleep(Queue::SharedTasks, Balance::Steal);
}

#[test]
fn announce_against_sleep_at_the_home() {
    announce_against_sleep(Queue::PerWorkerTasks, Balance::None);
}

/// Three tasks of one color, made by two threads, and two workers that steal the color from each
/// other by its entries.
#[test]
fn announce_against_a_naive_thief() {
    check_within(1, || {
        let options = of(Queue::PerWorkerTasks, Balance::Steal, Placement::Waker);
        let (handle, workers, beds) = pool_with(2, options);
        let witness = Arc::new(Witness::new());
        let done = Flag::new();
        let lane = handle.lane(Color::new(1));
        let [a, b, c] = [1, 2, 3].map(|mark| {
            let (witness, set) = (Arc::clone(&witness), Arc::clone(&done));
            move || {
                witness.note(mark);
                if mark == 3 {
                    set.set();
                }
            }
        });
        callback::post(&lane, a);
        callback::post(&lane, b);
        let threads = start_both(workers, &beds);
        callback::post(&lane, c);
        drop(lane);
        done.wait();
        assert_eq!(witness.marks(), [1, 2, 3]);
        stop(&handle, threads);
        assert_eq!(handle.scheduler().lanes(), 1);
    });
}

/// What is scheduled while the worker stops is run, and its entry does not stay: it would keep its
/// lane, and the lane the scheduler. Who shuts down is the worker's thread: what is between those two
/// is in `shutdown.rs`.
fn entries_against_the_end(posts: usize, preemptions: usize) {
    check_within(preemptions, move || {
        let options = of(Queue::SharedTasks, Balance::Steal, Placement::Waker);
        let (handle, mut workers, beds) = pool_with(1, options);
        let (worker, shutter) = (workers.remove(0), handle.clone());
        let thread = thread::spawn(move || {
            shutter.scheduler().shut_down();
            drop(shutter);
            run(worker, &beds);
        });
        let lane = handle.lane(Color::new(1));
        for _ in 0..posts {
            let payload = Arc::new(());
            callback::post(&lane, move || drop(payload));
        }
        drop(lane);
        thread.join().unwrap();
        assert_eq!(handle.scheduler().lanes(), 1);
    });
}

#[test]
fn an_entry_against_the_end() {
    entries_against_the_end(1, 2);
}

#[test]
fn announce_against_the_end() {
    entries_against_the_end(2, 2);
}

/// Who takes a right that was left sees what its holder did, though no lock is between them.
#[test]
fn leave_against_take() {
    check(|| {
        let port = Port::new();
        let lane = lane(&port);
        let witness = Arc::new(Witness::new());
        for mark in 1..4 {
            let witness = Arc::clone(&witness);
            callback::post(&lane, move || witness.note(mark));
        }
        let ready = port.take().expect("it is runnable");
        let ticket = ready.ticket();
        let holder = thread::spawn(move || match ready.run(&mut OneTurn) {
            Slice::More(lane) => lane.leave_flat(),
            other => panic!("{other:?}"),
        });
        let run = |lane: ReadyLane| assert!(matches!(lane.run(&mut Endless), Slice::Idle));
        let early = ticket.take().map(run);
        holder.join().unwrap();
        let late = ticket.take().map(run);
        assert_eq!((early.is_some(), late.is_some()), (late.is_none(), early.is_none()));
        assert_eq!(witness.marks(), [1, 2, 3]);
    });
}
