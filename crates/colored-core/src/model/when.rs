//! Several lanes at once: claims that are enqueued, granted, dropped and shut down.

use super::doubles::{HopTo, Port, Turns, Witness, gate, lane_of, run_beside, spawn};
use super::pool::{pool, start};
use super::{check, check_within};
use crate::kernel::cell::{ColorCell, when};
use crate::kernel::color::Color;
use crate::sync::Arc;
use loom::thread;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

type Cell = ColorCell<()>;

/// A behavior that has been polled once, with its result to come.
type Pending<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

fn cells(port: &Arc<Port>) -> (Cell, Cell) {
    let cell = |color| ColorCell::on_lane(lane_of(port, color), ());
    (cell(1), cell(2))
}

fn scene() -> (Arc<Port>, Cell, Cell, Arc<Witness>) {
    let port = Port::new();
    let (a, b) = cells(&port);
    (port, a, b, Witness::new())
}

fn poll(future: &mut Pending<'_>) -> bool {
    future.as_mut().poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(())
}

/// A behavior that marks its run, and keeps its cells; if it has to wait.
fn start_both(
    one: &Cell,
    other: &Cell,
    witness: &Arc<Witness>,
    mark: u32,
) -> Option<Pending<'static>> {
    let witness = Arc::clone(witness);
    let cells = [one.clone(), other.clone()];
    let mut future: Pending<'_> = Box::pin(when(cells, move |_| witness.note(mark)));
    (!poll(&mut future)).then_some(future)
}

fn assert_done(behavior: Option<Pending<'_>>) {
    assert!(behavior.is_none_or(|mut behavior| poll(&mut behavior)), "it never got its lanes");
}

/// Two behaviors that name their cells in different orders, both lanes queued already, and a plain
/// push: neither waits for the other for ever, and they exclude each other.
#[test]
fn two_enqueue_and_a_push() {
    check_within(2, || {
        let (port, a, b, witness) = scene();
        a.post(|()| ());
        b.post(|()| ());
        let thread = {
            let (a, b, seen) = (a.clone(), b.clone(), Arc::clone(&witness));
            thread::spawn(move || start_both(&b, &a, &seen, 1))
        };
        let mark = Arc::clone(&witness);
        a.post(move |()| mark.note(3));
        let ours = start_both(&a, &b, &witness, 2);
        let theirs = thread.join().unwrap();
        port.run_all();
        assert_done(ours);
        assert_done(theirs);
        assert_eq!(witness.marks().len(), 3);
    });
}

/// Two behaviors that find all lanes idle, or some: a behavior that misses a lane gives the others
/// back.
/// Shows G1.
#[test]
fn two_at_once() {
    check_within(2, || {
        let (port, a, b, witness) = scene();
        let thread = {
            let (a, b, seen) = (a.clone(), b.clone(), Arc::clone(&witness));
            let runner = Arc::clone(&port);
            thread::spawn(move || {
                let behavior = start_both(&b, &a, &seen, 1);
                runner.run_all();
                behavior
            })
        };
        let ours = start_both(&a, &b, &witness, 2);
        port.run_all();
        let theirs = thread.join().unwrap();
        port.run_all();
        assert_done(ours);
        assert_done(theirs);
        assert_eq!(witness.marks().len(), 2);
    });
}

/// The lanes are granted on two threads: one of them runs the behavior, and the nodes behind it on
/// either lane come after it.
/// Shows G1.
#[test]
fn granted_on_two_threads() {
    check_within(2, || {
        let (port, a, b, witness) = scene();
        let before = [&a, &b].map(|cell| {
            let witness = Witness::new();
            let seen = Arc::clone(&witness);
            cell.post(move |()| seen.touch());
            witness
        });
        let seen = (Arc::clone(&witness), before.clone());
        let mut both: Pending<'_> = Box::pin(when((&a, &b), move |(), ()| {
            seen.0.note(1);
            assert!(seen.1.iter().all(|before| before.marks().len() == 1));
        }));
        assert!(!poll(&mut both));
        let mark = Arc::clone(&witness);
        a.post(move |()| mark.note(2));
        let runner = Arc::clone(&port);
        let thread = thread::spawn(move || {
            runner.run_one(Turns::One);
            runner.run_one(Turns::One);
        });
        port.run_one(Turns::Endless);
        thread.join().unwrap();
        port.run_all();
        assert_done(Some(both));
        assert_eq!(witness.marks(), [1, 2]);
    });
}

