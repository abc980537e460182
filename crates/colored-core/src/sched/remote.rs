//! The part of a worker or a guest that other threads may access.

use super::home_queue::HomeQueue;
use super::profile::Profile;
use super::running::Running;
use super::task_counts::TaskCounts;
use super::times::Times;
use crate::color::Color;
use crate::counter::Counter;
use crate::lane::{Lane, ReadyLane};
use crate::queue::Stealer;
use crate::sync::{Arc, AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Condvar, Mutex, Ordering};
use crate::trace::Ring;
use std::collections::VecDeque;
use std::ptr::{self, NonNull};
use std::time::Duration;

/// The pin of tasks that only this worker may run.
pub(super) fn pin_of(worker: usize) -> u32 {
    u32::try_from(worker + 1).expect("fewer than 2¹⁶ workers")
}

/// In a pin: once the worker has gone, any thread that cancels tasks may cancel this one.
pub(super) const CANCELLED_ANYWHERE: u32 = 1 << 31;

/// The index of the pin's worker, counted from 0; for a guest, a number that no worker has.
pub(super) fn index_of(pin: u32) -> usize {
    (pin & !CANCELLED_ANYWHERE) as usize - 1
}

/// The most turns that are kept for a lane that fills its slices: some 13 ms of a worker from which
/// others steal again and again.
const MOST_FREE_TURNS: usize = 64;

/// A worker as other threads see it.
pub(super) struct Remote {
    pub(super) stealer: Stealer<ReadyLane>,
    /// The lane that the worker runs next: the one that it made runnable last. One word, so that a thief
    /// can take it when the worker stays in one poll for long.
    next: AtomicPtr<Lane>,
    /// Whether the worker has to look at more than its deque: set once.
    unusual: AtomicBool,
    /// Lanes whose next task is pinned to the worker.
    inbox: Inbox,
    /// Lanes that the worker ran last, and that others have made runnable.
    pub(super) home_queue: HomeQueue,
    /// Odd while the worker runs a slice; grows by one when a slice begins and when it ends.
    beat: AtomicU64,
    /// About when the worker's last slice began.
    slice_start: AtomicU64,
    pub(super) running: Running,
    /// See [`Remote::add_free_turns`].
    free_turns: AtomicUsize,
    pub(super) local_tasks: LocalTasks,
    pub(super) counters: Counters,
    pub(super) times: Times,
    pub(super) tasks: TaskCounts,
    /// Written by the worker's thread only.
    pub(super) ring: Ring,
    pub(super) profile: Mutex<Profile>,
}

impl Remote {
    pub(super) fn new(stealer: Stealer<ReadyLane>, ring_bytes: usize) -> Self {
        Self {
            stealer,
            next: AtomicPtr::new(ptr::null_mut()),
            unusual: AtomicBool::new(false),
            inbox: Inbox::new(),
            home_queue: HomeQueue::new(),
            beat: AtomicU64::new(0),
            slice_start: AtomicU64::new(0),
            running: Running::new(),
            free_turns: AtomicUsize::new(0),
            local_tasks: LocalTasks(AtomicUsize::new(0)),
            counters: Counters::default(),
            times: Times::default(),
            tasks: TaskCounts::default(),
            ring: Ring::new(ring_bytes),
            profile: Mutex::new(Profile::new()),
        }
    }

    /// Puts a lane into the `next` slot and returns the lane that was there.
    #[inline]
    pub(super) fn swap_next(&self, lane: Option<ReadyLane>) -> Option<ReadyLane> {
        let lane = lane.map_or(ptr::null_mut(), ReadyLane::into_raw);
        // Ordering: Release hands the lane to the thread that takes it out with Acquire.
        let old = NonNull::new(self.next.swap(lane, Ordering::AcqRel))?;
        // SAFETY: put in by `into_raw`, and the swap took it out once.
        Some(unsafe { ReadyLane::from_raw(old) })
    }

    /// Takes the lane in the `next` slot, with a cheap look first.
    #[inline]
    pub(super) fn take_next(&self) -> Option<ReadyLane> {
        if self.has_next() { self.swap_next(None) } else { None }
    }

