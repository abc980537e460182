//! A task that keeps its lane, against threads that wake it, end it, or want its lane.

use super::doubles::{Port, Turns, Wait, Witness, gate, post, run_beside, scene, spawn};
use super::pool::{pool, shut_down_beside_a_wake, start, step_beside, step_until_idle};
use super::{check, check_within};
use crate::ext::deadlock::look_for_deadlocks;
use crate::ext::exclusive::{Exclusive, exclusive};
use crate::kernel::cell::{ColorCell, when};
use crate::kernel::color::Color;
use crate::kernel::lane::LanePtr;
use crate::kernel::sched::{SchedulerHandle, Worker};
use crate::kernel::task::Join;
use crate::sync::{Arc, Mutex};
use loom::thread;
use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Poll;

/// Leaves marks 1 and 2 around a wait.
async fn marked(wait: Wait, witness: Arc<Witness>) {
    witness.note(1);
    wait.await;
    witness.note(2);
}

/// The task has ended when this thread and the other one have run what was left.
fn assert_ends(port: &Port, other: thread::JoinHandle<()>, task: &Join<(), LanePtr>) {
    port.run_all();
    other.join().unwrap();
    port.run_all();
    assert!(task.is_finished(), "the wake-up was lost");
}

/// A wake that comes when the poll ends: the lane goes on, with this task, and no other node came between.
/// Shows G11.
#[test]
fn wake_against_keep() {
    check(|| {
        let (port, lane, witness) = scene();
        let (gate, wait) = gate();
        let join = spawn(&lane, exclusive(marked(wait, Arc::clone(&witness))));
        post(&lane, &witness, 3);
        drop(lane);
        let thread = run_beside(&port, move || gate.open());
        assert_ends(&port, thread, &join);
        assert_eq!(witness.marks(), [1, 2, 3]);
    });
}

/// Another thread pushes while the task keeps its lane, goes on, or is about to.
/// Shows G11.
#[test]
fn push_against_keep() {
    check(|| {
        let (port, lane, witness) = scene();
        let (gate, wait) = gate();
        let join = spawn(&lane, exclusive(marked(wait, Arc::clone(&witness))));
        let seen = Arc::clone(&witness);
        let thread = run_beside(&port, move || {
            post(&lane, &seen, 3);
            lane
        });
        port.run_one(Turns::One);
        gate.open();
        assert_ends(&port, thread, &join);
        assert_eq!(witness.marks(), [1, 2, 3]);
    });
}

/// What another thread has pushed before it ends the wait of a section runs before the next section of the task.
/// Shows G7.
#[test]
fn taken_again_behind_a_push() {
    check(|| {
        let (port, lane, witness) = scene();
        let (gate, wait) = gate();
        let seen = Arc::clone(&witness);
        let join = spawn(&lane, async move {
            exclusive(wait).await;
            seen.note(1);
            exclusive(async { seen.note(2) }).await;
        });
        let seen = Arc::clone(&witness);
        let thread = run_beside(&port, move || {
            post(&lane, &seen, 3);
            gate.open();
            lane
        });
        assert_ends(&port, thread, &join);
        assert_eq!(witness.marks(), [1, 3, 2]);
    });
}

/// References to the lane that were taken in the section's poll are counted before the lane is given away.
#[test]
fn spawn_inside_against_wake() {
    check(|| {
        let (port, lane, witness) = scene();
        let (gate, wait) = gate();
        let (own, seen) = (lane.clone(), Arc::clone(&witness));
        let join = spawn(
            &lane,
            exclusive(async move {
                let mark = Arc::clone(&seen);
                drop(spawn(&own, async move { mark.note(3) }));
                marked(wait, seen).await;
                // Not before: more references have been taken than given back when the lane is kept.
                drop(own);
            }),
        );
        drop(lane);
        let thread = run_beside(&port, move || gate.open());
        assert_ends(&port, thread, &join);
        assert_eq!(witness.marks(), [1, 2, 3]);
    });
}

/// The section ends and the task is aborted: one of the two, and the lane goes on.
/// Shows G11.
#[test]
fn release_against_abort() {
    check_within(2, || {
        let (port, lane, witness) = scene();
        let (gate, wait) = gate();
        let mut join = spawn(&lane, async move {
            exclusive(wait).await;
            pending::<()>().await;
        });
        port.run_all();
        post(&lane, &witness, 1);
        drop(lane);
        let abort = join.abort_handle();
        let thread = run_beside(&port, move || abort.abort());
        gate.open();
        port.run_all();
        thread.join().unwrap();
        port.run_all();
        let error = join.try_take().expect("the abort was lost").expect_err("it never ends");
        assert!(error.is_cancelled());
        assert_eq!(witness.marks(), [1]);
        assert_eq!(port.waiting_sections(), 0);
    });
}

type Stray = Arc<Mutex<Option<Pin<Box<Exclusive<std::future::Pending<()>>>>>>>;

/// Polls a section once and puts it where others can drop it.
async fn lose_a_section(place: Stray, wait: Wait) {
    let mut section = Box::pin(exclusive(pending()));
    poll_fn(|cx| Poll::Ready(section.as_mut().poll(cx).is_pending())).await;
    *place.lock() = Some(section);
    wait.await;
}

