//! Turns that begin and end without an exchange, against wakes, aborts and released references.
//!
//! The wakers' writes here are `Relaxed`, and no lock is between: only the wake makes them visible.

use super::doubles::{HopTo, Port, Turns, Witness, lane, spawn};
use super::{check, check_within};
use crate::kernel::lane::LaneRef;
use crate::kernel::task::Join;
use crate::sync::{Arc, AtomicBool, Mutex, Ordering};
use loom::thread;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// The signals that a task waits for, and its wakers.
struct Signals {
    given: [AtomicBool; 2],
    wakers: Mutex<Vec<Waker>>,
    witness: Arc<Witness>,
}

impl Signals {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            given: [AtomicBool::new(false), AtomicBool::new(false)],
            wakers: Mutex::new(Vec::new()),
            witness: Witness::new(),
        })
    }

    fn give(&self, signal: usize, waker: &Waker) {
        // Ordering: the model tests the ordering of the wake.
        self.given[signal].store(true, Ordering::Relaxed);
        waker.wake_by_ref();
    }

    fn has(&self, signal: usize) -> bool {
        // Ordering: as in `give`.
        self.given[signal].load(Ordering::Relaxed)
    }

    fn take_wakers(&self) -> Vec<Waker> {
        std::mem::take(&mut *self.wakers.lock())
    }
}

/// Gives two wakers away, wakes itself some times, and is ready when it has seen both signals.
struct Listen {
    signals: Arc<Signals>,
    yields: u32,
    wants: usize,
}

impl Future for Listen {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.signals.witness.marks().is_empty() {
            let wakers = [cx.waker().clone(), cx.waker().clone()];
            self.signals.wakers.lock().extend(wakers);
        }
        self.signals.witness.touch();
        if self.yields > 0 {
            self.yields -= 1;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if (0..self.wants).all(|signal| self.signals.has(signal)) {
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

fn listen(
    lane: &LaneRef,
    yields: u32,
    wants: usize,
) -> (Join<(), crate::kernel::lane::LanePtr>, Arc<Signals>) {
    let signals = Signals::new();
    let join = spawn(lane, Listen { signals: Arc::clone(&signals), yields, wants });
    (join, signals)
}

/// Two threads wake a task, and one of them runs it: a poll sees what the other one wrote, no matter whether that
/// thread found the task waiting, scheduled, notified or in its poll.
#[test]
fn each_wake_is_before_a_poll() {
    check(|| {
        let port = Port::new();
        let lane = lane(&port);
        let (join, signals) = listen(&lane, 0, 2);
        port.run_all();
        let wakers = signals.take_wakers();
        let (far, waker) = (Arc::clone(&signals), wakers[1].clone());
        let thread = thread::spawn(move || far.give(1, &waker));
        signals.give(0, &wakers[0]);
        port.run_all();
        thread.join().unwrap();
        port.run_all();
        assert!(join.is_finished(), "a wake-up was lost");
        assert!((2..=3).contains(&signals.witness.marks().len()));
    });
}

/// The same with a wake that finds the wake of another thread.
#[test]
fn a_wake_that_changes_nothing_is_before_a_poll() {
    check_within(2, || {
        let port = Port::new();
        let lane = lane(&port);
        let (join, signals) = listen(&lane, 1, 2);
        assert!(port.run_one(Turns::One));
        let threads: Vec<_> = signals
            .take_wakers()
            .into_iter()
            .enumerate()
            .map(|(signal, waker)| {
                let far = Arc::clone(&signals);
                thread::spawn(move || far.give(signal, &waker))
            })
            .collect();
        port.run_all();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        port.run_all();
        assert!(join.is_finished(), "a wake-up was lost");
    });
}

/// Several threads poll a task that wakes itself, one after another: each finds what the last one left.
#[test]
fn yield_against_another_runner() {
    check(|| {
        let port = Port::new();
        let lane = lane(&port);
        let (join, signals) = listen(&lane, 2, 0);
        drop(lane);
        let runner = Arc::clone(&port);
        let thread = thread::spawn(move || {
            runner.run_one(Turns::One);
            runner.run_one(Turns::One);
        });
        port.run_one(Turns::One);
        thread.join().unwrap();
        port.run_all();
        assert!(join.is_finished());
        assert_eq!(signals.witness.marks().len(), 3);
        drop(signals.take_wakers());
    });
}

/// A task that yields is woken: no turn is lost, and it has at most one extra turn.
#[test]
fn yield_against_wake() {
    check(|| {
        let port = Port::new();
        let lane = lane(&port);
        let (join, signals) = listen(&lane, 1, 1);
        let far = Arc::clone(&signals);
        assert!(port.run_one(Turns::One));
        let wakers = signals.take_wakers();
        let thread = thread::spawn(move || far.give(0, &wakers[0]));
        port.run_one(Turns::One);
        thread.join().unwrap();
        port.run_all();
        assert!(join.is_finished(), "the wake-up was lost");
        assert!((2..=3).contains(&signals.witness.marks().len()));
    });
}

/// A task that yields, or has not begun, is aborted: it is dropped once, and not polled after its
/// abort is known.
#[test]
fn yield_against_abort() {
    check(|| {
        let port = Port::new();
        let lane = lane(&port);
        let (mut join, signals) = listen(&lane, 9, 0);
        drop(lane);
        let abort = join.abort_handle();
        let thread = thread::spawn(move || abort.abort());
        port.run_one(Turns::One);
        port.run_one(Turns::One);
        thread.join().unwrap();
        let polled = signals.witness.marks().len();
        port.run_one(Turns::One);
        let error = join.try_take().expect("the abort was lost").expect_err("it yields for long");
        assert!(error.is_cancelled());
        assert_eq!(signals.witness.marks().len(), polled);
        drop(signals.take_wakers());
    });
}

/// The handle goes, and a waker on another thread, while the task ends: the last of them frees the task, after all
/// uses.
#[test]
fn end_against_the_other_references() {
    check(|| {
        let port = Port::new();
        let lane = lane(&port);
        let (join, signals) = listen(&lane, 1, 0);
        drop(lane);
        assert!(port.run_one(Turns::One));
        let wakers = signals.take_wakers();
        let threads = [
            thread::spawn(move || drop(join)),
            thread::spawn(move || wakers.into_iter().for_each(|waker| waker.wake())),
        ];
        port.run_one(Turns::Endless);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        port.run_all();
    });
}

/// A waker leaves the poll in which its task moves, and is fired with no lock behind the move: it schedules the task on
/// its new lane.
#[test]
fn a_hop_is_before_the_wake_that_follows() {
    check(|| {
        let port = Port::new();
        let (from, to) = (lane(&port), lane(&port));
        let signals = Signals::new();
        let own = Arc::clone(&signals);
        let join = spawn(&from, async move {
            poll_fn(|cx| Poll::Ready(own.wakers.lock().push(cx.waker().clone()))).await;
            HopTo(to).await;
            poll_fn(|_| if own.has(0) { Poll::Ready(()) } else { Poll::Pending }).await;
        });
        drop(from);
        let far = Arc::clone(&signals);
        let thread = thread::spawn(move || fire(&far));
        port.run_all();
        thread.join().unwrap();
        fire(&signals);
        port.run_all();
        assert!(join.is_finished(), "the wake-up was lost");
    });
}

/// Gives the first signal, and wakes the wakers that are there.
fn fire(signals: &Signals) {
    for waker in signals.take_wakers() {
        // Ordering: as in `Signals::give`.
        signals.given[0].store(true, Ordering::Relaxed);
        waker.wake();
    }
}
