//! A first-in first-out queue of waiters. It is not concurrent: its owner keeps it under a lock.
//!
//! A waiter has a [`WaiterId`], which needs no allocation: ids are numbers, the queue is in the
//! order of the numbers, and every waiter before the first of the queue has been called.

use std::collections::VecDeque;
use std::task::Waker;

/// Wakers, or other values of the waiters, in the order in which they joined.
#[derive(Debug)]
pub struct WaitQueue<W = Waker> {
    waiting: VecDeque<(u64, W)>,
    next: u64,
    /// The first id that was in the queue when it was dissolved.
    dissolved: Option<u64>,
}

/// A place in a [`WaitQueue`]. Its owner looks again, or returns it by [`WaitQueue::leave`].
#[derive(Debug)]
#[must_use]
pub struct WaiterId(u64);

/// The state of a waiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaiterState {
    /// The waiter is in the queue.
    Waiting,
    /// The waiter was the first, and has been called.
    Called,
    /// The queue was dissolved before the waiter was called.
    Dismissed,
}

impl WaiterId {
    pub(crate) fn number(&self) -> u64 {
        self.0
    }
}

impl<W> Default for WaitQueue<W> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), next: 0, dissolved: None }
    }
}

impl<W> WaitQueue<W> {
    /// Joins the end of the queue.
    pub fn join(&mut self, waker: W) -> WaiterId {
        let number = self.next;
        self.next += 1;
        self.waiting.push_back((number, waker));
        WaiterId(number)
    }

    /// Returns the state of a waiter.
    #[must_use]
    pub fn state(&self, waiter: &WaiterId) -> WaiterState {
        match (self.waiting.front(), self.dissolved) {
            (_, Some(from)) if waiter.0 >= from => WaiterState::Dismissed,
            (Some((first, _)), _) if waiter.0 >= *first => WaiterState::Waiting,
            _ => WaiterState::Called,
        }
    }

    /// As [`state`](Self::state). If the waiter waits, `waker` replaces its value. The caller must
    /// drop the value that is then in `waker` after the lock, because it is foreign code.
    pub fn look(&mut self, waiter: &WaiterId, waker: &mut W) -> WaiterState {
        let state = self.state(waiter);
        if let Some(own) = self.waiting(waiter) {
            std::mem::swap(own, waker);
        }
        state
    }

    /// The value of a waiter in the queue.
    pub fn waiting(&mut self, waiter: &WaiterId) -> Option<&mut W> {
        let waits = self.state(waiter) == WaiterState::Waiting;
        waits.then(|| self.position(waiter)).map(|at| &mut self.waiting[at].1)
    }

    /// The number of the first waiter.
    pub(crate) fn first(&self) -> Option<u64> {
        self.waiting.front().map(|(first, _)| *first)
    }

    /// Calls the first waiter and returns its value, to be woken after the lock.
    #[must_use]
    pub fn call(&mut self) -> Option<W> {
        self.waiting.pop_front().map(|(_, waker)| waker)
    }

    /// Removes the waiter. Returns its state, and its value to drop after the lock.
    pub fn leave(&mut self, waiter: WaiterId) -> (WaiterState, Option<W>) {
        let state = self.state(&waiter);
        let waker = match state {
            WaiterState::Waiting => {
                self.waiting.remove(self.position(&waiter)).map(|(_, waker)| waker)
            }
            WaiterState::Called | WaiterState::Dismissed => None,
        };
        (state, waker)
    }

    /// Dismisses all waiters, and returns their values, to be woken after the lock.
    #[must_use]
    pub fn dissolve(&mut self) -> Vec<W> {
        let first = self.waiting.front().map_or(self.next, |(first, _)| *first);
        self.dissolved.get_or_insert(first);
        self.waiting.drain(..).map(|(_, waker)| waker).collect()
    }

    /// The values of the waiters, in their order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut W> {
        self.waiting.iter_mut().map(|(_, waker)| waker)
    }

    /// The number of waiters.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether there is no waiter.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    fn position(&self, waiter: &WaiterId) -> usize {
        let found = self.waiting.binary_search_by_key(&waiter.0, |(number, _)| *number);
        found.expect("a waiter is in the queue")
    }
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::{WaitQueue, WaiterState};
    use colored_core::port::sync::Arc;
    use std::task::{Wake, Waker};

    struct Nothing;

    impl Wake for Nothing {
        fn wake(self: Arc<Self>) {}
    }

    fn waker() -> (Arc<Nothing>, Waker) {
        let nothing = Arc::new(Nothing);
        (Arc::clone(&nothing), Waker::from(nothing))
    }

    #[test]
    fn the_first_is_called_and_who_leaves_leaves_no_gap() {
        let mut waiters = WaitQueue::default();
        let (seen, first) = waker();
        let (a, b, c) = (
            waiters.join(first),
            waiters.join(Waker::noop().clone()),
            waiters.join(Waker::noop().clone()),
        );
        assert_eq!(waiters.leave(b).0, WaiterState::Waiting);
        assert_eq!(waiters.len(), 2);
        assert!(waiters.call().is_some());
        assert_eq!(Arc::strong_count(&seen), 1, "the waker called is the first's");
        assert_eq!(
            (waiters.state(&a), waiters.state(&c)),
            (WaiterState::Called, WaiterState::Waiting)
        );
        assert!(waiters.call().is_some());
        assert_eq!(waiters.state(&c), WaiterState::Called);
        assert!(waiters.call().is_none() && waiters.is_empty());
    }

    #[test]
    fn the_last_waker_is_the_one_that_is_called() {
        let mut waiters = WaitQueue::default();
        let ((old, first), (new, mut second)) = (waker(), waker());
        let waiter = waiters.join(first);
        assert_eq!(waiters.look(&waiter, &mut second), WaiterState::Waiting);
        drop(second);
        assert_eq!((Arc::strong_count(&old), Arc::strong_count(&new)), (1, 2));
        let called = waiters.call();
        assert_eq!(Arc::strong_count(&new), 2);
        drop(called);
        let (unused, mut third) = waker();
        assert_eq!(waiters.look(&waiter, &mut third), WaiterState::Called);
        assert_eq!((Arc::strong_count(&new), Arc::strong_count(&unused)), (1, 2), "not kept");
        drop(third);
    }

    #[test]
    fn who_was_called_before_the_end_stays_called() {
        let mut waiters = WaitQueue::default();
        let (a, b) = (waiters.join(Waker::noop().clone()), waiters.join(Waker::noop().clone()));
        drop(waiters.call());
        assert_eq!(waiters.dissolve().len(), 1);
        assert_eq!(waiters.dissolve().len(), 0);
        assert_eq!(
            (waiters.state(&a), waiters.state(&b)),
            (WaiterState::Called, WaiterState::Dismissed)
        );
        assert_eq!(waiters.leave(b).0, WaiterState::Dismissed);
    }
}