/// A section is dropped far from its task, while the task goes to sleep, or wakes up.
/// Shows G11.
#[test]
fn release_from_afar() {
    check_within(2, || {
        let (port, lane, witness) = scene();
        let (gate, wait) = gate();
        let place = Stray::new(Mutex::new(None));
        let join = spawn(&lane, lose_a_section(Arc::clone(&place), wait));
        post(&lane, &witness, 1);
        drop(lane);
        let stray = Arc::clone(&place);
        let thread = run_beside(&port, move || {
            let section = stray.lock().take();
            drop(section);
        });
        port.run_all();
        thread.join().unwrap();
        let section = place.lock().take();
        drop(section);
        port.run_all();
        assert_eq!(witness.marks(), [1], "the lane was not given back");
        assert_eq!(port.waiting_sections(), 0);
        gate.open();
        port.run_all();
        assert!(join.is_finished());
    });
}

/// A section is dropped far from its task, while the task is aborted: the task is freed once.
/// Shows G11.
#[test]
fn release_from_afar_against_abort() {
    check_within(2, || {
        let (port, lane, witness) = scene();
        let (gate, wait) = gate();
        let place = Stray::new(Mutex::new(None));
        let join = spawn(&lane, lose_a_section(Arc::clone(&place), wait));
        port.run_all();
        post(&lane, &witness, 1);
        drop(lane);
        let thread = run_beside(&port, move || {
            let section = place.lock().take();
            drop(section);
        });
        join.task().abort();
        drop(join);
        port.run_all();
        thread.join().unwrap();
        port.run_all();
        assert_eq!(witness.marks(), [1]);
        drop(gate);
    });
}

/// A shutdown finds a task that keeps its lane, or the task finds the shutdown; and the nodes that wait behind it are
/// cancelled too.
/// Shows G11.
#[test]
fn shutdown_against_keep() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool(1);
        let payload = Arc::new(());
        let join = handle.spawn_colored(Color::new(1), async move {
            exclusive(pending::<()>()).await;
            drop(payload);
        });
        let behind = handle.spawn_colored(Color::new(1), async {});
        let thread = start(workers.remove(0), &beds);
        handle.scheduler().shut_down();
        thread.join().unwrap();
        assert!(join.is_finished() && behind.is_finished());
        assert_eq!(handle.scheduler().lanes(), 1);
    });
}

/// The same against a wake-up, when the lane is in no table.
/// Shows G11.
#[test]
fn shutdown_against_wake() {
    check_within(2, || {
        shut_down_beside_a_wake(exclusive);
    });
}

/// Steps two workers on threads of their own until nothing is left to run, then looks for deadlocks, and does so again.
fn run_and_look(handle: &SchedulerHandle, workers: &mut Vec<Worker>) {
    let thread = step_beside(workers.remove(1), || ());
    step_until_idle(&mut workers[0]);
    workers.push(thread.join().unwrap());
    for _ in 0..2 {
        // One worker may have left lanes for the other.
        workers.iter_mut().for_each(step_until_idle);
        workers.iter_mut().for_each(step_until_idle);
        let _due = look_for_deadlocks(handle.scheduler(), 0);
    }
    workers.iter_mut().for_each(step_until_idle);
}

/// Two sections that call each other's colors: at most one gets the error, and both end.
/// Shows G12.
#[test]
fn crossing_calls() {
    let ever = std::sync::Arc::new(AtomicBool::new(false));
    let seen = std::sync::Arc::clone(&ever);
    check_within(1, move || {
        let (handle, mut workers, _beds) = pool(2);
        let cells = [1, 2].map(|color| ColorCell::new_in(&handle, Color::new(color), 0));
        let mut tasks = [0, 1].map(|own| {
            let other = cells[1 - own].clone();
            handle.spawn_colored(cells[own].color(), async move {
                exclusive(other.checked_call(|value| *value += 1)).await.is_err()
            })
        });
        run_and_look(&handle, &mut workers);
        let told = tasks.each_mut().map(|task| {
            let told = task.try_take().expect("it hangs, and was not told");
            told.expect("it does not panic")
        });
        assert!(told != [true; 2]);
        seen.fetch_or(told != [false; 2], Relaxed);
        drop(cells);
        handle.scheduler().shut_down();
        workers.iter_mut().for_each(step_until_idle);
    });
    assert!(ever.load(Relaxed), "in no interleaving the calls have crossed");
}

/// A section calls a color that a `when` has or gets, and the `when` wants the section's color too. Both end, whichever
/// is first in the line, and the section gets the error only if it is behind.
/// Shows G12.
#[test]
fn section_against_when() {
    let ever = std::sync::Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
    let seen = std::sync::Arc::clone(&ever);
    check_within(1, move || {
        let (handle, mut workers, _beds) = pool(2);
        let cells = [1, 2].map(|color| ColorCell::new_in(&handle, Color::new(color), 0));
        let other = cells[1].clone();
        let mut section = handle.spawn_colored(
            cells[0].color(),
            exclusive(async move { other.checked_call(|value| *value += 1).await.is_err() }),
        );
        let mut both = handle.spawn_unique(async move {
            when((&cells[1], &cells[0]), |one, other| {
                *one += 1;
                *other += 1;
                *one
            })
            .await
        });
        run_and_look(&handle, &mut workers);
        let is_told = section.try_take().expect("it hangs, and was not told").expect("it ends");
        let value = both.try_take().expect("it hangs").expect("it ends");
        // The call was before the `when`, or behind it and over, or never.
        assert!(!is_told || value == 1);
        seen[usize::from(is_told)].fetch_or(true, Relaxed);
        handle.scheduler().shut_down();
        workers.iter_mut().for_each(step_until_idle);
    });
    assert!(ever.iter().all(|ever| ever.load(Relaxed)), "one of them was always first");
}
