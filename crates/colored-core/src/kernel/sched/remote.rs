//! Workers and guests as other threads see them. A guest is a thread inside `block_on` (`guest.rs`).
//!
//! # The home queue
//!
//! A poll of the selector that brings hundreds of events makes as many lanes runnable on one worker.
//! Thieves would take any half of them, and the data of a lane's tasks would move from cache to cache. So in
//! a batch of `MANY` events and more, each lane goes to the worker that ran it last, its *home*. The worker
//! collects the lanes of each home, and puts them into its [`HomeQueue`] under one lock when the batch is over.
//!
//! Which workers find them (G6): //! The owner of a home queue moves its lanes to the end of its deque before it takes a lane
//! from the deque. A thief that finds all deques empty takes half of a home queue. So no lane waits here for a worker that is
//! stuck. A worker that puts a lane in first *publishes* it and then *looks* for sleepers (`idle.rs`): it wakes the home if
//! that is parked, and else notifies, because another worker may be parked. A worker that goes to sleep looks at all home
//! queues, and at the deques *after* them. A lane is in the deque before it leaves the home queue, so a worker that misses it
//! in the one finds it in the other.
//!
//! Lanes that run behind the others: //! A worker also puts a lane into its own home queue if it wakes the lane's task
//! because a [`when`](crate::when()) or a read that had to wait has run. The lanes that the `when` or the read has released
//! run first, with the tasks that wait in their lines. G7 promises this order ("After a wait in a line"), and
//! `tests/stepped/steal_pause.rs` shows it. Otherwise each woken task would join the line again before the line has become
//! shorter. A line would then last for as long as its clients do, and a transfer between two accounts would take two turns of
//! lanes, 400 ns. It takes 40 ns when no task waits (`benches/papers/src/bank.rs`). Reads of one cell that cost nothing, with
//! one write in twenty, become a quarter faster by this order, and reads of 1 to 5 us an eighth to a third
//! (`benches/papers/src/kv/hot.rs`). Such lanes stay behind until the deque has run empty, but for `BEHIND_STEPS` slices or
//! `BEHIND_NANOS` at most, the shorter of the two.

use crate::hooks::slots::WorkerSlot;
use crate::kernel::color::Color;
use crate::kernel::lane::{Lane, ReadyLane};
use crate::kernel::sched::metrics::{Counters, LocalTaskCount, Running, TaskCounts};
use crate::sync::{
    Arc, AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Condvar, Deque, Mutex, Ordering, Stealer,
};
use std::collections::VecDeque;
use std::mem;
use std::ptr::{self, NonNull};

/// The pin of tasks that only this worker may run.
pub(crate) fn pin_of(worker: usize) -> u32 {
    u32::try_from(worker + 1).expect("fewer than 2¹⁶ workers")
}

/// In a pin: once the worker has gone, any thread that cancels tasks may cancel this one.
pub(crate) const MAY_BE_DROPPED_ANYWHERE: u32 = 1 << 31;

/// The index of the pin's worker, counted from 0; for a guest, a number that no worker has.
pub(crate) fn index_of(pin: u32) -> usize {
    (pin & !MAY_BE_DROPPED_ANYWHERE) as usize - 1
}

/// The most turns that are kept for a lane that fills its slices: some 13 ms of a worker from which
/// others steal again and again.
const MOST_FREE_TURNS: usize = 64;

/// A worker as other threads see it.
pub(crate) struct Remote {
    pub(crate) stealer: Stealer<ReadyLane>,
    /// The lane that the worker runs next: the one that it made runnable last. One word, so that a thief
    /// can take it when the worker stays in one poll for long.
    next: AtomicPtr<Lane>,
    /// Whether the worker has to look at more than its deque: set once.
    policy_or_classes: AtomicBool,
    /// Lanes whose next task is pinned to the worker.
    pub(crate) inbox: Inbox,
    /// Lanes that the worker ran last, and that others have made runnable.
    pub(crate) home_queue: HomeQueue,
    /// Odd while the worker runs a slice; grows by one when a slice begins and when it ends.
    beat: AtomicU64,
    /// About when the worker's last slice began.
    slice_start: AtomicU64,
    pub(crate) running: Running,
    /// See [`Remote::add_free_turns`].
    free_turns: AtomicUsize,
    pub(crate) local_tasks: LocalTaskCount,
    pub(crate) counters: Counters,
    pub(crate) tasks: TaskCounts,
    /// What listeners keep here ([`hooks`](crate::hooks)).
    pub(crate) slot: WorkerSlot,
}

