//! Lanes on their way home: the home that goes to sleep finds them, and so does a thief. A lost wake-up is a deadlock
//! here.

use super::doubles::Gate;
use super::pool::{Flag, at_home, pool, run, start, step_until_idle, stop, wake_up};
use super::{check, check_within};
use crate::kernel::sched::{Park, Scheduler, Step};
use crate::sync::{Arc, Mutex};
use loom::thread;

/// As many events as are needed.
const MANY: usize = 1_000;

/// The home goes to sleep while a lane is left for it, by a worker that looks at no queue afterwards.
/// Shows G6.
#[test]
fn home_queue_against_sleep() {
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

/// Two lanes are left for their home, which is awake. The first cannot end before the second has run. They go from the
/// home queue to the deque while the sender goes to sleep, or is a thief.
/// Shows G6.
#[test]
fn two_lanes_sent_home_against_a_thief() {
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

/// A scheduler's `Park` that tells no time. A thief asks it for the time when it has found all deques and all home
/// queues empty: then the stored closure runs.
#[derive(Clone)]
struct Meanwhile(Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>);

impl Park for Meanwhile {
    fn unpark(&self, _: usize) {}

    fn now(&self) -> u64 {
        let happens = self.0.lock().take();
        if let Some(happens) = happens {
            happens();
        }
        0
    }
}

/// Two lanes are left for a home that is awake, and go from the home queue to the deque while a third worker, which has
/// just looked there, goes to sleep: it finds them in one of the two.
#[test]
fn home_queue_that_is_fetched_against_sleep() {
    check(|| {
        let meanwhile = Meanwhile(Arc::new(Mutex::new(None)));
        let (handle, mut workers) = Scheduler::with_workers(3, 7, Box::new(meanwhile.clone()));
        let lanes = [(), ()].map(|()| at_home(&handle, &mut workers[1], || ()));
        wake_up(&handle, &mut workers[1]);
        let (mut third, mut home) = (workers.remove(2), workers.remove(1));
        let mut sender = workers.remove(0);
        let left = Flag::new();
        let set = Arc::clone(&left);
        *meanwhile.0.lock() = Some(Box::new(move || {
            sender.batch(MANY, || lanes.each_ref().map(Gate::open));
            set.set();
            // Not a preemption, since the model allows few.
            thread::yield_now();
        }));
        let thread = thread::spawn(move || {
            let _ = third.step();
            third
        });
        left.wait();
        assert_eq!(home.step(), Step::Ran);
        let third = thread.join().unwrap();
        // One lane is left, or the third worker has just run it.
        assert!(!handle.scheduler().is_parked(2), "nobody comes for the other one");
        handle.scheduler().shut_down();
        [home, third].iter_mut().for_each(step_until_idle);
    });
}

/// A lane is left for a home that is awake but stuck, by a worker that looks at no queue afterwards, while a third
/// worker goes to sleep.
/// Shows G6.
#[test]
fn home_queue_of_a_stuck_home() {
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
