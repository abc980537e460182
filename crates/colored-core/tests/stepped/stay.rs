//! The end of a `block_on`, which runs the tasks that its local tasks leave behind. Miri runs these tests too: it
//! sees a destructor that reaches a value which is borrowed for the drop that runs the destructor.

use crate::doubles::{Clock, NeverParks};
use colored_core::{Color, Scheduler, SchedulerHandle, Step, Worker, hop, spawn_local, yield_now};
use std::cell::Cell;
use std::future::pending;
use std::rc::Rc;

fn scheduler() -> (SchedulerHandle, Vec<Worker>) {
    Scheduler::with_workers(1, 7, Box::new(NeverParks))
}

/// A value that spawns a task when it is dropped. The task has another such value, which spawns one time less.
struct Spawns {
    left: u32,
    dropped: Rc<Cell<u32>>,
}

impl Drop for Spawns {
    fn drop(&mut self) {
        self.dropped.set(self.dropped.get() + 1);
        if self.left > 0 {
            spawn_waiting(self.left - 1, &self.dropped);
        }
    }
}

fn spawn_waiting(left: u32, dropped: &Rc<Cell<u32>>) {
    let spawns = Spawns { left, dropped: Rc::clone(dropped) };
    let waits = async move {
        let _spawns = spawns;
        pending::<()>().await;
    };
    assert!(spawn_local(waits).is_ok(), "this thread is inside `block_on`");
}

#[test]
fn destructors_at_the_end_spawn_others() {
    let (handle, _workers) = scheduler();
    let dropped = Rc::new(Cell::new(0));
    let main = async {
        spawn_waiting(3, &dropped);
        yield_now().await;
        assert_eq!(dropped.get(), 0);
    };
    handle.block_on(main).unwrap().unwrap();
    assert_eq!(dropped.get(), 4, "each of them is dropped before it returns");
}

/// A guest's other colors have their turns while the main future, which is never out of work, has the default one.
#[test]
fn a_slice_of_the_thread_has_64_polls() {
    let clock = Clock::default();
    // The time stands still, and is not 0.
    clock.spend(1_000_000_000);
    let (handle, mut workers) = Scheduler::with_workers(1, 7, Box::new(clock));
    // The color that has filled its slice comes back by way of a worker.
    let helper = std::thread::spawn(move || while workers[0].step() != Step::Stopped {});
    let has_run = Rc::new(Cell::new(false));
    let runs = Rc::clone(&has_run);
    let main = async {
        let other = async move {
            hop(Color::new(1)).await;
            runs.set(true);
        };
        assert!(spawn_local(other).is_ok(), "this thread is inside `block_on`");
        let mut polls = 1;
        while !has_run.get() && polls < 1_000 {
            yield_now().await;
            polls += 1;
        }
        polls
    };
    // One turn of the slice is that of the other task.
    assert_eq!(handle.block_on(main).unwrap().unwrap(), 64);
    handle.scheduler().shut_down();
    helper.join().unwrap();
}

/// A destructor at the end is still inside the `block_on`.
#[test]
fn destructors_at_the_end_are_inside() {
    struct Asks(Rc<Cell<Option<(bool, bool)>>>);
    impl Drop for Asks {
        fn drop(&mut self) {
            let of_a_scheduler = SchedulerHandle::with_current(|handle| handle.is_some());
            let refused =
                SchedulerHandle::with_current(|handle| handle.unwrap().block_on(async {}).is_err());
            self.0.set(Some((of_a_scheduler, refused)));
        }
    }
    let (handle, _workers) = scheduler();
    let answers = Rc::new(Cell::new(None));
    let asks = Asks(Rc::clone(&answers));
    let main = async {
        let waits = async move {
            let _asks = asks;
            pending::<()>().await;
        };
        assert!(spawn_local(waits).is_ok(), "this thread is inside `block_on`");
        yield_now().await;
    };
    handle.block_on(main).unwrap().unwrap();
    assert_eq!(answers.get(), Some((true, true)));
    assert!(SchedulerHandle::with_current(|handle| handle.is_none()), "and then no more");
    handle.block_on(async {}).unwrap().unwrap();
}
