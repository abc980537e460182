//! Lanes on their way home: the home that goes to sleep finds them, and so does a thief. A lost
//! wake-up is a deadlock here.

use super::doubles::Gate;
use super::pool::{Flag, at_home, pool, run, start, step_until_idle, stop};
use super::{check, check_within};
use crate::sched::{Handle, Step, Worker};
use crate::sync::Arc;
use loom::thread;

/// As many events as it takes.
const MANY: usize = 1_000;

/// Leaves a worker awake, and searching for nothing.
fn wake_up(handle: &Handle, worker: &mut Worker) {
    drop(handle.spawn_unique(async {}));
    assert_eq!(worker.step(), Step::Ran);
}

/// The home goes to sleep while a lane is left for it, by a worker that then looks at nothing.
#[test]
fn mail_against_sleep() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool(2);
        let done = Flag::new();
        let set = Arc::clone(&done);
        let gate = at_home(&handle, &mut workers[1], move || set.set());
        let home = start(workers.remove(1), &beds);
        let mut sender = workers.remove(0);
        sender.batch(MANY, || gate.open());
        done.wait();
        handle.scheduler().shut_down();
        run(sender, &beds);
        home.join().unwrap();
    });
}

/// Two lanes are left for their home, which is awake, and of which the first cannot end before the
/// second has run. They go from the mail to the deque while the sender goes to sleep, or is a thief.
#[test]
fn two_letters_against_a_thief() {
    check_within(1, || {
        let (handle, mut workers, beds) = pool(2);
        let (done, came) = (Flag::new(), Flag::new());
        let (set_done, set_came) = (Arc::clone(&done), Arc::clone(&came));
        let waits = move || {
            came.wait();
            set_done.set();
        };
        let first = at_home(&handle, &mut workers[1], waits);
        let second = at_home(&handle, &mut workers[1], move || set_came.set());
        wake_up(&handle, &mut workers[1]);
        let mut sender = workers.remove(0);
        sender.batch(MANY, || {
            first.open();
            second.open();
        });
        let threads = [workers.remove(0), sender].map(|worker| start(worker, &beds));
        done.wait();
        stop(&handle, threads);
    });
}

/// Two lanes are left for a home that is awake, and go from the mail to the deque while a third worker
/// goes to sleep: it finds them in the one or the other.
#[test]
fn mail_that_is_fetched_against_sleep() {
    check(|| {
        let (handle, mut workers, _beds) = pool(3);
        let letters = [(), ()].map(|()| at_home(&handle, &mut workers[1], || ()));
        wake_up(&handle, &mut workers[1]);
        let mut third = workers.remove(2);
        let thread = thread::spawn(move || {
            let _ = third.step();
            third
        });
        // Not a preemption: those are few.
        thread::yield_now();
        workers[0].batch(MANY, || letters.each_ref().map(Gate::open));
        thread::yield_now();
        assert_eq!(workers[1].step(), Step::Ran);
        workers.push(thread.join().unwrap());
        // One is left, or has just been run by the third.
        assert!(!handle.scheduler().is_parked(2), "nobody comes for the other one");
        handle.scheduler().shut_down();
        workers.iter_mut().for_each(step_until_idle);
    });
}

/// A lane is left for a home that is awake but stuck, by a worker that then looks at nothing, while a
/// third one goes to sleep.
#[test]
fn mail_of_a_stuck_home() {
    check_within(1, || {
        let (handle, mut workers, beds) = pool(3);
        let done = Flag::new();
        let set = Arc::clone(&done);
        let gate = at_home(&handle, &mut workers[1], move || set.set());
        wake_up(&handle, &mut workers[1]);
        let [third, stuck] = [workers.remove(2), workers.remove(1)];
        let third = start(third, &beds);
        let mut sender = workers.remove(0);
        sender.batch(MANY, || gate.open());
        done.wait();
        let stuck = start(stuck, &beds);
        handle.scheduler().shut_down();
        run(sender, &beds);
        for thread in [stuck, third] {
            thread.join().unwrap();
        }
    });
}
