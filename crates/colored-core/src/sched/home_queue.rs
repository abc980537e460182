//! The home queue: lanes that another worker leaves for the worker that ran them last.
//!
//! A poll of the selector that brings hundreds of events makes as many lanes runnable on one worker.
//! Thieves would take any half of them, and the data of a lane's tasks would move from cache to cache. So in
//! a batch of [`MANY`] events and more, each lane goes to the worker that ran it last, its *home*. The worker
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
//! A worker also puts a lane into its own home queue if it wakes the lane's task because a [`when`](crate::when())
//! or a read that had to wait has run. The lanes that the `when` or the read has released run first, with the tasks
//! that wait in their lines. Otherwise each woken task would join the line again before the line has become
//! shorter. A line would then last for as long as its clients do, and a transfer between two accounts would take
//! two turns of lanes, 400 ns. It takes 40 ns when no task waits (`benches/src/papers/bank.rs`). Reads of one cell
//! that cost nothing, with one write in twenty, become a quarter faster by this order, and reads of 1 to 5 us an
//! eighth to a third (`benches/src/papers/kv/hot.rs`). Such lanes stay behind until the deque has run empty, but
//! for [`BEHIND_STEPS`] slices or [`BEHIND_NANOS`] at most, the shorter of the two.

use super::local::Local;
use super::worker::Worker;
use crate::lane::ReadyLane;
use crate::queue::Deque;
use crate::sync::{AtomicUsize, Mutex, Ordering};
use std::cell::RefCell;
use std::collections::VecDeque;

/// Events in a batch that goes home. `benches/ratio.rs`, HTTP, CPU a request over that without home queues,
/// where most batches are of 16 to 31 events: with 512 connections 0.91 to 0.97 (4: 0.92, 8: 0.99,
/// 32: 0.95, 64: 1.00), with 64 connections 0.92 (4: 0.97, 8: 0.95, 32: 0.98).
const MANY: usize = 16;

/// Slices of a worker after which lanes that run behind the others move to the deque.
const BEHIND_STEPS: u32 = 61;

/// Nanoseconds after which they move too: five full slices.
const BEHIND_NANOS: u64 = 1_000_000;

/// Lanes that others have left for one worker, and lanes that it runs behind all others.
pub(super) struct HomeQueue {
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
    fn has_home(&self) -> bool {
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
    fn put(&self, lanes: &mut VecDeque<ReadyLane>) {
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
    fn put_one(&self, lane: ReadyLane) -> usize {
        let mut all = self.lanes.lock();
        all.behind.push_back(lane);
        self.count(&all);
        all.len()
    }

    /// Moves all lanes, or only the lanes that have come home, to `deque`, which the caller owns.
    fn empty_into(&self, deque: &Deque<ReadyLane>, all_of_it: bool) {
        let mut all = self.lanes.lock();
        all.home.drain(..).for_each(|lane| deque.push(lane));
        if all_of_it {
            all.behind.drain(..).for_each(|lane| deque.push(lane));
        }
        self.count(&all);
    }

    /// Moves the older half to `deque`, and returns one of its lanes.
    fn steal_half(&self, deque: &Deque<ReadyLane>) -> Option<ReadyLane> {
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

/// The lanes that a worker has collected for each other worker during a batch.
pub(super) struct Outgoing(RefCell<Box<[VecDeque<ReadyLane>]>>);

impl Outgoing {
    pub(super) fn new(workers: usize) -> Self {
        Self(RefCell::new((0..workers).map(|_| VecDeque::new()).collect()))
    }
}

impl Local {
    /// Whether the lanes of a batch with this number of events go home.
    pub(super) fn goes_home(&self, events: usize) -> bool {
        events >= MANY && self.scheduler().remotes.len() > 1
    }

    /// Takes a lane that was made runnable during a batch that goes home.
    pub(super) fn collect(&self, lane: ReadyLane) {
        match lane.lane().home() {
            Some(home) if home != self.index() => {
                self.outgoing.0.borrow_mut()[home].push_back(lane);
            }
            _ => self.deque.push(lane),
        }
    }

    /// Takes a lane that is to run behind all lanes that are runnable here.
    pub(super) fn put_behind(&self, lane: ReadyLane) {
        let left = self.remote().home_queue.put_one(lane);
        self.offer_beside(left);
    }

    /// Ends a batch: leaves for every worker the lanes that were collected for it.
    pub(super) fn post(&self) {
        let scheduler = self.scheduler();
        let mut waits = self.deque.len() > 1;
        for (worker, lanes) in self.outgoing.0.borrow_mut().iter_mut().enumerate() {
            if !lanes.is_empty() {
                scheduler.remotes[worker].home_queue.put(lanes);
                waits |= !scheduler.call(worker);
            }
        }
        if waits {
            scheduler.notify();
        }
    }
}

impl Worker {
    /// Moves the whole home queue to the deque.
    pub(super) fn fetch_home(&self) {
        let home_queue = &self.local.remote().home_queue;
        if !home_queue.is_empty() {
            home_queue.empty_into(&self.local.deque, true);
        }
    }

    /// Moves the whole home queue to the deque, which is empty, and takes the oldest lane.
    #[inline]
    pub(super) fn take_from_home(&self) -> Option<ReadyLane> {
        if self.local.remote().home_queue.is_empty() {
            return None;
        }
        self.fetch_home();
        self.local.deque.pop()
    }

    /// The home queue is not empty: moves the lanes that have come home, and now and then also the lanes behind.
    #[cold]
    pub(super) fn fetch_due_home(&mut self) {
        let all_of_it = self.lets_up();
        let home_queue = &self.local.remote().home_queue;
        if all_of_it || home_queue.has_home() {
            home_queue.empty_into(&self.local.deque, all_of_it);
        }
    }

    /// Whether the lanes behind have been there for long enough.
    pub(super) fn lets_up(&mut self) -> bool {
        let (steps, nanos) = self.let_up;
        let (now_steps, now) = (self.steps, self.now());
        let is_due = now_steps.wrapping_sub(steps) >= BEHIND_STEPS || now - nanos >= BEHIND_NANOS;
        if is_due {
            self.let_up = (now_steps, now);
        }
        is_due
    }

    /// Takes half of another worker's home queue, as a thief.
    pub(super) fn steal_from_home(
        &self,
        victims: impl Iterator<Item = usize>,
    ) -> Option<ReadyLane> {
        let remotes = &self.local.scheduler().remotes;
        let mut queues = victims.map(|victim| &remotes[victim].home_queue);
        queues.find_map(|home_queue| home_queue.steal_half(&self.local.deque))
    }
}
