//! The home queue: lanes that another worker leaves for the worker that ran them last.
//!
//! A poll of the selector that brings hundreds of events makes as many lanes runnable on one worker.
//! Thieves would take any half of them, and the data of a lane's tasks would move from cache to cache. So in
//! a batch of `MANY` events and more, each lane goes to the worker that ran it last, its *home*. The worker
//! collects the lanes of each home, and puts them into its [`HomeQueue`] under one lock when the batch is over.
//!
//! # Which workers find them (G6)
//!
//! The owner of a home queue moves its lanes to the end of its deque before it takes a lane from the deque. A
//! thief that finds all deques empty takes half of a home queue. So no lane waits here for a worker that is
//! stuck. A worker that puts a lane in first *publishes* it and then *looks* for sleepers (`idle.rs`): it wakes the
//! home if that is parked, and else notifies, because another worker may be parked. A worker that goes to sleep
//! looks at all home queues, and at the deques *after* them. A lane is in the deque before it leaves the home
//! queue, so a worker that misses it in the one finds it in the other.
//!
//! # Lanes that run behind the others
//!
//! A worker also puts a lane into its own home queue if it wakes the lane's task because a [`when`](crate::when()) or
//! a read that had to wait has run. The lanes that the `when` or the read has released run first, with the tasks that
//! wait in their lines. G7 promises this order ("After a wait in a line"), and `tests/stepped/steal_pause.rs` shows
//! it. Otherwise each woken task would join the line again before the line has become shorter. A line would then last
//! for as long as its clients do, and a transfer between two accounts would take two turns of lanes, 400 ns. It takes
//! 40 ns when no task waits (`benches/papers/src/bank.rs`). Reads of one cell that cost nothing, with one write in
//! twenty, become a quarter faster by this order, and reads of 1 to 5 us an eighth to a third
//! (`benches/papers/src/kv/hot.rs`). Such lanes stay behind until the deque has run empty, but for `BEHIND_STEPS`
//! slices or `BEHIND_NANOS` at most, the shorter of the two.

use crate::kernel::lane::ReadyLane;
use crate::kernel::queue::Deque;
use crate::sync::{AtomicUsize, Mutex, Ordering};
use std::collections::VecDeque;

/// Lanes that others have left for one worker, and lanes that it runs behind all others.
pub(crate) struct HomeQueue {
    lanes: Mutex<Lanes>,
    /// How many lanes of both kinds there are.
    len: AtomicUsize,
    /// How many lanes have come home.
    home: AtomicUsize,
}

/// The lanes of each kind, oldest first.
#[derive(Default)]
struct Lanes {
    home: VecDeque<ReadyLane>,
    behind: VecDeque<ReadyLane>,
}

impl Lanes {
    fn len(&self) -> usize {
        self.home.len() + self.behind.len()
    }

    fn pop(&mut self) -> Option<ReadyLane> {
        self.home.pop_front().or_else(|| self.behind.pop_front())
    }
}

impl HomeQueue {
    pub(super) fn new() -> Self {
        let (len, home) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { lanes: Mutex::new(Lanes::default()), len, home }
    }

    /// To be called under the lock, after a change.
    fn count(&self, all: &Lanes) {
        // Ordering: Release pairs with the Acquire in `is_empty`; the worker that should find an added lane is
        // called or notified afterwards (`idle.rs`).
        self.len.store(all.len(), Ordering::Release);
        // Ordering: a hint for the owner, which looks at `len` before it sleeps.
        self.home.store(all.home.len(), Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn has_home(&self) -> bool {
        // Ordering: as in `count`.
        self.home.load(Ordering::Relaxed) > 0
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `count`: a worker that sees the queue empty also sees where
        // the lanes went.
        self.len.load(Ordering::Acquire) == 0
    }

    pub(super) fn len(&self) -> usize {
        // Ordering: a hint.
        self.len.load(Ordering::Relaxed)
    }

    /// Adds all of `lanes`, and leaves `lanes` empty.
    pub(super) fn put(&self, lanes: &mut VecDeque<ReadyLane>) {
        let mut all = self.lanes.lock();
        if all.home.is_empty() {
            std::mem::swap(&mut all.home, lanes);
        } else {
            all.home.append(lanes);
        }
        self.count(&all);
    }

    /// Adds a lane for its home.
    pub(super) fn put_home(&self, lane: ReadyLane) {
        let mut all = self.lanes.lock();
        all.home.push_back(lane);
        self.count(&all);
    }

    /// Adds a lane that is to run behind the others, and returns how many lanes there are.
    pub(super) fn put_one(&self, lane: ReadyLane) -> usize {
        let mut all = self.lanes.lock();
        all.behind.push_back(lane);
        self.count(&all);
        all.len()
    }

    /// Moves all lanes, or only the lanes that have come home, to `deque`, which the caller owns.
    pub(super) fn empty_into(&self, deque: &Deque<ReadyLane>, all_of_it: bool) {
        let mut all = self.lanes.lock();
        all.home.drain(..).for_each(|lane| deque.push(lane));
        if all_of_it {
            all.behind.drain(..).for_each(|lane| deque.push(lane));
        }
        self.count(&all);
    }

    /// Moves the older half to `deque`, and returns one of its lanes.
    pub(super) fn steal_half(&self, deque: &Deque<ReadyLane>) -> Option<ReadyLane> {
        if self.is_empty() {
            return None;
        }
        let mut all = self.lanes.lock();
        let first = all.pop();
        let half = all.len() / 2;
        (0..half).filter_map(|_| all.pop()).for_each(|lane| deque.push(lane));
        self.count(&all);
        first
    }

    /// Takes one lane.
    pub(super) fn take(&self) -> Option<ReadyLane> {
        let mut all = self.lanes.lock();
        let lane = all.pop();
        self.count(&all);
        lane
    }
}
