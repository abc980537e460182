//! Lanes on their way home: what a worker that has many events in hands leaves for the others.
//!
//! A poll of the selector that brings hundreds of events makes as many lanes runnable on one worker.
//! Thieves would take any half of them, so what the tasks of a lane use would wander from cache to
//! cache. So in a batch of [`MANY`] and more, each lane goes to the worker that ran it last, its *home*:
//! those of each home are collected, and put into its [`Mail`] under one lock when the batch is over.
//!
//! # Who can find them (G6)
//!
//! Mail is a queue like the deques: its owner empties it into its deque, when that has run empty and
//! once in a number of steps; a thief that finds all deques empty takes half of it. So nothing waits
//! there for a worker that is stuck. Whoever puts something in first *publishes* and then *looks*, as
//! `idle.rs` has it: it calls the home if that is parked, and else notifies, for somebody else may be.
//! Whoever goes to sleep looks at all mail, and at the deques *after* it: mail is in the deque that it
//! goes to before it is gone from the mail, so who has missed it in the one finds it in the other.
//!
//! # Who has waited in a line
//!
//! A worker also puts into its own mail whom it wakes because a [`when`](crate::when()) or a read that had
//! to wait has run. What that has given back comes first, and those who stand behind it: or else each one
//! who is woken would stand in the line again before the line has become shorter. A line that has once
//! come to be would then stay for as long as its clients do, and a transfer between two accounts take
//! two turns of lanes, 400 ns, where it takes 40 when nobody waits (`benches/src/papers/bank.rs`). Reads
//! of one cell that cost nothing, with one write in twenty, become a quarter faster by it, those of 1 to 5 us
//! an eighth to a third (`benches/src/papers/kv/hot.rs`).
//! Such mail is late by [`INJECTOR_STEPS`](super::worker::INJECTOR_STEPS) slices at most, as what comes
//! from other threads is.

use super::local::Local;
use super::worker::Worker;
use crate::lane::ReadyLane;
use crate::queue::Deque;
use crate::sync::{AtomicUsize, Mutex, Ordering};
use std::cell::RefCell;
use std::collections::VecDeque;

/// Events in a batch that goes home. `benches/ratio.rs`, HTTP, CPU a request over that without mail,
/// where most batches are of 16 to 31 events: with 512 connections 0.91 to 0.97 (4: 0.92, 8: 0.99,
/// 32: 0.95, 64: 1.00), with 64 connections 0.92 (4: 0.97, 8: 0.95, 32: 0.98).
const MANY: usize = 16;

/// Lanes that others have left for one worker, oldest first.
pub(super) struct Mail {
    lanes: Mutex<VecDeque<ReadyLane>>,
    len: AtomicUsize,
}

impl Mail {
    pub(super) fn new() -> Self {
        Self { lanes: Mutex::new(VecDeque::new()), len: AtomicUsize::new(0) }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `take`: who sees it empty sees where it went.
        self.len.load(Ordering::Acquire) == 0
    }

    /// Adds what is in `lanes`, and leaves that empty.
    fn put(&self, lanes: &mut VecDeque<ReadyLane>) {
        let mut all = self.lanes.lock();
        if all.is_empty() {
            std::mem::swap(&mut *all, lanes);
        } else {
            all.append(lanes);
        }
        // Ordering: who looks for it is called or notified afterwards (`idle.rs`).
        self.len.store(all.len(), Ordering::Relaxed);
    }

    /// Adds one, and tells how many there are.
    fn put_one(&self, lane: ReadyLane) -> usize {
        let mut all = self.lanes.lock();
        all.push_back(lane);
        // Ordering: as in `put`.
        self.len.store(all.len(), Ordering::Relaxed);
        all.len()
    }

    /// Moves everything to `deque`, as its owner.
    fn empty_into(&self, deque: &Deque<ReadyLane>) {
        let mut all = self.lanes.lock();
        all.drain(..).for_each(|lane| deque.push(lane));
        // Ordering: pairs with the Acquire in `is_empty`.
        self.len.store(0, Ordering::Release);
    }

    /// Moves the older half to `deque`, and gives one of them.
    fn steal_half(&self, deque: &Deque<ReadyLane>) -> Option<ReadyLane> {
        if self.is_empty() {
            return None;
        }
        let mut all = self.lanes.lock();
        let first = all.pop_front();
        let half = all.len() / 2;
        all.drain(..half).for_each(|lane| deque.push(lane));
        // Ordering: pairs with the Acquire in `is_empty`.
        self.len.store(all.len(), Ordering::Release);
        first
    }

    /// Takes one.
    pub(super) fn take(&self) -> Option<ReadyLane> {
        let mut all = self.lanes.lock();
        let lane = all.pop_front();
        // Ordering: as in `steal_half`.
        self.len.store(all.len(), Ordering::Release);
        lane
    }
}

/// What a worker has collected for each of the others during a batch.
pub(super) struct Outgoing(RefCell<Box<[VecDeque<ReadyLane>]>>);

impl Outgoing {
    pub(super) fn new(workers: usize) -> Self {
        Self(RefCell::new((0..workers).map(|_| VecDeque::new()).collect()))
    }
}

impl Local {
    /// Whether a batch of so many events goes home.
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

    /// Takes a lane that is to run behind all that is runnable here.
    pub(super) fn put_behind(&self, lane: ReadyLane) {
        let mailed = self.remote().mail.put_one(lane);
        self.offer_beside(mailed);
    }

    /// The batch is over: leaves for every worker what has been collected for it.
    pub(super) fn post(&self) {
        let scheduler = self.scheduler();
        let mut waits = self.deque.len() > 1;
        for (worker, lanes) in self.outgoing.0.borrow_mut().iter_mut().enumerate() {
            if !lanes.is_empty() {
                scheduler.remotes[worker].mail.put(lanes);
                waits |= !scheduler.call(worker);
            }
        }
        if waits {
            scheduler.notify();
        }
    }
}

impl Worker {
    /// Fetches what has come home.
    #[inline]
    pub(super) fn fetch_mail(&self) {
        let mail = &self.local.remote().mail;
        if !mail.is_empty() {
            mail.empty_into(&self.local.deque);
        }
    }

    /// As a thief.
    pub(super) fn steal_mail(&self, victims: impl Iterator<Item = usize>) -> Option<ReadyLane> {
        let remotes = &self.local.scheduler().remotes;
        let mut mails = victims.map(|victim| &remotes[victim].mail);
        mails.find_map(|mail| mail.steal_half(&self.local.deque))
    }
}
