//! The records of waits: read by the search for deadlocks, at any point where a wait ends, and when its task is
//! complete.

use super::check_within;
use super::doubles::{Wait, gate};
use super::pool::{pool, step_beside, step_until_idle};
use crate::ext::deadlock::look_for_deadlocks;
use crate::ext::exclusive::{Exclusive, exclusive};
use crate::kernel::color::Color;
use crate::kernel::sched::JoinHandle;
use crate::kernel::sched::{SchedulerHandle, spawn_here};
use crate::kernel::task::{Cause, How, WaitRecord, WaitRecords};
use crate::sync::{Arc, Mutex, UnsafeCell};
use loom::thread;
use std::future::poll_fn;
use std::panic::Location;
use std::pin::Pin;
use std::task::Poll;

/// Where a task leaves a future that it gives away.
type Place<T> = Arc<Mutex<Option<T>>>;

fn look(handle: &SchedulerHandle) {
    let _due = look_for_deadlocks(handle.scheduler(), 0);
}

fn child() -> JoinHandle<()> {
    spawn_here(async {}).unwrap_or_else(|_| panic!("this is a task"))
}

async fn poll_once<F: Future + Unpin>(future: &mut F) -> bool {
    poll_fn(|cx| Poll::Ready(Pin::new(&mut *future).poll(cx).is_ready())).await
}

/// A task that begins to await another one, gives the handle away, and waits in a section, or is over.
fn giver(
    handle: &SchedulerHandle,
    joined: JoinHandle<()>,
    stays: Option<Wait>,
) -> (JoinHandle<()>, Place<JoinHandle<()>>) {
    let place = Arc::new(Mutex::new(None));
    let given = Arc::clone(&place);
    let begins = async move {
        let mut joined = joined;
        assert!(!poll_once(&mut joined).await);
        *given.lock() = Some(joined);
    };
    let task = match stays {
        Some(gate) => handle.spawn_colored(
            Color::new(1),
            exclusive(async move {
                begins.await;
                gate.await;
            }),
        ),
        None => handle.spawn_colored(Color::new(1), begins),
    };
    (task, place)
}

/// A wait ends far from its task, while another thread looks at it.
/// Shows G12.
#[test]
fn a_wait_that_ends_elsewhere_against_a_look() {
    check_within(2, || {
        let (handle, mut workers, _beds) = pool(1);
        let ((go, gone), (open, opened)) = (gate(), gate());
        let joined = handle.spawn_colored(Color::new(2), gone);
        let (task, place) = giver(&handle, joined, Some(opened));
        step_until_idle(&mut workers[0]);
        let thread = thread::spawn(move || drop(place.lock().take()));
        look(&handle);
        thread.join().unwrap();
        look(&handle);
        go.open();
        open.open();
        step_until_idle(&mut workers[0]);
        assert!(task.is_finished());
        handle.scheduler().shut_down();
        step_until_idle(&mut workers[0]);
    });
}

/// A wait ends far from its task while the task is completed.
/// Shows G12.
#[test]
fn a_wait_that_ends_elsewhere_against_the_end_of_its_task() {
    check_within(3, || {
        let (handle, mut workers, _beds) = pool(1);
        let (go, gone) = gate();
        let joined = handle.spawn_colored(Color::new(2), gone);
        let (task, place) = giver(&handle, joined, None);
        let thread = step_beside(workers.remove(0), || ());
        let given = place.lock().take();
        drop(given);
        let mut worker = thread.join().unwrap();
        drop(place.lock().take());
        assert!(task.is_finished());
        go.open();
        step_until_idle(&mut worker);
        handle.scheduler().shut_down();
        step_until_idle(&mut worker);
    });
}

/// A section is woken while another thread looks at it: it goes on.
/// Shows G12.
#[test]
fn a_wake_against_a_look() {
    check_within(3, || {
        let (handle, mut workers, _beds) = pool(1);
        let (go, gone) = gate();
        let section = handle.spawn_colored(Color::new(1), exclusive(gone));
        step_until_idle(&mut workers[0]);
        let thread = thread::spawn(move || go.open());
        look(&handle);
        thread.join().unwrap();
        step_until_idle(&mut workers[0]);
        assert!(section.is_finished(), "its wake-up was lost");
        handle.scheduler().shut_down();
        step_until_idle(&mut workers[0]);
    });
}

