//! Priorities: a lane that waits is raised while a worker takes it, and is run once. The thread that raises it, or
//! leaves it, makes its ticket, and no ticket is left over at the end.

use super::doubles::{Endless, Port, Witness, lane};
use super::pool::{Flag, both_come, pool, start, step_until_idle};
use super::{check, check_within};
use crate::color::Color;
use crate::lane::{LaneRef, Priority, callback};
use crate::sync::Arc;
use loom::thread;
use std::future::pending;
use std::panic::Location;

fn post(lane: &LaneRef, witness: &Arc<Witness>, mark: u32) {
    let witness = Arc::clone(witness);
    callback::post(lane, move || witness.note(mark));
}

/// A lane is left while it becomes more urgent: exactly one of the two makes the ticket of the higher
/// class.
#[test]
fn raise_against_leave() {
    check(|| {
        let port = Port::new();
        let lane = lane(&port);
        post(&lane, &Arc::new(Witness::new()), 1);
        let ready = port.take().expect("it is runnable");
        let other = lane.clone();
        let raiser = thread::spawn(move || other.set_priority(Priority::High));
        let ticket = ready.ticket();
        let left = ready.leave();
        let raised = raiser.join().unwrap();
        let high = Some(Priority::High);
        assert_eq!((left == high) as u8 + (raised == high) as u8, 1, "{left:?} {raised:?}");
        assert!(left.is_some(), "there was no ticket");
        let lane = ticket.redeem(Priority::High).expect("nobody else takes it");
        drop(lane.run(&mut Endless));
    });
}

/// Two tickets of one lane are taken out at once: one of them has the right, and sees all that its last holder has
/// left.
#[test]
fn two_tickets_for_one_right() {
    check(|| {
        let port = Port::new();
        let lane = lane(&port);
        let witness = Arc::new(Witness::new());
        post(&lane, &witness, 1);
        post(&lane, &witness, 2);
        let ready = port.take().expect("it is runnable");
        let tickets = [ready.ticket(), ready.ticket()];
        assert_eq!(ready.leave(), Some(Priority::Normal));
        assert_eq!(lane.set_priority(Priority::High), Some(Priority::High));
        let [normal, high] = tickets;
        let thief = thread::spawn(move || {
            let lane = high.redeem(Priority::High);
            lane.map(|lane| drop(lane.run(&mut Endless))).is_some()
        });
        let early = normal.redeem(Priority::Normal).map(|lane| drop(lane.run(&mut Endless)));
        assert_ne!(early.is_some(), thief.join().unwrap(), "one of them runs it");
        assert_eq!(witness.marks(), [1, 2]);
    });
}

/// A color is raised while the worker takes it, runs it and puts it back.
#[test]
fn raise_against_the_worker() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool(1);
        handle.set_priority(Color::new(1), Priority::Low);
        let witness = Arc::new(Witness::new());
        let lane = handle.lane(Color::new(1));
        post(&lane, &witness, 1);
        drop(lane);
        let worker = start(workers.remove(0), &beds);
        let done = Flag::new();
        let (second, set) = (Arc::clone(&witness), Arc::clone(&done));
        drop(handle.spawn_high_from(Location::caller(), Color::new(1), async move {
            second.note(2);
            set.set();
        }));
        done.wait();
        assert_eq!(witness.marks(), [1, 2]);
        handle.scheduler().shut_down();
        worker.join().unwrap();
        assert_eq!(handle.scheduler().lanes(), 1);
    });
}

/// The same while two workers take from the same queues.
/// Shows G6.
#[test]
fn raise_against_steal() {
    check_within(1, || {
        let (handle, mut workers, _beds) = pool(2);
        handle.set_priority(Color::new(1), Priority::Low);
        let witness = Arc::new(Witness::new());
        let lane = handle.lane(Color::new(1));
        post(&lane, &witness, 1);
        post(&lane, &witness, 2);
        drop(lane);
        let threads = [workers.remove(0), workers.remove(0)].map(|mut worker| {
            thread::spawn(move || {
                let _ = worker.step();
                worker
            })
        });
        handle.set_priority(Color::new(1), Priority::High);
        let mut workers = threads.map(|thread| thread.join().unwrap());
        workers.iter_mut().for_each(step_until_idle);
        assert_eq!(witness.marks(), [1, 2]);
        handle.set_priority(Color::new(1), Priority::Normal);
        assert_eq!(handle.scheduler().lanes(), 1);
    });
}

/// A push behind an urgent task is half done when that task ends: the lane counts the task until it is out, and once.
/// One count too few would fail the next urgent spawn.
#[test]
fn urgent_task_before_a_push() {
    check_within(2, || {
        let (handle, mut workers, _beds) = pool(1);
        let color = Color::new(1);
        let witness = Arc::new(Witness::new());
        let lane = handle.lane(color);
        let urgent = |mark| {
            let witness = Arc::clone(&witness);
            drop(handle.spawn_high_from(
                Location::caller(),
                color,
                async move { witness.note(mark) },
            ));
        };
        urgent(1);
        let (other, second) = (lane.clone(), Arc::clone(&witness));
        let pusher = thread::spawn(move || post(&other, &second, 2));
        step_until_idle(&mut workers[0]);
        pusher.join().unwrap();
        step_until_idle(&mut workers[0]);
        urgent(3);
        step_until_idle(&mut workers[0]);
        assert_eq!(witness.marks(), [1, 2, 3]);
        drop(lane);
        assert_eq!(handle.scheduler().lanes(), 1);
    });
}

/// A color gets the first priority while a worker, which does not know of any yet, goes to sleep.
/// Shows G6.
#[test]
fn first_priority_against_sleep() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool(1);
        let worker = start(workers.remove(0), &beds);
        let done = Flag::new();
        let set = Arc::clone(&done);
        drop(handle.spawn_high_from(Location::caller(), Color::new(1), async move { set.set() }));
        done.wait();
        handle.scheduler().shut_down();
        worker.join().unwrap();
    });
}

/// One of the two lanes is less urgent.
/// Shows G6.
#[test]
fn two_workers_for_two_classes() {
    // Loom switches threads at locks and waits only: with one preemption more the model takes minutes, as the one in
    // `scheduler.rs` does.
    check_within(0, || {
        let pool = pool(2);
        pool.0.set_priority(Color::new(1), Priority::Low);
        both_come(pool, Some(Color::new(1)));
    });
}

/// A color gets a priority while the workers stop: neither the lane that it keeps nor a ticket stays.
#[test]
fn raise_against_the_end() {
    check_within(1, || {
        let (handle, mut workers, beds) = pool(1);
        let payload = Arc::new(());
        let join = handle.spawn_colored(Color::new(1), async move {
            pending::<()>().await;
            drop(payload);
        });
        handle.set_priority(Color::new(1), Priority::Low);
        let worker = start(workers.remove(0), &beds);
        let late = handle.clone();
        let raiser = thread::spawn(move || late.set_priority(Color::new(1), Priority::High));
        handle.scheduler().shut_down();
        raiser.join().unwrap();
        worker.join().unwrap();
        assert!(join.is_finished());
        assert_eq!(handle.scheduler().lanes(), 1);
    });
}
