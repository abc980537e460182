//! The views of a dump, against all that may happen to a lane meanwhile. Loom watches the list of waiting tasks, their
//! records and leaves: a visitor without the right to run the lane fails a model.

use super::doubles::{Wait, gate, post, run_beside, scene, spawn};
use super::pool::{pool, start, step_beside, step_until_idle};
use super::{check_large, check_within};
use crate::ext::dump::{Dumped, Dumping, StateSeen};
use crate::ext::exclusive::exclusive;
use crate::ext::snapshot::view::view_idle;
use crate::kernel::color::Color;
use crate::kernel::sched::{JoinHandle, SchedulerHandle};
use crate::kernel::task::Id;
use crate::sync::Arc;
use loom::thread;
use std::future::pending;

/// Dumps, and looks a few times for the holders of lanes: a lane may be in a queue to which no worker comes.
fn dump(handle: &SchedulerHandle) -> Dumped {
    let mut dumping = Dumping::begin(handle.scheduler()).expect("no other dump is made");
    while dumping.go_on() {}
    for _ in 0..2 {
        if dumping.is_done() {
            break;
        }
        thread::yield_now();
    }
    dumping.end()
}

fn states(dumped: &Dumped, id: Id) -> Vec<StateSeen> {
    let tasks = dumped.sheet.tasks().iter();
    tasks.filter(|task| task.id == id).map(|task| task.state).collect()
}

/// A push that finds the lane in a view stands behind it, and its lane goes on: no node is lost, and none is overtaken.
/// Shows G14.
#[test]
fn visit_against_push() {
    check_within(3, || {
        let (port, lane, witness) = scene();
        let (gate, wait) = gate();
        let join = spawn(&lane, wait);
        port.run_all();
        let (other, seen) = (lane.clone(), Arc::clone(&witness));
        let thread = run_beside(&port, move || {
            [1, 2].into_iter().for_each(|mark| post(&other, &seen, mark));
            gate.open();
            other
        });
        let tasks = view_idle(&lane, |view| {
            let first = view.task_behind(None);
            first.map(|task| view.has(task) && view.task_behind(Some(task)).is_none())
        });
        assert_ne!(tasks, Some(Some(false)), "there is one task at most");
        drop(lane);
        thread.join().unwrap();
        port.run_all();
        assert!(join.is_finished(), "the wake-up was lost");
        assert_eq!(witness.marks(), [1, 2]);
    });
}

/// A task waits all the time; another one of its color is woken, polled and ends meanwhile. The first is written down
/// once, by the thread that dumps or by the worker.
/// Shows G14.
#[test]
fn dump_against_wake() {
    check_within(2, || {
        let (handle, mut workers, _beds) = pool(1);
        let mut worker = workers.remove(0);
        let (gate, wait) = gate();
        let color = Color::new(1);
        let waits = handle.spawn_colored(color, pending::<()>());
        let woken = handle.spawn_colored(color, wait);
        step_until_idle(&mut worker);
        let thread = step_beside(worker, move || gate.open());
        let dumped = dump(&handle);
        match states(&dumped, waits.id())[..] {
            [StateSeen::Waiting] => {}
            [] => assert_eq!(dumped.unread, [color], "it is missing"),
            ref other => panic!("it is there twice, or not as waiting: {other:?}"),
        }
        assert!(states(&dumped, woken.id()).len() <= 1);
        let mut worker = thread.join().unwrap();
        step_until_idle(&mut worker);
        assert!(woken.is_finished(), "the wake-up was lost");
        handle.scheduler().shut_down();
        step_until_idle(&mut worker);
        assert!(waits.is_finished());
    });
}

/// Dumps while the task of `spawn`, which waits, is woken and ends on another thread; then looks at the scheduler.
fn dump_beside_a_wake(
    spawn: impl Fn(&SchedulerHandle, Wait) -> JoinHandle<()> + Send + Sync + 'static,
    look: impl Fn(&SchedulerHandle) + Send + Sync + 'static,
) {
    check_within(2, move || {
        let (handle, mut workers, _beds) = pool(1);
        let mut worker = workers.remove(0);
        let (gate, wait) = gate();
        let woken = spawn(&handle, wait);
        step_until_idle(&mut worker);
        let thread = step_beside(worker, move || gate.open());
        let dumped = dump(&handle);
        assert!(states(&dumped, woken.id()).len() <= 1);
        let mut worker = thread.join().unwrap();
        step_until_idle(&mut worker);
        assert!(woken.is_finished(), "the wake-up was lost");
        look(&handle);
        handle.scheduler().shut_down();
        step_until_idle(&mut worker);
    });
}

/// The last task of a color ends, and the lane retires, while the dump keeps it.
/// Shows G14.
#[test]
fn dump_against_retirement() {
    let look = |handle: &SchedulerHandle| {
        assert_eq!(handle.scheduler().lanes(), 1, "the lane was not retired");
    };
    dump_beside_a_wake(|handle, wait| handle.spawn_unique(wait), look);
}

/// A task keeps its lane, and is woken: the dump's pause and the wake are one after the other.
/// Shows G14.
#[test]
fn dump_against_the_wake_of_a_section() {
    let keep =
        |handle: &SchedulerHandle, wait| handle.spawn_colored(Color::new(1), exclusive(wait));
    dump_beside_a_wake(keep, |_| ());
}

/// The shutdown cancels the task, whether the dump has its lane or not, and the workers stop.
/// Shows G14.
#[test]
fn dump_against_shutdown() {
    check_large(|| {
        let (handle, mut workers, beds) = pool(1);
        let mut worker = workers.remove(0);
        let payload = Arc::new(());
        let waits = handle.spawn_colored(Color::new(1), async move {
            pending::<()>().await;
            drop(payload);
        });
        step_until_idle(&mut worker);
        let thread = start(worker, &beds);
        let other = handle.clone();
        let stops = thread::spawn(move || other.scheduler().shut_down());
        let dumped = dump(&handle);
        assert!(states(&dumped, waits.id()).len() <= 1);
        stops.join().unwrap();
        thread.join().unwrap();
        assert!(waits.is_finished());
    });
}