/// The last section of a task ends far from it, while another thread looks: the color goes on.
/// Shows G12.
#[test]
fn the_end_of_a_section_against_a_look() {
    check_within(3, || {
        let (handle, mut workers, _beds) = pool(1);
        let (go, gone) = gate();
        let place: Place<Pin<Box<Exclusive<Wait>>>> = Arc::new(Mutex::new(None));
        let (given, mut stays) = (Arc::clone(&place), Box::pin(exclusive(gone)));
        let task = handle.spawn_colored(Color::new(1), async move {
            assert!(!poll_once(&mut stays).await);
            *given.lock() = Some(stays);
            let mut polls = 0;
            poll_fn(|_| {
                polls += 1;
                if polls > 1 { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
        });
        step_until_idle(&mut workers[0]);
        let thread = thread::spawn(move || {
            let section = place.lock().take();
            drop(section);
        });
        look(&handle);
        thread.join().unwrap();
        step_until_idle(&mut workers[0]);
        assert!(task.is_finished(), "its color stands still");
        drop(go);
        handle.scheduler().shut_down();
        step_until_idle(&mut workers[0]);
    });
}

/// A section awaits a task of its own color, and is woken for another reason while a thread searches: it gets the error
/// from this search or the next one.
/// Shows G12.
#[test]
fn a_deadlock_against_a_wake() {
    check_within(2, || {
        let (handle, mut workers, _beds) = pool(1);
        let (go, gone) = gate();
        let section = exclusive(async move {
            let (mut child, mut gone) = (child(), gone);
            poll_fn(|cx| {
                let _ready = Pin::new(&mut gone).poll(cx);
                Pin::new(&mut child).poll(cx)
            })
            .await
            .is_err_and(|error| error.is_deadlock())
        });
        let mut told = handle.spawn_colored(Color::new(1), section);
        step_until_idle(&mut workers[0]);
        let thread = step_beside(workers.remove(0), move || go.open());
        look(&handle);
        let mut worker = thread.join().unwrap();
        look(&handle);
        step_until_idle(&mut worker);
        let told = told.try_take().expect("it hangs, and was not told");
        assert!(told.expect("it does not panic"));
        handle.scheduler().shut_down();
        step_until_idle(&mut worker);
    });
}

/// Two threads look at once, and both go on.
/// Shows G12.
#[test]
fn two_looks() {
    check_within(2, || {
        let (handle, mut workers, _beds) = pool(1);
        let section = exclusive(async { child().await.is_err() });
        let mut told = handle.spawn_colored(Color::new(1), section);
        step_until_idle(&mut workers[0]);
        let other = handle.clone();
        let thread = thread::spawn(move || look(&other));
        look(&handle);
        thread.join().unwrap();
        step_until_idle(&mut workers[0]);
        assert!(told.try_take().expect("it was not told").expect("it does not panic"));
        handle.scheduler().shut_down();
        step_until_idle(&mut workers[0]);
    });
}

/// A canary: a thread without a right to the list must not use it.
#[test]
#[should_panic(expected = "Causality violation")]
fn a_look_without_a_right_is_found() {
    check_within(2, || {
        const HOW: &How = &How { text: "waits", is_shared: false };
        let nothing = std::ptr::null();
        let site = Location::caller();
        let cause = Cause { how: HOW, site, kind: &(), what: nothing, beside: nothing };
        let record = WaitRecord::allocate(nothing, cause, None, 0, false);
        // The model is leaked: loom cannot unwind through its own types.
        let list: &Shared = Box::leak(Box::new(Shared(UnsafeCell::new(WaitRecords::new()))));
        // SAFETY: the list is fresh, and no other thread has it yet.
        list.0.with_mut(|list| unsafe { &mut *list }.insert(record));
        let thread = thread::spawn(|| {
            // SAFETY: none: that is the bug.
            list.0.with_mut(|list| unsafe { &mut *list }.dissolve());
        });
        // SAFETY: none: that is the bug.
        let _seen = list.0.with(|list| unsafe { &*list }.iter().count());
        thread.join().unwrap();
    });
}

struct Shared(UnsafeCell<WaitRecords>);

// SAFETY: not sound; loom finds that.
unsafe impl Sync for Shared {}