    /// Whether a lane waits here that another worker could take. Looks at the home queue before the
    /// deque, because lanes go from the former to the latter.
    pub(super) fn has_stealable(&self) -> bool {
        self.has_next() || !self.home_queue.is_empty() || !self.stealer.is_empty()
    }

    #[inline]
    pub(super) fn has_next(&self) -> bool {
        // Ordering: a hint only; the swap decides.
        !self.next.load(Ordering::Relaxed).is_null()
    }

    /// To be called by a thief: takes the `next` lane if the worker has been in one slice since `before`.
    pub(super) fn steal_next(&self, before: u64) -> Option<ReadyLane> {
        // Ordering: hints only; the swap decides.
        let late = self.beat.load(Ordering::Relaxed) % 2 == 1
            && self.slice_start.load(Ordering::Relaxed) < before;
        if late { self.take_next() } else { None }
    }

    /// A theft has taken this number of lanes, half of all, out of this worker's queue. As many turns
    /// become free, and a lane that fills its slices may use them, a few in a row. So a color with much
    /// to do is soon alone on its worker, and a round of the queue, with those turns, takes no longer
    /// than it did before the theft.
    pub(super) fn add_free_turns(&self, lanes: usize) {
        // Ordering: a hint. Two thieves, or a thief and the owner, may undo each other's change.
        let turns = self.free_turns.load(Ordering::Relaxed) + lanes;
        self.free_turns.store(turns.min(MOST_FREE_TURNS), Ordering::Relaxed);
    }

    /// To be called by the owner, whose queue was empty: a theft has brought this number of lanes, and as
    /// many turns become free here too. They replace the earlier free turns, because the lanes that those
    /// turns came from are gone.
    pub(super) fn set_free_turns(&self, lanes: usize) {
        // Ordering: as in `add_free_turns`.
        self.free_turns.store(lanes.min(MOST_FREE_TURNS), Ordering::Relaxed);
    }

    /// To be called by the owner: uses a free turn, if there is one.
    pub(super) fn take_free_turn(&self) -> bool {
        // Ordering: as in `add_free_turns`.
        let turns = self.free_turns.load(Ordering::Relaxed);
        self.free_turns.store(turns.saturating_sub(1), Ordering::Relaxed);
        turns > 0
    }

    #[inline]
    pub(super) fn is_unusual(&self) -> bool {
        // Ordering: a hint: a worker that has yet to see it works as before (`classes.rs`).
        self.unusual.load(Ordering::Relaxed)
    }

    pub(super) fn set_unusual(&self) {
        // Ordering: as in `is_unusual`.
        self.unusual.store(true, Ordering::Relaxed);
    }

    /// Leaves a lane that only this worker may run.
    pub(super) fn put(&self, lane: ReadyLane) {
        self.inbox.put(lane);
    }

    #[inline]
    pub(super) fn take_inbox(&self) -> Option<ReadyLane> {
        self.inbox.take()
    }

    pub(super) fn has_inbox(&self) -> bool {
        self.inbox.has_some()
    }

