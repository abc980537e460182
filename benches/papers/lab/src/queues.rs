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

#[cfg(test)]
mod tests {
    use super::*;

    const EVENTS: u32 = 100;

    /// One thread adds and takes, and the queue is empty, short and long in turn.
    fn keeps_order(queue: &impl Queue<Event>) {
        let mut free: Vec<_> = (0..EVENTS).map(|number| Event::new(number, 0)).collect();
        let (mut added, mut taken) = (0, 0);
        for round in 0..1_000 {
            for _ in 0..round % EVENTS {
                let event = free.pop().expect("there are more events than are added in a round");
                queue.push(event.with(added));
                added += 1;
            }
            while let Some(event) = queue.pop() {
                assert_eq!(event.what, taken);
                taken += 1;
                free.push(event);
            }
            assert_eq!(taken, added);
        }
    }

    /// Four threads pass events on, each of which counts its visits.
    fn keeps_all(queue: &impl Queue<Event>) {
        const VISITS: u64 = 200;
        let visits: Vec<_> = (0..EVENTS).map(|_| AtomicUsize::new(0)).collect();
        let events = (0..EVENTS).map(|number| Event::new(number, u64::from(number))).collect();
        let handled = run(
            queue,
            4,
            |_| (),
            events,
            |event| {
                let what = event.what;
                let (number, before) = (what % 1_000, what / 1_000);
                // Ordering: a count, read when all threads have ended.
                visits[number as usize].fetch_add(1, Ordering::Relaxed);
                (before + 1 < VISITS).then(|| event.with(what + 1_000))
            },
        );
        assert_eq!(handled, u64::from(EVENTS) * VISITS);
        // Ordering: see above.
        assert!(visits.iter().all(|one| one.load(Ordering::Relaxed) == VISITS as usize));
        assert!(queue.pop().is_none());
    }

    #[test]
    fn every_queue_keeps_order_and_loses_nothing() {
        fn check<Q: Queue<Event>>(queue: impl Fn() -> Q) {
            keeps_order(&queue());
            keeps_all(&queue());
        }
        const ROOM: usize = EVENTS as usize;
        check(|| OneLock::<Os>::with_room(ROOM));
        check(|| OneLock::<Spin>::with_room(ROOM));
        check(|| TwoLocks::<Os>::with_room(ROOM));
        check(|| TwoLocks::<Spin>::with_room(ROOM));
        check(|| NonBlocking::with_room(ROOM));
        check(|| Deque::with_room(ROOM));
        check(Injector::new);
    }
}
