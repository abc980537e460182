//! Deadlocks through a `when`, in any order of events.

use super::check_within;
use super::doubles::gate;
use super::pool::{pool, step_until_idle};
use crate::ext::deadlock::look_for_deadlocks;
use crate::ext::exclusive::exclusive;
use crate::kernel::cell::{CallError, ColorCell, when};
use crate::kernel::color::Color;
use crate::kernel::sched::JoinHandle;
use crate::kernel::sched::SchedulerHandle;
use crate::sync::{Arc, Mutex};
use loom::thread;
use std::pin::pin;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Waker};

fn look(handle: &SchedulerHandle) {
    let _due = look_for_deadlocks(handle.scheduler(), 0);
}

/// A call and a `when` come to one line at once. A section over the color that the `when` lacks joins the caller
/// afterwards: it gets the error exactly if the `when` is first.
/// Shows G12.
#[test]
fn a_call_against_a_when() {
    let ever = std::sync::Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
    let seen = std::sync::Arc::clone(&ever);
    check_within(2, move || {
        let (handle, mut workers, _beds) = pool(2);
        let cells = [1, 2].map(|color| ColorCell::new_in(&handle, Color::new(color), 0));
        let ((keep, kept), (go, gone)) = (gate(), gate());
        let holder = handle.spawn_colored(cells[0].color(), exclusive(kept));
        let place = Arc::new(Mutex::new(None));
        let joined = Arc::clone(&place);
        let section = exclusive(async move {
            gone.await;
            let caller = joined.lock().take();
            let mut caller = caller.expect("it is there");
            match (&mut caller).await {
                Ok(value) => Ok(value),
                Err(error) => Err((error, caller)),
            }
        });
        let mut section = handle.spawn_colored(cells[1].color(), section);
        workers.iter_mut().for_each(step_until_idle);
        let called = cells[0].clone();
        let call = async move { called.call(|value| *value + 1).await };
        *place.lock() = Some(handle.spawn_unique(call));
        let both = handle.spawn_unique(when(cells, |mut cells| cells[0] += 10));
        let mut other = workers.remove(1);
        let thread = thread::spawn(move || {
            step_until_idle(&mut other);
            other
        });
        step_until_idle(&mut workers[0]);
        workers.push(thread.join().unwrap());
        go.open();
        workers.iter_mut().for_each(step_until_idle);
        keep.open();
        workers.iter_mut().for_each(step_until_idle);
        workers.iter_mut().for_each(step_until_idle);
        let joined = section.try_take();
        seen[usize::from(joined.is_none())].fetch_or(true, Relaxed);
        look(&handle);
        workers.iter_mut().for_each(step_until_idle);
        let joined = joined.or_else(|| section.try_take()).expect("it hangs, and was not told");
        match joined.expect("it does not panic") {
            Ok(value) => assert_eq!(value, 1),
            Err((error, mut caller)) => {
                assert!(error.is_deadlock());
                let value = caller.try_take().expect("the section is over");
                assert_eq!(value.expect("it does not panic"), 11, "the call was first");
            }
        }
        assert!(holder.is_finished() && both.is_finished());
        handle.scheduler().shut_down();
        workers.iter_mut().for_each(step_until_idle);
    });
    assert!(ever.iter().all(|ever| ever.load(Relaxed)), "one of them was always first");
}

/// A `when` gets a lane that it was in line for, while a section over the color that it lacks begins to await a task
/// behind it: the section gets the error, whichever is first.
/// Shows G12.
#[test]
fn a_lane_that_is_got_against_a_join() {
    check_within(2, || {
        let (handle, mut workers, _beds) = pool(2);
        let colors = [1, 2].map(Color::new);
        let cells = colors.map(|color| ColorCell::new_in(&handle, color, 0));
        let ((keep, kept), (go, gone)) = (gate(), gate());
        let holder = handle.spawn_colored(colors[0], exclusive(kept));
        let place = Arc::new(Mutex::new(None::<JoinHandle<()>>));
        let joined = Arc::clone(&place);
        let section = exclusive(async move {
            gone.await;
            let task = joined.lock().take();
            let mut task = task.expect("it is there");
            let told = (&mut task).await;
            (told.is_err_and(|error| error.is_deadlock()), task)
        });
        let mut section = handle.spawn_colored(colors[1], section);
        workers.iter_mut().for_each(step_until_idle);
        let both = handle.spawn_unique(when(cells, |mut cells| cells[0] += 10));
        workers.iter_mut().for_each(step_until_idle);
        *place.lock() = Some(handle.spawn_colored(colors[0], async {}));
        let mut other = workers.remove(1);
        let thread = thread::spawn(move || {
            keep.open();
            step_until_idle(&mut other);
            other
        });
        go.open();
        step_until_idle(&mut workers[0]);
        workers.push(thread.join().unwrap());
        workers.iter_mut().for_each(step_until_idle);
        look(&handle);
        workers.iter_mut().for_each(step_until_idle);
        let section = section.try_take().expect("it hangs, and was not told");
        let (told, task) = section.expect("it does not panic");
        assert!(told && holder.is_finished() && both.is_finished() && task.is_finished());
        drop((task, both, holder));
        handle.scheduler().shut_down();
        workers.iter_mut().for_each(step_until_idle);
    });
}

/// A `when` that no task makes gets its first color before it is queued on all its colors. A section over the last one
/// makes a call under the second: it is not told before the `when` has that color too.
/// Shows G12.
#[test]
fn a_lane_that_is_got_before_all_places() {
    check_within(2, || {
        let (handle, mut workers, _beds) = pool(1);
        let cells = [1, 2, 3].map(|color| ColorCell::new_in(&handle, Color::new(color), 0));
        let ((keep, kept), (go, gone)) = (gate(), gate());
        let holder = handle.spawn_colored(cells[1].color(), exclusive(kept));
        let called = cells[1].clone();
        let section = exclusive(async move {
            gone.await;
            called.checked_call(|value| *value).await
        });
        let mut section = handle.spawn_colored(cells[2].color(), section);
        step_until_idle(&mut workers[0]);
        cells[0].post(|_| ());
        let mut worker = workers.remove(0);
        let thread = thread::spawn(move || {
            step_until_idle(&mut worker);
            go.open();
            step_until_idle(&mut worker);
            worker
        });
        let mut all = pin!(when(cells, |mut cells| cells[1] += 10));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(all.as_mut().poll(&mut cx).is_pending());
        let mut worker = thread.join().unwrap();
        look(&handle);
        step_until_idle(&mut worker);
        assert!(section.try_take().is_none(), "the holder has the color");
        keep.open();
        step_until_idle(&mut worker);
        look(&handle);
        step_until_idle(&mut worker);
        let value = section.try_take().expect("it hangs, and was not told");
        let value = value.expect("it does not panic");
        assert!(
            matches!(value, Ok(0) | Err(CallError::Deadlock(_))),
            "the call is first, or is told"
        );
        assert!(holder.is_finished() && all.poll(&mut cx).is_ready());
        handle.scheduler().shut_down();
        step_until_idle(&mut worker);
    });
}
