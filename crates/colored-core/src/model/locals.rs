//! The values of a color, and their end: under the color, once, and not while it is in use.

use super::check_within;
use super::doubles::{Witness, gate};
use super::pool::{pool, start, step_beside, step_until_idle};
use crate::ext::locals::ColorLocal;
use crate::kernel::color::Color;
use crate::kernel::sched::spawn_here;
use crate::kernel::spawn::yield_now;
use crate::sync::Arc;
use loom::thread;
use std::cell::Cell;
use std::future::pending;

const COLOR: Color = Color::new(1);

/// The events of the color's value.
const MADE: u32 = 1;
const USED: u32 = 2;
const DROPPED: u32 = 3;

/// The color's own value: its destructor notes marks where its tasks do.
static LOCAL: ColorLocal<Slot> = ColorLocal::__new("LOCAL", Slot::default);

#[derive(Default)]
struct Slot(Cell<Option<Arc<Witness>>>);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.take().expect("whoever makes it uses it").note(DROPPED);
    }
}

/// Uses the value, and tells the witness whether it is new.
fn touch(witness: &Arc<Witness>) {
    let old = LOCAL.with(|slot| slot.0.replace(Some(Arc::clone(witness))));
    witness.note(if old.is_some() { USED } else { MADE });
}

/// One value after another, each dropped before the next one is made.
fn assert_one_at_a_time(marks: &[u32]) {
    let mut alive = false;
    for mark in marks {
        assert_eq!(alive, *mark != MADE, "{marks:?}");
        alive = *mark != DROPPED;
    }
    assert!(!alive, "{marks:?}");
}

/// A worker ends the last task of a color that has a value, while another thread spawns the next one
/// and runs it.
/// Shows G5.
#[test]
fn retire_against_revive() {
    check_within(2, || {
        let (handle, mut workers, _beds) = pool(2);
        let witness = Witness::new();
        let first = Arc::clone(&witness);
        drop(handle.spawn_colored(COLOR, async move { touch(&first) }));
        let thread = step_beside(workers.remove(0), || ());
        let second = Arc::clone(&witness);
        let mut task = handle.spawn_colored(COLOR, async move { touch(&second) });
        step_until_idle(&mut workers[0]);
        let mut worker = thread.join().unwrap();
        step_until_idle(&mut worker);
        step_until_idle(&mut workers[0]);
        task.try_take().expect("it is done").unwrap();
        assert_one_at_a_time(&witness.marks());
        assert_eq!(handle.scheduler().lanes(), 1, "only the default lane is left");
    });
}

/// A color that is used again before its values are dropped keeps them for as long as it has a task.
/// Shows G5.
#[test]
fn a_task_keeps_the_values() {
    check_within(2, || {
        let (handle, mut workers, _beds) = pool(1);
        let witness = Witness::new();
        let first = Arc::clone(&witness);
        drop(handle.spawn_colored(COLOR, async move { touch(&first) }));
        let thread = step_beside(workers.remove(0), || ());
        let second = Arc::clone(&witness);
        let mut task = handle.spawn_colored(COLOR, async move {
            touch(&second);
            let before = second.marks().len();
            yield_now().await;
            touch(&second);
            second.marks()[before..] == [USED]
        });
        let mut worker = thread.join().unwrap();
        step_until_idle(&mut worker);
        assert!(task.try_take().expect("it is done").unwrap(), "{:?}", witness.marks());
        assert_one_at_a_time(&witness.marks());
        assert_eq!(handle.scheduler().lanes(), 1, "only the default lane is left");
    });
}

/// A thread that runs nothing gives the last reference back. A worker still drops the values, or, at shutdown, a thread
/// that comes too late for a worker.
/// Shows G8.
#[test]
fn a_foreign_thread_ends_the_color() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool(1);
        let witness = Witness::new();
        let lane = handle.lane(COLOR);
        let own = Arc::clone(&witness);
        drop(handle.spawn_colored(COLOR, async move { touch(&own) }));
        step_until_idle(&mut workers[0]);
        let thread = start(workers.remove(0), &beds);
        let owner = thread::spawn(move || drop(lane));
        handle.scheduler().shut_down();
        owner.join().unwrap();
        thread.join().unwrap();
        assert_eq!(witness.marks(), [MADE, DROPPED]);
        assert_eq!(handle.scheduler().lanes(), 1, "only the default lane is left");
    });
}

/// A color with a task that waits, and an owner that stays: the value goes after the task.
/// Shows G8.
#[test]
fn close_against_a_value() {
    struct Last(Arc<Witness>);
    impl Drop for Last {
        fn drop(&mut self) {
            touch(&self.0);
        }
    }
    check_within(2, || {
        let (handle, mut workers, beds) = pool(1);
        let witness = Witness::new();
        let lane = handle.lane(COLOR);
        let last = Last(Arc::clone(&witness));
        drop(handle.spawn_colored(COLOR, async move {
            touch(&last.0);
            pending::<()>().await;
        }));
        let thread = start(workers.remove(0), &beds);
        handle.scheduler().shut_down();
        thread.join().unwrap();
        let marks = witness.marks();
        if marks.starts_with(&[MADE, USED]) {
            assert_eq!(marks, [MADE, USED, DROPPED], "its poll, its destructor, its color");
        }
        // The value that a destructor has made may be left to the owner.
        drop(lane);
        assert_one_at_a_time(&witness.marks());
        assert_eq!(handle.scheduler().lanes(), 1, "only the default lane is left");
    });
}

/// A lane of a unique color is kept for its value while a shutdown looks at the table:
/// the tasks that the value's destructor spawns there are cancelled.
/// Shows G8.
#[test]
fn close_against_a_kept_lane() {
    struct Spawns(Arc<()>);
    impl Drop for Spawns {
        fn drop(&mut self) {
            let payload = Arc::clone(&self.0);
            let endless = async move {
                pending::<()>().await;
                drop(payload);
            };
            drop(spawn_here(endless).ok().expect("under the color"));
        }
    }
    static SPAWNS: ColorLocal<Cell<Option<Spawns>>> = ColorLocal::__new("SPAWNS", Cell::default);
    check_within(2, || {
        let (handle, mut workers, beds) = pool(1);
        let (gate, wait) = gate();
        let payload = Spawns(Arc::new(()));
        let join = handle.spawn_unique(async move {
            SPAWNS.with(|slot| slot.set(Some(payload)));
            wait.await;
        });
        step_until_idle(&mut workers[0]);
        gate.open();
        let thread = start(workers.remove(0), &beds);
        handle.scheduler().shut_down();
        thread.join().unwrap();
        assert!(join.is_finished());
    });
}