    #[inline]
    pub(super) fn slice_begins(&self, now: u64, color: Color) {
        self.running.begin(color);
        // Ordering: hints for the backstop and for thieves; written by the worker only. Release hands over what the
        // slice is (`slice`).
        self.slice_start.store(now, Ordering::Relaxed);
        self.beat.store(self.beat.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    /// The serial number of the slice that the worker is inside of, and its start. If the worker's beat has changed
    /// afterwards, the start may be that of a later slice.
    pub(super) fn slice(&self) -> Option<(u64, u64)> {
        // Ordering: see `slice_begins`.
        let beat = self.beat.load(Ordering::Acquire);
        (beat % 2 == 1).then(|| (beat, self.slice_start.load(Ordering::Relaxed)))
    }

    #[inline]
    pub(super) fn slice_ends(&self) {
        // Ordering: as in `slice_begins`.
        self.beat.store(self.beat.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    pub(super) fn beat(&self) -> u64 {
        // Ordering: hint only.
        self.beat.load(Ordering::Relaxed)
    }

    pub(super) fn metrics(&self, now: u64) -> WorkerMetrics {
        let [run, search, io, timers, parked] = self.times.until(now);
        WorkerMetrics {
            polls: self.counters.polls.get(),
            slices: self.beat() / 2,
            steals: self.counters.steals.get(),
            parks: self.counters.parks.get(),
            run,
            search,
            io,
            timers,
            parked,
        }
    }
}

/// The counters of a worker since the runtime began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerMetrics {
    /// Polls of tasks and runs of callbacks.
    pub polls: u64,
    /// Turns of lanes.
    pub slices: u64,
    /// Times it took lanes from another worker.
    pub steals: u64,
    /// Times it went to sleep.
    pub parks: u64,
    /// Time in polls and callbacks, and between them.
    pub run: Duration,
    /// Time in which it looked for a color to run.
    pub search: Duration,
    /// Time in which it asked the system for events without sleep, and woke tasks for them.
    pub io: Duration,
    /// Time in which it woke tasks whose timers were due.
    pub timers: Duration,
    /// Time asleep.
    pub parked: Duration,
}

/// A worker's own counters: only the worker writes them, and any thread reads them.
#[derive(Default)]
pub(super) struct Counters {
    pub(super) polls: Counter,
    pub(super) steals: Counter,
    pub(super) parks: Counter,
}

/// How many futures cannot leave a worker (`local_tasks.rs`). Only the worker's own thread changes it.
pub(super) struct LocalTasks(AtomicUsize);

impl LocalTasks {
    pub(super) fn add(&self) {
        // Ordering: there is one writer. The thread that stops the workers reads the count while all are
        // parked, under the lock under which workers park and wake.
        self.0.store(self.0.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    pub(super) fn remove(&self) {
        // Ordering: as in `add`.
        self.0.store(self.0.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
    }

    pub(super) fn is_empty(&self) -> bool {
        // Ordering: as in `add`.
        self.0.load(Ordering::Relaxed) == 0
    }
}

/// Lanes that others leave for one worker.
pub(super) struct Inbox {
    lanes: Mutex<VecDeque<ReadyLane>>,
    len: AtomicUsize,
}

impl Inbox {
    pub(super) fn new() -> Self {
        Self { lanes: Mutex::new(VecDeque::new()), len: AtomicUsize::new(0) }
    }

    pub(super) fn put(&self, lane: ReadyLane) {
        let mut lanes = self.lanes.lock();
        lanes.push_back(lane);
        // Ordering: the unpark that follows makes the owner look again.
        self.len.store(lanes.len(), Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn take(&self) -> Option<ReadyLane> {
        if !self.has_some() {
            return None;
        }
        let mut lanes = self.lanes.lock();
        let lane = lanes.pop_front();
        // Ordering: as in `put`; both are under the lock.
        self.len.store(lanes.len(), Ordering::Relaxed);
        lane
    }

    pub(super) fn has_some(&self) -> bool {
        // Ordering: as in `put`.
        self.len.load(Ordering::Relaxed) > 0
    }
}

/// The threads that are inside `block_on`.
pub(super) struct Guests {
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
pub(super) struct Guest {
    lanes: Mutex<Lanes>,
    came: Condvar,
    pub(super) pin: u32,
}

#[derive(Default)]
struct Lanes {
    queue: VecDeque<ReadyLane>,
    /// The guest runs no lane.
    waits: bool,
}

impl Guests {
    pub(super) fn new(workers: usize) -> Self {
        let first = pin_of(workers);
        Self { slots: Mutex::new(Slots::default()), first }
    }

    pub(super) fn enter(&self) -> Arc<Guest> {
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

    pub(super) fn leave(&self, guest: &Guest) {
        self.slots.lock().guests[(guest.pin - self.first) as usize] = None;
    }

    pub(super) fn put(&self, pin: u32, lane: ReadyLane) {
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
    pub(super) fn at_rest(&self) -> Option<u64> {
        let slots = self.slots.lock();
        let mut guests = slots.guests.iter().flatten();
        guests.all(|guest| guest.is_at_rest()).then_some(slots.sent)
    }
}

impl Guest {
    /// The next lane, if there is one. Otherwise the guest counts as waiting from now on.
    pub(super) fn take(&self) -> Option<ReadyLane> {
        self.lanes.lock().take()
    }

    /// The next lane, when there is one.
    pub(super) fn wait(&self) -> ReadyLane {
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
