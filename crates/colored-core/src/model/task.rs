//! The life of a task, with a run queue of one slot in place of a lane.

use super::check;
use super::doubles::{Wait, Witness, gate};
use crate::kernel::chain::Node;
use crate::kernel::task::{self, Abort, Cell, EndedTurn, Join, Schedule, TaskRef, TaskTurn};
use crate::sync::{Arc, Mutex};
use loom::thread;
use std::panic::Location;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, RawWakerVTable, Waker};

/// Where the one task waits for its turn.
struct Slot(Mutex<Option<Queued>>);

struct Queued(NonNull<Node>);

// SAFETY: a task that is ready may be run by any thread.
unsafe impl Send for Queued {}

#[derive(Clone, Copy, PartialEq)]
struct Line(NonNull<Slot>);

// SAFETY: the slot is shared by its lock, and freed after all threads have ended.
unsafe impl Send for Line {}
// SAFETY: a shared reference gives a copy of the pointer, and a lock guards the slot.
unsafe impl Sync for Line {}

impl Schedule for Line {
    type Target = Slot;

    fn into_raw(self) -> NonNull<Slot> {
        self.0
    }

    fn from_raw(raw: NonNull<Slot>) -> Self {
        Self(raw)
    }

    fn waker_table() -> &'static RawWakerVTable {
        static TABLE: RawWakerVTable = task::waker_table::<Line>();
        &TABLE
    }

    fn mark_yielded(_task: TaskRef<Self>) -> bool {
        false
    }

    unsafe fn schedule(self, node: NonNull<Node>) {
        let before = self.slot().0.lock().replace(Queued(node));
        assert!(before.is_none(), "a task is scheduled once at a time");
    }

    unsafe fn resume(self, _node: NonNull<Node>) {
        unreachable!("no task has a section here");
    }
}

impl Line {
    fn new() -> Self {
        Self(NonNull::from(Box::leak(Box::new(Slot(Mutex::new(None))))))
    }

    fn slot(&self) -> &Slot {
        // SAFETY: only `close` frees the slot, when all other threads have ended.
        unsafe { self.0.as_ref() }
    }

    fn close(self) {
        assert!(self.slot().0.lock().is_none(), "nothing is left");
        // SAFETY: `new` made the pointer from a box, and all other threads have ended.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }

    fn spawn<F>(self, future: F) -> Join<F::Output, Self>
    where
        F: Future + Send + 'static,
        F::Output: Send,
    {
        // SAFETY: the future is `Send`, and borrows nothing.
        let (task, join) = unsafe { Cell::allocate(future, self, 0, false, Location::caller()) };
        // SAFETY: the task is fresh, so this thread is the owner that may move it.
        unsafe { self.schedule(task.node()) };
        join
    }

    /// One turn of the task, if it is ready, as a lane would run it.
    fn turn(self) -> bool {
        let Some(Queued(node)) = self.slot().0.lock().take() else { return false };
        // SAFETY: a scheduled task is not complete, so the runtime's reference keeps it alive.
        let task = unsafe { TaskRef::<Self>::from_node(node) };
        // SAFETY: this thread has taken it out of the slot: it is the holder, and this is one turn.
        let mut turn = unsafe { TaskTurn::new(task) };
        if let Some(stored) = turn.run(false) {
            turn.complete(stored);
        }
        // SAFETY: the task has had its turn here, and is out of the slot.
        let ended = unsafe { EndedTurn::new(task) };
        if let Err(ended) = ended.release()
            && let Some(woken) = ended.end()
        {
            woken.schedule();
        }
        true
    }

    fn run_turn(self) {
        while self.turn() {}
    }
}

/// Waits, and leaves a mark in state without a lock at each poll.
struct Marked {
    wait: Wait,
    witness: Arc<Witness>,
}

impl Future for Marked {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.witness.touch();
        Pin::new(&mut self.wait).poll(cx)
    }
}

impl Drop for Marked {
    fn drop(&mut self) {
        self.witness.touch();
    }
}

/// A wake-up that comes before, during or after the poll causes another poll, exactly once at a time, and the thread
/// that runs it sees what the last poll left.
#[test]
fn wake_against_poll() {
    check(|| {
        let line = Line::new();
        let (gate, wait) = gate();
        let witness = Witness::new();
        let join = line.spawn(Marked { wait, witness: Arc::clone(&witness) });
        let thread = thread::spawn(move || {
            gate.open();
            line.run_turn();
        });
        line.run_turn();
        thread.join().unwrap();
        line.run_turn();
        assert!(join.is_finished(), "the wake-up was lost");
        drop(join);
        assert!((2..=3).contains(&witness.marks().len()));
        line.close();
    });
}

/// Many wakers of one task: one of them schedules it, the others do nothing. The last waker is consumed by a wake,
/// which frees the task.
#[test]
fn wakers_against_each_other() {
    struct Leave(Arc<Mutex<Vec<Waker>>>);
    impl Future for Leave {
        type Output = ();
        fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
            let mut wakers = self.0.lock();
            if wakers.is_empty() {
                wakers.extend([cx.waker().clone(), cx.waker().clone()]);
                return Poll::Pending;
            }
            Poll::Ready(())
        }
    }
    check(|| {
        let line = Line::new();
        let wakers = Arc::new(Mutex::new(Vec::new()));
        drop(line.spawn(Leave(Arc::clone(&wakers))));
        line.run_turn();
        let other = wakers.lock().remove(0);
        let own = wakers.lock()[0].clone();
        let thread = thread::spawn(move || {
            other.wake();
            line.run_turn();
        });
        own.wake_by_ref();
        line.run_turn();
        thread.join().unwrap();
        line.run_turn();
        own.wake();
        let last = wakers.lock().pop();
        last.expect("two were left").wake();
        line.close();
    });
}

/// An abort ends the task in one of two ways, and drops the future once.
/// Shows G8.
#[test]
fn abort_against_poll() {
    check(|| {
        let line = Line::new();
        let (gate, wait) = gate();
        let witness = Witness::new();
        let mut join = line.spawn(Marked { wait, witness: Arc::clone(&witness) });
        let abort: Abort<Line> = join.abort_handle();
        let thread = thread::spawn(move || {
            abort.abort();
            line.run_turn();
        });
        line.run_turn();
        thread.join().unwrap();
        line.run_turn();
        let error = join.try_take().expect("the abort was lost").expect_err("nobody opened");
        assert!(error.is_cancelled());
        drop((join, gate));
        line.close();
    });
}

/// An abort and a wake-up at the same time: the task is done either way.
/// Shows G8.
#[test]
fn abort_against_wake() {
    check(|| {
        let line = Line::new();
        let (gate, wait) = gate();
        let mut join = line.spawn(wait);
        line.run_turn();
        let abort = join.abort_handle();
        let thread = thread::spawn(move || {
            abort.abort();
            line.run_turn();
        });
        gate.open();
        line.run_turn();
        thread.join().unwrap();
        line.run_turn();
        assert!(join.try_take().is_some(), "both were lost");
        drop(join);
        line.close();
    });
}

/// The last reference goes on any of three threads: the task is freed once, after every use.
/// Shows G8.
#[test]
fn last_reference() {
    check(|| {
        let line = Line::new();
        let (gate, wait) = gate();
        let join = line.spawn(wait);
        let abort = join.abort_handle();
        let thread = thread::spawn(move || drop(abort));
        let other = thread::spawn(move || drop(join));
        gate.open();
        line.run_turn();
        thread.join().unwrap();
        other.join().unwrap();
        line.close();
    });
}