impl Remote {
    pub(crate) fn new(stealer: Stealer<ReadyLane>, ring_bytes: usize) -> Self {
        Self {
            stealer,
            next: AtomicPtr::new(ptr::null_mut()),
            policy_or_classes: AtomicBool::new(false),
            inbox: Inbox::new(),
            home_queue: HomeQueue::new(),
            beat: AtomicU64::new(0),
            slice_start: AtomicU64::new(0),
            running: Running::new(),
            free_turns: AtomicUsize::new(0),
            local_tasks: LocalTaskCount::new(),
            counters: Counters::default(),
            tasks: TaskCounts::default(),
            slot: WorkerSlot::new(ring_bytes),
        }
    }

    /// Puts a lane into the `next` slot and returns the lane that was there.
    #[inline]
    pub(crate) fn swap_next(&self, lane: Option<ReadyLane>) -> Option<ReadyLane> {
        let lane = lane.map_or(ptr::null_mut(), ReadyLane::into_raw);
        // Ordering: Release hands the lane to the thread that takes it out with Acquire.
        let old = NonNull::new(self.next.swap(lane, Ordering::AcqRel))?;
        // SAFETY: put in by `into_raw`, and the swap took it out once.
        Some(unsafe { ReadyLane::from_raw(old) })
    }

    /// Takes the lane in the `next` slot, with a cheap look first.
    #[inline]
    pub(crate) fn take_next(&self) -> Option<ReadyLane> {
        if self.has_next() { self.swap_next(None) } else { None }
    }

    /// Whether a lane waits here that another worker could take. Looks at the home queue before the
    /// deque, because lanes go from the former to the latter.
    pub(crate) fn has_stealable(&self) -> bool {
        self.has_next() || !self.home_queue.is_empty() || !self.stealer.is_empty()
    }

    #[inline]
    pub(crate) fn has_next(&self) -> bool {
        // Ordering: a hint only; the swap decides.
        !self.next.load(Ordering::Relaxed).is_null()
    }

    /// Takes the `next` lane, for a thief, if the worker has been in one slice since `before`.
    pub(crate) fn steal_next(&self, before: u64) -> Option<ReadyLane> {
        // Ordering: hints only; the swap decides.
        let late = self.beat.load(Ordering::Relaxed) % 2 == 1
            && self.slice_start.load(Ordering::Relaxed) < before;
        if late { self.take_next() } else { None }
    }

    /// A theft has taken this number of lanes, half of all, out of this worker's queue. As many turns
    /// become free, and a lane that fills its slices may use them, a few in a row. So a color with much
    /// to do is soon alone on its worker, and a round of the queue, with those turns, takes no longer
    /// than it did before the theft.
    pub(crate) fn add_free_turns(&self, lanes: usize) {
        // Ordering: a hint. Two thieves, or a thief and the owner, may undo each other's change.
        let turns = self.free_turns.load(Ordering::Relaxed) + lanes;
        self.free_turns.store(turns.min(MOST_FREE_TURNS), Ordering::Relaxed);
    }

    /// Sets the free turns of the owner, whose queue was empty, to the number of lanes that a theft has brought.
    /// The earlier free turns end, because the lanes that they came from are gone. Owner only.
    pub(crate) fn set_free_turns(&self, lanes: usize) {
        // Ordering: as in `add_free_turns`.
        self.free_turns.store(lanes.min(MOST_FREE_TURNS), Ordering::Relaxed);
    }

    /// Uses a free turn, if there is one. Owner only.
    pub(crate) fn take_free_turn(&self) -> bool {
        // Ordering: as in `add_free_turns`.
        let turns = self.free_turns.load(Ordering::Relaxed);
        self.free_turns.store(turns.saturating_sub(1), Ordering::Relaxed);
        turns > 0
    }

    #[inline]
    pub(crate) fn has_policy_or_classes(&self) -> bool {
        // Ordering: a hint: a worker that has yet to see it works as before (`ext/priority/classes.rs`).
        self.policy_or_classes.load(Ordering::Relaxed)
    }

