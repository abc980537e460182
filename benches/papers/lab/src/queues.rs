//! One queue of events for all processors, of several kinds, as in staged middleware.
//!
//! | | one lock | a lock for each end | none |
//! |---|---|---|---|
//! | a list of nodes | [`OneLock`] | [`TwoLocks`] | [`NonBlocking`] |
//! | other | [`Deque`] | | [`Injector`], which has blocks of nodes |
//!
//! The locks are [`Os`] and [`Spin`]. [`run`] is the event-driven scheduler: a worker takes one event, handles it, and adds
//! the next. It knows no colors: two events of one stage may run at the same time.
//!
//! The lists allocate nothing: their nodes are made before, one for each event and one more. An event that is taken
//! brings a node, which it needs to be added again.

mod list;
mod lock;
mod non_blocking;

pub use self::list::{OneLock, TwoLocks};
pub use self::lock::{Lock, Os, Spin};
pub use self::non_blocking::NonBlocking;
pub use crossbeam_deque::Injector;

use crossbeam_deque::Steal;
use crossbeam_utils::Backoff;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// A queue that several threads share, first in, first out.
pub trait Queue<T>: Sync {
    /// Adds an event.
    fn push(&self, event: T);

    /// Takes the event that was added first.
    fn pop(&self) -> Option<T>;
}

/// An event of a list.
#[derive(Debug)]
pub struct Event {
    /// What its handler is given.
    pub what: u64,
    /// A node that no queue uses.
    node: u32,
}

impl Event {
    /// The event with this number, which no other event of the same queue may have. The number must be less than the
    /// room of the queue.
    #[must_use]
    pub const fn new(number: u32, what: u64) -> Self {
        // The list itself has node 0 at first.
        Self { what, node: number + 1 }
    }

    /// The same event for its next stage.
    #[must_use]
    pub const fn with(self, what: u64) -> Self {
        Self { what, ..self }
    }
}

/// A `VecDeque` under a lock of the system.
#[derive(Debug)]
pub struct Deque<T>(Mutex<VecDeque<T>>);

impl<T> Deque<T> {
    /// A queue that has memory for so many events.
    #[must_use]
    pub fn with_room(events: usize) -> Self {
        Self(Mutex::new(VecDeque::with_capacity(events)))
    }
}

impl<T: Send> Queue<T> for Deque<T> {
    fn push(&self, event: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(event);
    }

    fn pop(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

impl<T: Send> Queue<T> for Injector<T> {
    fn push(&self, event: T) {
        Injector::push(self, event);
    }

    fn pop(&self) -> Option<T> {
        loop {
            match self.steal() {
                Steal::Success(event) => return Some(event),
                Steal::Empty => return None,
                Steal::Retry => {}
            }
        }
    }
}

/// Adds the events, and runs `handle` on so many threads until every event has ended: `handle` returns the event to be
/// added next, or `None` at the end of an event. Each thread calls `on_start` with its number first. Returns the number of
/// calls of `handle`.
///
/// # Panics
///
/// If the number of workers is 0, or the system gives no thread.
pub fn run<T: Send>(
    queue: &impl Queue<T>,
    workers: usize,
    on_start: fn(usize),
    events: Vec<T>,
    handle: impl Fn(T) -> Option<T> + Sync,
) -> u64 {
    assert!(workers > 0, "a scheduler has at least one worker");
    let left = AtomicUsize::new(events.len());
    let work = |events: Vec<T>| {
        events.into_iter().for_each(|event| queue.push(event));
        let (mut handled, backoff) = (0_u64, Backoff::new());
        // Ordering: a count, not a signal: `scope` orders the end of the threads.
        while left.load(Ordering::Relaxed) > 0 {
            let Some(event) = queue.pop() else {
                backoff.snooze();
                continue;
            };
            backoff.reset();
            handled += 1;
            match handle(event) {
                Some(next) => queue.push(next),
                // Ordering: see above.
                None => drop(left.fetch_sub(1, Ordering::Relaxed)),
            }
        }
        handled
    };
    thread::scope(|scope| {
        let mut events = Some(events);
        let start = |worker| {
            let (work, events) = (&work, events.take().unwrap_or_default());
            scope.spawn(move || {
                on_start(worker);
                work(events)
            })
        };
        let threads: Vec<_> = (0..workers).map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("no handler panics")).sum()
    })
}
