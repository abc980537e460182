//! What a thread has while it runs lanes. A worker has the part that code finds through its thread: its deque, its `next`
//! slot, its spare lanes. Workers and guests have a runner of slices.

use crate::hooks::looks;
use crate::kernel::lane::{Lane, ReadyLane, Runner, current};
use crate::kernel::memory::{Cache, FreeList};
use crate::kernel::sched::handle::SchedulerHandle;
use crate::kernel::sched::remote::{MAY_BE_DROPPED_ANYWHERE, Remote, pin_of};
use crate::kernel::sched::scheduler::{CoarseClock, Routing, Scheduler, Since};
use crate::kernel::task::Named;
use crate::sync::{Arc, Deque, ThreadId, this_thread, thread_slot};
use crossbeam_utils::CachePadded;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ptr;

/// The destination of a lane that becomes runnable here.
#[derive(Clone, Copy, Debug)]
enum Toward {
    /// Into the `next` slot.
    Next,
    /// To the worker that ran it last: the batch has many events.
    Home,
}

/// Events in a batch that goes home. `benches/ratio.rs`, HTTP, CPU a request over that without home queues,
/// where most batches are of 16 to 31 events: with 512 connections 0.91 to 0.97 (4: 0.92, 8: 0.99,
/// 32: 0.95, 64: 1.00), with 64 connections 0.92 (4: 0.97, 8: 0.95, 32: 0.98).
const MANY: usize = 16;

/// The part of a worker's own half that code inside a poll uses.
pub(crate) struct Local {
    handle: SchedulerHandle,
    /// When the slice began.
    noted: Cell<u64>,
    index: usize,
    pin: u32,
    pub(super) remote: Arc<CachePadded<Remote>>,
    pub(crate) deque: Deque<ReadyLane>,
    pub(crate) spare_lanes: FreeList<Box<Lane>>,
    cache: Cache,
    /// Whether the worker keeps memory and lanes for reuse.
    pub(crate) reuses: bool,
    /// The worker's thread, once something is pinned to it.
    thread: Cell<Option<ThreadId>>,
    /// Whether the worker is handing out events: it wakes no other worker before all are handed out.
    batching: Cell<bool>,
    toward: Cell<Toward>,
    /// The lanes that this worker has collected for each other worker during a batch.
    outgoing: RefCell<Box<[VecDeque<ReadyLane>]>>,
    /// How often a `when` over several lanes, or over a shared one, had to wait that was polled here.
    pub(crate) waits: Cell<u64>,
}

thread_slot!(static LOCAL: Cell<*const Local> = Cell::new(ptr::null()));

/// Calls `f` with the worker that this thread is, if any.
#[inline]
pub(crate) fn with<R>(f: impl FnOnce(Option<&Local>) -> R) -> R {
    let local = LOCAL.with(Cell::get);
    // SAFETY: `Local::enter` borrows the pointee until it takes the pointer out again, on this thread,
    // and `f` cannot keep the reference.
    f(unsafe { local.as_ref() })
}

/// As [`with`], with the worker only if it is one of `scheduler`.
#[inline]
pub(crate) fn with_own<R>(scheduler: &Scheduler, f: impl FnOnce(Option<&Local>) -> R) -> R {
    with(|local| f(local.filter(|local| ptr::eq(local.scheduler(), scheduler))))
}

/// Exchanges the worker that this thread is.
///
/// # Safety
///
/// `other` is null, or was this thread's in the frames in which the thread goes on.
#[cfg(feature = "sim")]
pub(crate) unsafe fn exchange(other: &Cell<*const Local>) {
    LOCAL.with(|local| local.swap(other));
}

/// The worker that this thread is, if any, as a number that no other worker has meanwhile.
pub(crate) fn address() -> Option<usize> {
    let local = LOCAL.with(Cell::get);
    (!local.is_null()).then(|| local.addr())
}

/// The worker of that scheduler that this thread is, if it is one.
pub(crate) fn index_in(scheduler: &Scheduler) -> Option<usize> {
    with_own(scheduler, |own| own.map(Local::index))
}

impl Local {
    pub(crate) fn new(
        handle: SchedulerHandle,
        index: usize,
        deque: Deque<ReadyLane>,
        reuses: bool,
    ) -> Self {
        let outgoing = handle.scheduler().remotes.iter().map(|_| VecDeque::new());
        Self {
            cache: Cache::new(Arc::clone(&handle.scheduler().shared_blocks), reuses),
            outgoing: RefCell::new(outgoing.collect()),
            toward: Cell::new(Toward::Next),
            noted: Cell::new(0),
            remote: Arc::clone(&handle.scheduler().remotes[index]),
            handle,
            waits: Cell::new(0),
            index,
            pin: pin_of(index),
            deque,
            spare_lanes: FreeList::new(),
            reuses,
            thread: Cell::new(None),
            batching: Cell::new(false),
        }
    }

