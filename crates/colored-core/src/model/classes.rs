//! Priorities: a lane is raised while a thread queues it or a worker takes it. It is run once, and as one of the higher
//! class.

use super::doubles::{Witness, post};
use super::pool::{Flag, both_come, pool, pool_with, start, step_until_idle};
use super::{check_large, check_within};
use crate::ext::priority::Priority;
use crate::kernel::color::Color;
use crate::kernel::sched::{Options, SchedulerHandle, Step};
use crate::kernel::spawn::yield_now;
use crate::sync::Arc;
use loom::thread;
use std::future::pending;
use std::panic::Location;

/// Makes the scheduler queue by class.
fn use_classes(handle: &SchedulerHandle) {
    handle.set_priority(Color::new(9), Priority::Low);
    handle.set_priority(Color::new(9), Priority::Normal);
}

/// A lane is queued while its color becomes more urgent: it runs before the lane that was queued first.
#[test]
fn raise_against_put() {
    check_within(2, || {
        let (handle, mut workers, _beds) = pool(1);
        use_classes(&handle);
        let witness = Witness::new();
        let [first, raised] = [1, 2].map(|color| handle.lane(Color::new(color)));
        post(&first, &witness, 1);
        let (lane, second) = (raised.clone(), Arc::clone(&witness));
        let poster = thread::spawn(move || post(&lane, &second, 2));
        handle.set_priority(Color::new(2), Priority::High);
        poster.join().unwrap();
        step_until_idle(&mut workers[0]);
        assert_eq!(witness.marks(), [2, 1]);
        handle.set_priority(Color::new(2), Priority::Normal);
    });
}

/// The same for an urgent task that is spawned on the lane.
#[test]
fn urgent_task_against_put() {
    check_within(2, || {
        let (handle, mut workers, _beds) = pool(1);
        use_classes(&handle);
        let witness = Witness::new();
        let [first, raised] = [1, 2].map(|color| handle.lane(Color::new(color)));
        post(&first, &witness, 1);
        let second = Arc::clone(&witness);
        let poster = thread::spawn(move || post(&raised, &second, 2));
        let third = Arc::clone(&witness);
        let urgent = async move { third.note(3) };
        drop(handle.spawn_high_from(Location::caller(), Color::new(2), urgent));
        poster.join().unwrap();
        step_until_idle(&mut workers[0]);
        let marks = witness.marks();
        assert!(marks == [2, 3, 1] || marks == [3, 2, 1], "{marks:?}");
    });
}

/// A lane is raised while the worker takes it, runs it, and puts it back behind another lane.
#[test]
fn raise_against_put_back() {
    check_within(2, || {
        let options = Options { slice_polls: 1, ..Options::default() };
        let (handle, mut workers, _beds) = pool_with(1, options);
        use_classes(&handle);
        let witness = Witness::new();
        let ours = Arc::clone(&witness);
        drop(handle.spawn_colored(Color::new(1), async move {
            ours.note(1);
            yield_now().await;
            ours.note(2);
        }));
        let other = Arc::clone(&witness);
        drop(handle.spawn_colored(Color::new(2), async move { other.note(3) }));
        let mut worker = workers.remove(0);
        let worker = thread::spawn(move || {
            assert_eq!(worker.step(), Step::Ran);
            worker
        });
        handle.set_priority(Color::new(1), Priority::High);
        let mut worker = worker.join().unwrap();
        step_until_idle(&mut worker);
        // The worker may have seen no high lane before the raise, and the other lane after it.
        let marks = witness.marks();
        assert!(marks == [1, 2, 3] || marks == [3, 1, 2], "{marks:?}");
        handle.set_priority(Color::new(1), Priority::Normal);
        assert_eq!(handle.scheduler().lanes(), 1);
    });
}

/// A color is raised while the worker takes it, runs it and puts it back.
#[test]
fn raise_against_the_worker() {
    check_large(|| {
        let (handle, mut workers, beds) = pool(1);
        handle.set_priority(Color::new(1), Priority::Low);
        let witness = Witness::new();
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
        let witness = Witness::new();
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
        let witness = Witness::new();
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
    check_large(|| {
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

/// A color gets a priority while the workers stop: the lane that it keeps does not stay.
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
