//! A partition: its queue, the senders that wait for room, and the task that waits for events.
//!
//! One lock protects all of it, and every wake-up is decided under the lock, so none can be lost:
//!
//! * The task sleeps only if it finds the queue empty, and a sender that puts an event into an empty
//!   queue finds its waker. The task is woken once, however many events come before it runs.
//! * A sender waits only if `queued + reserved` is the capacity or more. The thread that makes room
//!   reserves it for the first waiting sender, which then puts its event there, or passes the room on.
//! * The task ends when the partition is closed, the queue empty and nothing reserved, so every
//!   accepted event is handled.

use super::batching::{Batch, Batching};
use super::handler::Events;
use crate::wall;
use colored_limit::{WaitQueue, WaiterId, WaiterState};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

/// One event in so many is timed.
///
/// Two looks at the clock cost as much as an event.
const SAMPLE: u64 = 16;

#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Partition<E> {
    state: Mutex<State<E>>,
    capacity: usize,
    origin: Instant,
}

#[derive(Debug)]
struct State<E> {
    queue: VecDeque<E>,
    /// Room that belongs to senders who have been called.
    reserved: usize,
    waiters: WaitQueue,
    /// The task, while it waits for events.
    sleeper: Option<Waker>,
    closed: bool,
    /// The task is gone.
    ended: bool,
    batching: Batching,
    counts: Counts,
    /// A timed event: its number, and when it came.
    timed: Option<(u64, u64)>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) accepted: u64,
    /// Events taken out of the queue, and batches.
    pub(super) taken: u64,
    pub(super) batches: u64,
    pub(super) handled: u64,
    pub(super) lost: u64,
    pub(super) panics: u64,
    /// Events given back since it was closed.
    pub(super) refused: u64,
    /// Nanoseconds.
    pub(super) delay: u64,
    pub(super) waiting: usize,
    pub(super) limit: usize,
}

/// Why an event was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    Full,
    Closed,
}

/// How a batch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Handled(usize),
    Panicked(usize),
    /// The runtime has shut down.
    Aborted(usize),
}

impl<E> Partition<E> {
    pub(super) fn new(capacity: usize, batch: Batch, origin: Instant) -> Self {
        let state = State {
            queue: VecDeque::new(),
            reserved: 0,
            waiters: WaitQueue::default(),
            sleeper: None,
            closed: false,
            ended: false,
            batching: Batching::new(batch),
            counts: Counts::default(),
            timed: None,
        };
        Self { state: Mutex::new(state), capacity, origin }
    }