    /// Runs `f` with this thread as the worker.
    #[inline]
    pub(crate) fn enter<R>(&self, f: impl FnOnce() -> R) -> R {
        struct Restore(*const Local);
        impl Drop for Restore {
            fn drop(&mut self) {
                LOCAL.with(|local| local.set(self.0));
            }
        }
        let _restore = Restore(LOCAL.with(|local| local.replace(self)));
        self.cache.enter(f)
    }

    /// A slice begins.
    #[inline]
    pub(crate) fn note(&self, now: u64) {
        self.noted.set(now);
    }

    /// When the slice began.
    #[inline]
    pub(crate) fn noted(&self) -> u64 {
        self.noted.get()
    }

    pub(crate) fn handle(&self) -> &SchedulerHandle {
        &self.handle
    }

    #[inline]
    pub(crate) fn scheduler(&self) -> &Scheduler {
        self.handle.scheduler()
    }

    #[inline]
    pub(crate) fn remote(&self) -> &Remote {
        &self.remote
    }

    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// From now on only this thread may be the worker, because a future that cannot leave it is pinned
    /// here.
    pub(crate) fn bind_to_thread(&self) {
        self.assert_on_its_thread();
        self.thread.set(Some(this_thread()));
    }

    /// The thread that alone may be the worker, if there is one.
    #[cfg(feature = "sim")]
    pub(crate) fn thread(&self) -> Option<ThreadId> {
        self.thread.get()
    }

    #[inline]
    pub(crate) fn assert_on_its_thread(&self) {
        if let Some(thread) = self.thread.get() {
            let here = this_thread();
            assert!(
                thread == here,
                "worker {} has futures of `spawn_local` and must stay on the thread {thread:?}, but is \
                 stepped on {here:?}",
                self.index
            );
        }
    }

    /// The pin of tasks that only this worker may run.
    pub(crate) fn pin(&self) -> u32 {
        self.pin
    }

    /// Takes a lane that this worker has made runnable.
    #[inline]
    pub(crate) fn enqueue(&self, lane: ReadyLane, pin: u32) {
        if pin != 0 {
            return self.enqueue_pinned(lane, pin);
        }
        let Some(lane) = self.route(lane, Since::Scheduled) else { return };
        if current::is_waking_last() {
            return self.put_behind(lane);
        }
        match self.toward.get() {
            Toward::Next => {
                if let Some(displaced) = self.remote().swap_next(Some(lane)) {
                    self.deque.push(displaced);
                }
                // As in `offer`: there is a lane in the `next` slot.
                if !self.deque.is_empty() && !self.batching.get() && self.scheduler().steals {
                    self.scheduler().notify();
                }
            }
            Toward::Home => self.collect(lane),
        }
    }

    #[inline(never)]
    fn enqueue_pinned(&self, lane: ReadyLane, pin: u32) {
        // After a slice the worker looks at its inbox before it sleeps. Outside of one, as the host of an embedded runtime is, it
        // may be asleep.
        let is_own = pin & !MAY_BE_DROPPED_ANYWHERE == self.pin() && self.remote().is_in_slice();
        if is_own { self.remote().inbox.put(lane) } else { self.scheduler().send(pin, lane) }
    }

    /// Puts a lane behind all others.
    #[inline]
    pub(crate) fn requeue(&self, lane: ReadyLane) {
        let Some(lane) = self.route(lane, Since::Ran) else { return };
        self.deque.push(lane);
        self.offer(0);
    }

    /// Takes a lane that has filled its slice: it is next if a theft has freed a turn, and otherwise the
    /// last.
    #[inline]
    pub(crate) fn put_back(&self, lane: ReadyLane) {
        let remote = self.remote();
        let alone = remote.has_next() || remote.has_policy_or_classes() || self.deque.is_empty();
        if alone || !remote.take_free_turn() {
            self.requeue(lane);
        } else if let Some(displaced) = remote.swap_next(Some(lane)) {
            self.deque.push(displaced);
        }
    }

    /// Returns the lane if it goes to this worker's own deque.
    #[inline]
    fn route(&self, lane: ReadyLane, since: Since) -> Option<ReadyLane> {
        if self.remote().has_policy_or_classes() {
            self.route_by_policy_or_class(lane, since)
        } else {
            Some(lane)
        }
    }

    #[cold]
    fn route_by_policy_or_class(&self, lane: ReadyLane, since: Since) -> Option<ReadyLane> {
        let (scheduler, behind) = (self.scheduler(), current::is_waking_last());
        scheduler.classes.place(scheduler, Some(self.index), lane, since, behind)
    }

    /// Wakes a worker if this one has more lanes than the one that it runs next, of which `left` are in its home queue.
    #[inline]
    fn offer(&self, left: usize) {
        if self.batching.get() {
            return;
        }
        let runnable = self.deque.len() + usize::from(self.remote().has_next()) + left;
        if runnable > 1 && self.scheduler().steals {
            self.scheduler().notify();
        }
    }

