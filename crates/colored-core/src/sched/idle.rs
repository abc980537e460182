//! Who sleeps, who searches, who must be woken.
//!
//! A worker is *busy*, *searching* (looks for lanes in the injector and in other workers' deques)
//! or *parked*. One word counts the latter two, so that whoever makes a lane runnable learns in one
//! load whether anybody has to be woken: nobody if a searcher is on its way, for it will find the
//! lane or wake the next.
//!
//! # No lane is left behind (G6)
//!
//! A producer *publishes* the lane (P1), then *looks* at the word (P2). A worker that goes to sleep
//! *announces* it in the word (W1), then *looks* at all queues once more (W2). Between P1 and P2,
//! and between W1 and W2, stands a sequentially consistent fence; of two such fences one comes
//! first. If the producer's does, W2 sees the lane. If the worker's does, P2 sees the worker
//! parked, or a searcher.
//!
//! A searcher that P2 saw stops searching in one of four ways: it finds a lane, and then, if it was
//! the last searcher, wakes another; or it parks, and then looks again (W2), and if there is
//! something it is a searcher again; or it goes on; or it rests, wakes another as if it had found a
//! lane, and is busy from then on, for a bounded time, after which it looks again (`backoff.rs`).

use crate::sync::{AtomicUsize, Mutex, Ordering, fence};

const SEARCHING: usize = 1;
const PARKED: usize = 1 << 16;

/// How many workers search.
fn searching(word: usize) -> usize {
    word % PARKED
}

pub(super) struct Idle {
    /// `searching + 2¹⁶ · parked`.
    word: AtomicUsize,
    /// The parked workers; changed together with the word.
    sleepers: Mutex<Vec<usize>>,
    workers: usize,
}

impl Idle {
    pub(super) fn new(workers: usize) -> Self {
        assert!(workers < PARKED, "at most {} workers, not {workers}", PARKED - 1);
        Self {
            word: AtomicUsize::new(0),
            sleepers: Mutex::new(Vec::with_capacity(workers)),
            workers,
        }
    }

    /// How many workers are parked.
    pub(super) fn parked(&self) -> usize {
        // Ordering: hint only.
        self.word.load(Ordering::Relaxed) / PARKED
    }

    /// Whether a worker is parked.
    pub(super) fn is_parked(&self, worker: usize) -> bool {
        self.sleepers.lock().contains(&worker)
    }

    /// After a lane was published: the worker to unpark, if one must be. It counts as searching
    /// from now on.
    #[inline]
    pub(super) fn notify(&self) -> Option<usize> {
        // Ordering: between P1 and P2; pairs with the fence in `park`.
        fence(Ordering::SeqCst);
        // Ordering: ordered by the fence.
        let word = self.word.load(Ordering::Relaxed);
        if searching(word) != 0 || word / PARKED == 0 {
            return None;
        }
        self.pop_sleeper()
    }

    #[cold]
    fn pop_sleeper(&self) -> Option<usize> {
        let mut sleepers = self.sleepers.lock();
        // Ordering: the lock orders all changes of the parked count, and the fence in `notify`
        // the rest.
        if searching(self.word.load(Ordering::Relaxed)) != 0 {
            return None;
        }
        let worker = sleepers.pop()?;
        // Ordering: as above.
        self.word.fetch_sub(PARKED - SEARCHING, Ordering::Relaxed);
        Some(worker)
    }

    /// A busy worker wants to search; false if enough others do.
    pub(super) fn start_searching(&self) -> bool {
        // Ordering: hint only; too many searchers are a waste, not an error.
        let word = self.word.load(Ordering::Relaxed);
        if 2 * searching(word) >= self.workers {
            return false;
        }
        // Ordering: a producer that sees this count relies on what `stop_searching` and `park` do.
        self.word.fetch_add(SEARCHING, Ordering::Relaxed);
        true
    }

    /// A searcher has found something; true if it was the last one, and must notify.
    pub(super) fn stop_searching(&self) -> bool {
        // Ordering: Release pairs with the Acquire in `park`: the searcher that is left, and relies
        // on this one to have looked, sees what it put into its deque. Whoever must be woken is
        // found by `notify`, which fences.
        searching(self.word.fetch_sub(SEARCHING, Ordering::Release)) == 1
    }

    /// A worker goes to sleep. It must look at all queues afterwards, and may park if they are
    /// empty.
    pub(super) fn park(&self, worker: usize, searching: bool) {
        let change = PARKED - if searching { SEARCHING } else { 0 };
        let mut sleepers = self.sleepers.lock();
        sleepers.push(worker);
        // Ordering: W1 is ordered by the fence; Acquire pairs with the Release in `stop_searching`.
        self.word.fetch_add(change, Ordering::Acquire);
        drop(sleepers);
        // Ordering: between W1 and W2; pairs with the fence in `notify`.
        fence(Ordering::SeqCst);
    }

    /// Whether all workers are parked and `empty` says that nothing is queued, at one moment: a
    /// worker leaves the parked ones, under this lock, before it takes a lane.
    pub(super) fn all_parked_and(&self, empty: impl FnOnce() -> bool) -> bool {
        let sleepers = self.sleepers.lock();
        sleepers.len() == self.workers && empty()
    }

    /// A worker that has announced its sleep has found the queues not empty, or has been sent a lane
    /// that only it may run: it searches again. It must not just be busy, for who saw it search
    /// relies on what it does when it finds a lane. False if it was not parked.
    pub(super) fn search_again(&self, worker: usize) -> bool {
        let mut sleepers = self.sleepers.lock();
        let place = sleepers.iter().position(|sleeper| *sleeper == worker);
        if let Some(place) = place {
            sleepers.swap_remove(place);
            // Ordering: the lock orders all changes of the parked count.
            self.word.fetch_sub(PARKED - SEARCHING, Ordering::Relaxed);
        }
        place.is_some()
    }

    /// After something was published that only this worker, or it before others, should find: true
    /// if it was parked, and must be unparked. It counts as searching from now on. If it was not
    /// parked, it looks before it parks.
    pub(super) fn call(&self, worker: usize) -> bool {
        // Ordering: between P1 and P2, as in `notify`.
        fence(Ordering::SeqCst);
        // Ordering: ordered by the fence.
        self.word.load(Ordering::Relaxed) / PARKED != 0 && self.search_again(worker)
    }

    /// A worker wakes up. True if it was chosen by [`Idle::notify`], and so counts as searching;
    /// false if it woke for another reason, and is busy now.
    pub(super) fn unpark(&self, worker: usize) -> bool {
        let mut sleepers = self.sleepers.lock();
        let Some(place) = sleepers.iter().position(|sleeper| *sleeper == worker) else {
            return true;
        };
        sleepers.swap_remove(place);
        // Ordering: the lock orders all changes of the parked count.
        self.word.fetch_sub(PARKED, Ordering::Relaxed);
        false
    }
}