/// A lane is given back while two producers push behind the claim, so that one may be half done.
/// Shows G8.
#[test]
fn release_against_two_pushes() {
    check_within(2, || {
        let (port, a, b, witness) = scene();
        a.post(|()| ());
        let behavior = start_both(&a, &b, &witness, 1);
        let threads = [&a, &b].map(|cell| {
            let (cell, seen) = (cell.clone(), Arc::clone(&witness));
            thread::spawn(move || cell.post(move |()| drop(seen)))
        });
        port.run_all();
        for thread in threads {
            thread.join().unwrap();
        }
        port.run_all();
        assert_done(behavior);
        assert_eq!(witness.marks(), [1]);
    });
}

/// The future is dropped while its lanes are granted: the closure runs or is dropped, once, and the
/// cells go with the last of the two.
/// Shows G8.
#[test]
fn drop_against_grant() {
    check_within(2, || {
        let port = Port::new();
        let (a, b) = cells(&port);
        let payload = Arc::new(());
        a.post(|()| ());
        let mut both: Pending<'_> = Box::pin(when([a, b], move |_| drop(payload)));
        assert!(!poll(&mut both));
        let thread = run_beside(&port, || ());
        drop(both);
        thread.join().unwrap();
        port.run_all();
    });
}

/// A task moves from one lane to the other, and is aborted, while a behavior takes both.
/// Shows G1.
#[test]
fn behavior_against_hop_and_abort() {
    check_within(2, || {
        let port = Port::new();
        let (from, to) = (lane_of(&port, 1), lane_of(&port, 2));
        let (a, b) = (ColorCell::on_lane(from.clone(), ()), ColorCell::on_lane(to.clone(), ()));
        let witness = Witness::new();
        let (gate, wait) = gate();
        let seen = Arc::clone(&witness);
        let mut join = spawn(&from, async move {
            seen.touch();
            HopTo(to).await;
            seen.touch();
            wait.await;
        });
        drop(from);
        let abort = join.abort_handle();
        let runner = Arc::clone(&port);
        let thread = run_beside(&port, move || {
            runner.run_one(Turns::One);
            abort.abort();
        });
        let behavior = start_both(&a, &b, &witness, 1);
        port.run_all();
        thread.join().unwrap();
        port.run_all();
        assert_done(behavior);
        assert!(join.try_take().expect("the abort was lost").is_err());
        drop(gate);
    });
}

/// One lane of a shared set is read on another thread.
#[test]
fn shared_claim_against_reader_and_writer() {
    check_within(2, || {
        let (port, a, b, witness) = scene();
        let (mark, seen) = (Arc::clone(&witness), Arc::clone(&witness));
        a.post(move |()| mark.note(1));
        let mut both: Pending<'_> = Box::pin(when((a.shared(), &b), move |(), ()| {
            assert_eq!(seen.marks().len(), 1);
        }));
        assert!(!poll(&mut both));
        let thread = {
            let (a, seen, runner) = (a.clone(), Arc::clone(&witness), Arc::clone(&port));
            thread::spawn(move || {
                let read = async move { a.read(move |()| drop(seen.marks())).await };
                let mut read: Pending<'_> = Box::pin(read);
                let done = poll(&mut read);
                runner.run_all();
                (!done).then_some(read)
            })
        };
        port.run_all();
        let mark = Arc::clone(&witness);
        a.post(move |()| mark.note(2));
        let read = thread.join().unwrap();
        port.run_all();
        assert_done(Some(both));
        assert_done(read);
        assert_eq!(witness.marks(), [1, 2]);
    });
}

/// Shutdown while a thread that is no worker enqueues a behavior: the closure runs or is dropped,
/// and no part of it stays.
/// Shows G8.
#[test]
fn stop_against_enqueue() {
    check_within(2, || {
        let (handle, mut workers, beds) = pool(1);
        let a = ColorCell::new_in(&handle, Color::new(1), ());
        let b = ColorCell::new_in(&handle, Color::new(2), ());
        a.post(|()| ());
        let payload = Arc::new(());
        let mut both: Pending<'_> = Box::pin(when((&a, &b), move |(), ()| drop(payload)));
        let thread = start(workers.remove(0), &beds);
        poll(&mut both);
        handle.scheduler().shut_down();
        thread.join().unwrap();
    });
}

/// A call that finds its lane idle, against a behavior that takes it.
/// Shows G1.
#[test]
fn behavior_against_call() {
    check(|| {
        let (port, a, b, witness) = scene();
        let (called, seen) = (a.clone(), Arc::clone(&witness));
        let thread = run_beside(&port, move || {
            if called.call_now(|()| seen.note(2)).is_err() {
                called.post(move |()| seen.note(2));
            }
            called
        });
        let behavior = start_both(&a, &b, &witness, 1);
        port.run_all();
        thread.join().unwrap();
        port.run_all();
        assert_done(behavior);
        assert_eq!(witness.marks().len(), 2);
    });
}