    pub(crate) fn set_policy_or_classes(&self) {
        // Ordering: as in `has_policy_or_classes`.
        self.policy_or_classes.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn begin_slice(&self, now: u64, color: Color) {
        self.running.begin(color);
        // Ordering: hints for the backstop and for thieves; written by the worker only. Release hands over what the
        // slice is (`slice`).
        self.slice_start.store(now, Ordering::Relaxed);
        self.beat.store(self.beat.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    /// The serial number of the slice that the worker is inside of, and its start. If the worker's beat has changed
    /// afterwards, the start may be that of a later slice.
    pub(crate) fn slice(&self) -> Option<(u64, u64)> {
        // Ordering: see `begin_slice`.
        let beat = self.beat.load(Ordering::Acquire);
        (beat % 2 == 1).then(|| (beat, self.slice_start.load(Ordering::Relaxed)))
    }

    #[inline]
    pub(crate) fn end_slice(&self) {
        // Ordering: as in `begin_slice`.
        self.beat.store(self.beat.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Whether the worker is inside of a slice. Owner only.
    pub(crate) fn is_in_slice(&self) -> bool {
        self.beat() % 2 == 1
    }

    pub(crate) fn beat(&self) -> u64 {
        // Ordering: hint only.
        self.beat.load(Ordering::Relaxed)
    }
}

/// Lanes that others leave for one worker.
pub(crate) struct Inbox {
    lanes: Mutex<VecDeque<ReadyLane>>,
    len: AtomicUsize,
}

impl Inbox {
    fn new() -> Self {
        Self { lanes: Mutex::new(VecDeque::new()), len: AtomicUsize::new(0) }
    }

    /// Leaves a lane that only the owner may run.
    pub(crate) fn put(&self, lane: ReadyLane) {
        let mut lanes = self.lanes.lock();
        lanes.push_back(lane);
        // Ordering: the unpark that follows makes the owner look again.
        self.len.store(lanes.len(), Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn take(&self) -> Option<ReadyLane> {
        if !self.has_some() {
            return None;
        }
        let mut lanes = self.lanes.lock();
        let lane = lanes.pop_front();
        // Ordering: as in `put`; both are under the lock.
        self.len.store(lanes.len(), Ordering::Relaxed);
        lane
    }

    pub(crate) fn has_some(&self) -> bool {
        // Ordering: as in `put`.
        self.len.load(Ordering::Relaxed) > 0
    }
}

/// The threads that are inside `block_on`.
pub(crate) struct Guests {
    slots: Mutex<Slots>,
    first: u32,
}

#[derive(Default)]
struct Slots {
    guests: Vec<Option<Arc<Guest>>>,
    /// How many lanes guests have been sent.
    sent: u64,
}

/// A guest as other threads see it.
pub(crate) struct Guest {
    lanes: Mutex<Lanes>,
    came: Condvar,
    pub(crate) pin: u32,
}

#[derive(Default)]
struct Lanes {
    queue: VecDeque<ReadyLane>,
    /// The guest runs no lane.
    waits: bool,
}

impl Guests {
    pub(crate) fn new(workers: usize) -> Self {
        let first = pin_of(workers);
        Self { slots: Mutex::new(Slots::default()), first }
    }

    pub(crate) fn enter(&self) -> Arc<Guest> {
        let slots = &mut self.slots.lock().guests;
        let slot = slots.iter().position(Option::is_none).unwrap_or_else(|| {
            slots.push(None);
            slots.len() - 1
        });
        let guest = Arc::new(Guest {
            lanes: Mutex::new(Lanes::default()),
            came: Condvar::new(),
            pin: self.first + u32::try_from(slot).expect("fewer than 2³¹ guests"),
        });
        slots[slot] = Some(Arc::clone(&guest));
        guest
    }

    pub(crate) fn leave(&self, guest: &Guest) {
        self.slots.lock().guests[(guest.pin - self.first) as usize] = None;
    }

    pub(crate) fn put(&self, pin: u32, lane: ReadyLane) {
        let mut slots = self.slots.lock();
        let guest = slots.guests[(pin - self.first) as usize].clone();
        let guest = guest.expect("a guest stays until all that is pinned to it is done");
        // In one step for `at_rest`.
        slots.sent += 1;
        guest.lanes.lock().queue.push_back(lane);
        drop(slots);
        guest.came.notify_one();
    }

    /// A number, if no guest runs a lane or has one to run. Of two such moments, the later one has another number if a
    /// guest has run a lane in between.
    pub(crate) fn at_rest(&self) -> Option<u64> {
        let slots = self.slots.lock();
        let mut guests = slots.guests.iter().flatten();
        guests.all(|guest| guest.is_at_rest()).then_some(slots.sent)
    }
}

impl Guest {
    /// The next lane, if there is one. Otherwise the guest counts as waiting from now on.
    pub(crate) fn take(&self) -> Option<ReadyLane> {
        self.lanes.lock().take()
    }

    /// The next lane, when there is one.
    pub(crate) fn wait(&self) -> ReadyLane {
        let mut lanes = self.lanes.lock();
        loop {
            match lanes.take() {
                Some(lane) => return lane,
                None => lanes = self.came.wait(lanes),
            }
        }
    }

    /// Whether the guest runs no lane, and has none to run.
    fn is_at_rest(&self) -> bool {
        let lanes = self.lanes.lock();
        lanes.waits && lanes.queue.is_empty()
    }
}

impl Lanes {
    fn take(&mut self) -> Option<ReadyLane> {
        let lane = self.queue.pop_front();
        self.waits = lane.is_none();
        lane
    }
}

/// Lanes that others have left for one worker, and lanes that it runs behind all others.
pub(crate) struct HomeQueue {
    lanes: Mutex<HomeLanes>,
    /// How many lanes of both kinds there are.
    len: AtomicUsize,
    /// How many lanes have come home.
    home: AtomicUsize,
}

/// The lanes of each kind, oldest first.
#[derive(Default)]
struct HomeLanes {
    home: VecDeque<ReadyLane>,
    behind: VecDeque<ReadyLane>,
}

impl HomeLanes {
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
        Self { lanes: Mutex::new(HomeLanes::default()), len, home }
    }

    /// Changes the lanes, and counts them, under the lock.
    fn change<R>(&self, f: impl FnOnce(&mut HomeLanes) -> R) -> R {
        let mut all = self.lanes.lock();
        let result = f(&mut all);
        // Ordering: Release pairs with the Acquire in `is_empty`; the worker that should find an added lane is
        // called or notified afterwards (`idle.rs`).
        self.len.store(all.len(), Ordering::Release);
        // Ordering: a hint for the owner, which looks at `len` before it sleeps.
        self.home.store(all.home.len(), Ordering::Relaxed);
        result
    }

    #[inline]
    pub(super) fn has_home(&self) -> bool {
        // Ordering: as in `change`.
        self.home.load(Ordering::Relaxed) > 0
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `change`: a worker that sees the queue empty also sees where
        // the lanes went.
        self.len.load(Ordering::Acquire) == 0
    }

    pub(crate) fn len(&self) -> usize {
        // Ordering: a hint.
        self.len.load(Ordering::Relaxed)
    }

    /// Adds all of `lanes`, and leaves `lanes` empty.
    pub(super) fn put(&self, lanes: &mut VecDeque<ReadyLane>) {
        self.change(|all| {
            if all.home.is_empty() {
                mem::swap(&mut all.home, lanes);
            } else {
                all.home.append(lanes);
            }
        });
    }

    /// Adds a lane for its home.
    pub(crate) fn put_home(&self, lane: ReadyLane) {
        self.change(|all| all.home.push_back(lane));
    }

    /// Adds a lane that is to run behind the others, and returns how many lanes there are.
    pub(super) fn put_one(&self, lane: ReadyLane) -> usize {
        self.change(|all| {
            all.behind.push_back(lane);
            all.len()
        })
    }

    /// Moves all lanes, or only the lanes that have come home, to `deque`, which the caller owns.
    pub(super) fn empty_into(&self, deque: &Deque<ReadyLane>, all_of_it: bool) {
        self.change(|all| {
            all.home.drain(..).for_each(|lane| deque.push(lane));
            if all_of_it {
                all.behind.drain(..).for_each(|lane| deque.push(lane));
            }
        });
    }

    /// Moves the older half to `deque`, and returns one of its lanes.
    pub(super) fn steal_half(&self, deque: &Deque<ReadyLane>) -> Option<ReadyLane> {
        if self.is_empty() {
            return None;
        }
        self.change(|all| {
            let first = all.pop();
            let half = all.len() / 2;
            (0..half).filter_map(|_| all.pop()).for_each(|lane| deque.push(lane));
            first
        })
    }

    /// Takes one lane.
    pub(super) fn take(&self) -> Option<ReadyLane> {
        self.change(HomeLanes::pop)
    }
}