    fn lock(&self) -> MutexGuard<'_, State<E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> u64 {
        u64::try_from(wall::since(self.origin).as_nanos()).unwrap_or(u64::MAX)
    }

    /// Accepts an event if there is room; with `over` also if there is none.
    pub(super) fn push(&self, event: E, over: impl FnOnce() -> bool) -> Result<(), (E, Refused)> {
        let mut state = self.lock();
        if state.closed {
            state.counts.refused += 1;
            return Err((event, Refused::Closed));
        }
        if !state.has_room(self.capacity) && !over() {
            return Err((event, Refused::Full));
        }
        let sleeper = state.accept(event, self);
        drop(state);
        wake(sleeper);
        Ok(())
    }

    /// Accepts an event if there is room, or goes to the end of the line.
    pub(super) fn push_or_wait(
        &self,
        event: E,
        waker: &Waker,
    ) -> Result<(), (E, Option<WaiterId>)> {
        // Cloned before the lock: the clone may run foreign code.
        let waker = waker.clone();
        let mut state = self.lock();
        if state.closed {
            state.counts.refused += 1;
            return Err((event, None));
        }
        if !state.has_room(self.capacity) {
            return Err((event, Some(state.waiters.join(waker))));
        }
        let sleeper = state.accept(event, self);
        drop(state);
        wake(sleeper);
        Ok(())
    }

    /// Accepts the event of a sender that has waited, if it is its turn.
    pub(super) fn push_waited(
        &self,
        event: E,
        waiter: WaiterId,
        waker: &Waker,
    ) -> Result<(), (E, Option<WaiterId>)> {
        let mut waker = waker.clone();
        let mut state = self.lock();
        let standing = state.waiters.look(&waiter, &mut waker);
        match standing {
            WaiterState::Waiting => return Err((event, Some(waiter))),
            WaiterState::Dismissed => {}
            WaiterState::Called => state.reserved -= 1,
        }
        if state.ended || standing == WaiterState::Dismissed {
            state.counts.refused += 1;
            return Err((event, None));
        }
        let sleeper = state.accept(event, self);
        drop(state);
        wake(sleeper);
        Ok(())
    }

    /// A waiting sender is dropped.
    pub(super) fn give_up(&self, waiter: WaiterId) {
        let mut state = self.lock();
        let (standing, unused) = state.waiters.leave(waiter);
        let (mut called, mut sleeper) = (Vec::new(), None);
        if standing == WaiterState::Called {
            state.reserved -= 1;
            called = state.call(self.capacity);
            sleeper = state.ends().then(|| state.sleeper.take()).flatten();
        }
        drop(state);
        drop(unused);
        called.into_iter().chain(sleeper).for_each(Waker::wake);
    }

    /// Takes a batch. False if the partition is closed and everything has been handled.
    pub(super) fn poll_take(
        &self,
        events: &mut Events<E>,
        last: &mut Option<Outcome>,
        cx: &mut Context<'_>,
    ) -> Poll<bool> {
        let mut state = self.lock();
        state.counts.note(last.take());
        if state.queue.is_empty() {
            if state.closed && state.reserved == 0 {
                return Poll::Ready(false);
            }
            // The task's own waker: no other task polls this.
            let old = state.sleeper.replace(cx.waker().clone());
            drop(state);
            drop(old);
            return Poll::Pending;
        }
        let count = state.batching.limit().min(state.queue.len());
        events.refill(&mut state.queue, count);
        let left = state.queue.len();
        state.batching.took(count, left, || self.now());
        state.counts.batches += 1;
        state.counts.taken += count as u64;
        if let Some((number, since)) = state.timed
            && number <= state.counts.taken
        {
            state.timed = None;
            state.counts.delay = self.now().saturating_sub(since);
        }
        let called = state.call(self.capacity);
        drop(state);
        called.into_iter().for_each(Waker::wake);
        Poll::Ready(true)
    }

    /// Accepts nothing any more.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let dismissed = state.waiters.dissolve();
        let sleeper = state.sleeper.take();
        drop(state);
        dismissed.into_iter().chain(sleeper).for_each(Waker::wake);
    }

    /// The task is gone: the remaining events go with it.
    pub(super) fn end(&self, last: Option<Outcome>) {
        self.close();
        let mut left = Events::default();
        let mut state = self.lock();
        state.ended = true;
        state.counts.note(last);
        let count = state.queue.len();
        left.refill(&mut state.queue, count);
        state.counts.lost += count as u64;
        drop(state);
        left.clear();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    pub(super) fn counts(&self) -> Counts {
        let state = self.lock();
        Counts { waiting: state.waiters.len(), limit: state.batching.limit(), ..state.counts }
    }
}

impl<E> State<E> {
    fn has_room(&self, capacity: usize) -> bool {
        self.waiters.is_empty() && self.queue.len() + self.reserved < capacity
    }

    /// Puts an event into the queue; returns the task to wake after the lock.
    fn accept(&mut self, event: E, of: &Partition<E>) -> Option<Waker> {
        self.counts.accepted += 1;
        if self.timed.is_none() && self.counts.accepted.is_multiple_of(SAMPLE) {
            self.timed = Some((self.counts.accepted, of.now()));
        }
        self.queue.push_back(event);
        self.sleeper.take()
    }

    /// Reserves the free room for the first waiters of the line.
    fn call(&mut self, capacity: usize) -> Vec<Waker> {
        let mut called = Vec::new();
        while self.queue.len() + self.reserved < capacity
            && let Some(waker) = self.waiters.call()
        {
            self.reserved += 1;
            called.push(waker);
        }
        called
    }

    fn ends(&self) -> bool {
        self.closed && self.queue.is_empty() && self.reserved == 0
    }
}

impl Counts {
    fn note(&mut self, outcome: Option<Outcome>) {
        match outcome {
            Some(Outcome::Handled(events)) => self.handled += events as u64,
            Some(Outcome::Panicked(events)) => {
                self.lost += events as u64;
                self.panics += 1;
            }
            Some(Outcome::Aborted(events)) => self.lost += events as u64,
            None => {}
        }
    }
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}