    /// Runs `f`, which hands out this number of events, and wakes other workers afterwards.
    pub(crate) fn batch<R>(&self, events: usize, f: impl FnOnce() -> R) -> R {
        struct Batch<'a> {
            of: &'a Local,
            homing: bool,
        }
        impl Drop for Batch<'_> {
            fn drop(&mut self) {
                self.of.batching.set(false);
                self.of.toward.set(Toward::Next);
                if self.homing { self.of.post() } else { self.of.offer(0) }
            }
        }
        let homing = self.goes_home(events);
        self.batching.set(true);
        self.toward.set(if homing { Toward::Home } else { Toward::Next });
        // Also runs when `f` panics: the lanes that `f` made runnable are there.
        let _batch = Batch { of: self, homing };
        self.enter(f)
    }

    /// Counts a wait of a `when` that is polled on this thread and does not wait as a call does.
    pub(crate) fn count_wait(&self) {
        self.waits.set(self.waits.get() + 1);
    }
}

/// A batch of many events: the lanes that it makes runnable go to the workers that ran them last ([`HomeQueue`](super::remote::HomeQueue)).
impl Local {
    /// Whether the lanes of a batch with this number of events go home. A policy may have named another worker than the home.
    fn goes_home(&self, events: usize) -> bool {
        let scheduler = self.scheduler();
        events >= MANY && scheduler.remotes.len() > 1 && scheduler.policy.is_none()
    }

    /// Takes a lane that was made runnable during a batch that goes home.
    #[inline(never)]
    fn collect(&self, lane: ReadyLane) {
        match lane.lane().home() {
            Some(home) if home != self.index() => {
                self.outgoing.borrow_mut()[home].push_back(lane);
            }
            _ => self.deque.push(lane),
        }
    }

    /// Takes a lane that is to run behind all lanes that are runnable here.
    #[inline(never)]
    fn put_behind(&self, lane: ReadyLane) {
        let left = self.remote().home_queue.put_one(lane);
        self.offer(left);
    }

    /// Ends a batch: leaves for every worker the lanes that were collected for it.
    fn post(&self) {
        let scheduler = self.scheduler();
        let mut waits = self.deque.len() > 1;
        for (worker, lanes) in self.outgoing.borrow_mut().iter_mut().enumerate() {
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

/// One slice on a worker.
pub(crate) struct SliceRunner<'a> {
    pub(crate) scheduler: &'a Scheduler,
    pub(crate) remote: &'a Remote,
    pub(crate) pin: u32,
    pub(crate) max_nanos: u64,
    pub(crate) polls: u32,
    /// What the other turns may weigh.
    pub(crate) left: i64,
    pub(crate) start: u64,
    pub(crate) clock: &'a mut CoarseClock,
}

impl Runner for SliceRunner<'_> {
    #[inline]
    fn may_run(&self, pin: u32) -> bool {
        pin == 0 || pin & !MAY_BE_DROPPED_ANYWHERE == self.pin
    }

    #[inline]
    fn is_closing(&self) -> bool {
        self.scheduler.is_closing()
    }

    #[inline]
    fn begin_turn(&self, task: Option<Named>) {
        self.remote.running.begin_turn(task);
    }

    #[inline]
    fn count_completed(&self) {
        self.remote.tasks.completed.add(1);
    }

    #[inline]
    fn count_turn(&mut self, weight: i64) -> bool {
        self.polls += 1;
        self.left -= weight;
        if self.clock.tick(self.scheduler) {
            looks::looked(self.remote, self.clock, true);
            // Between two looks the time stands still.
            return self.left > 0 && self.clock.now - self.start < self.max_nanos;
        }
        self.left > 0
    }
}

/// One slice on a guest.
pub(crate) struct GuestRunner<'a> {
    pub(crate) scheduler: &'a Scheduler,
    pub(crate) pin: u32,
    /// What the turns so far weigh.
    pub(crate) weight: i64,
    /// When the first poll was over. Most slices have no other poll, and read no clock.
    pub(crate) start: u64,
    pub(crate) clock: CoarseClock,
}

impl Runner for GuestRunner<'_> {
    fn may_run(&self, pin: u32) -> bool {
        pin == self.pin
    }

    fn is_closing(&self) -> bool {
        self.scheduler.is_closing()
    }

    fn count_completed(&self) {
        self.scheduler.tasks_outside.completed.add_shared(1);
    }

    fn count_turn(&mut self, weight: i64) -> bool {
        let is_first = self.weight == 0;
        self.weight += weight;
        if is_first {
            self.clock.look(self.scheduler);
            self.start = self.clock.now;
        } else {
            self.clock.tick(self.scheduler);
        }
        let nanos = self.clock.now - self.start;
        self.weight < self.scheduler.slice_weight && nanos < self.scheduler.slice_nanos
    }
}
