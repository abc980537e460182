//! The scheduler: workers that own deques of lanes, and steal whole lanes from each other.
//!
//! All threads share [`Scheduler`]; [`Worker`] is one worker's own half, advanced by [`Worker::step`]. The scheduler
//! starts no thread and reads no clock: the caller of `step` chooses the thread, and [`Park`] tells the time. So the
//! same code runs on real threads, under loom, and as sixty-four workers in one thread in virtual time.
//!
//! Where a lane goes when it becomes runnable:
//!
//! | made runnable by | goes to |
//! |---|---|
//! | a worker | its `next` slot; the lane that was there goes to the young end of its deque |
//! | any other thread | the injector |
//! | its next task is pinned | the inbox of that worker or guest |
//! | its slice is over | the young end of the deque of the worker that ran it |
//! | a worker, in a batch of many events | the home queue of the worker that ran it last (`home_queue.rs`) |
//! | the end of a behavior that it waited for | the worker's own home queue |
//! | any of these, with a [`Policy`] | where the policy says: as above, the home queue of a worker, or the injector |

mod classes;
mod color_address;
mod counters;
mod dispatch;
mod enter;
mod finish;
mod guest;
mod guests;
mod handle;
mod home_queue;
mod idle;
mod in_place;
mod inbox;
mod local;
mod local_tasks;
mod long_poll;
mod options;
mod pace;
mod pinned;
mod policy;
mod profile;
mod record;
mod remote;
mod retire;
mod running;
mod shutdown;
pub(crate) mod snapshot;
mod spare_lanes;
mod task_counts;
mod times;
mod worker;

pub use self::counters::WorkerMetrics;
pub use self::in_place::{block_in_place, in_own_call};
pub use self::long_poll::LongPoll;
pub use self::options::{Options, Unsuitable};
pub use self::policy::{Destination, Policy, Runnable};
pub use self::record::{Observed, ObservedColor, ObservedSite};
pub use self::running::{InPlace, RunningSlice};
pub use self::times::Phase;
pub use self::worker::{Step, Worker};

pub use self::enter::{Entered, spawn_here};
pub use self::finish::{Finish, Part, report_overload};
pub use self::guest::{Nested, spawn_local};
pub use self::handle::SchedulerHandle;

pub(crate) use self::enter::with_handle_of_task;

use self::classes::Classes;
use self::guests::Guests;
use self::idle::Idle;
use self::policy::Since;
use self::remote::{Remote, index_of};
use self::snapshot::SnapshotRequests;
use self::spare_lanes::SharedLanes;
use self::task_counts::TaskCounts;
use crate::hooks::Order;
use crate::lane::{Common, LanePtr, LaneRef, ReadyLane};
use crate::memory::SharedBlocks;
use crate::queue::{Deque, Injector};
use crate::sync::{Arc, AtomicBool, AtomicUsize, Ordering};
use crate::table::{Cursor, Table};
use crate::task::{Abort, TaskPanic};
use crate::trace::SharedRing;
use crossbeam_utils::CachePadded;

/// The services that the scheduler needs from the operating system.
pub trait Park: Send + Sync + 'static {
    /// Makes the worker's current or next park return at once.
    fn unpark(&self, worker: usize);

    /// Nanoseconds since some fixed moment, never going back.
    fn now(&self) -> u64;

    /// The target of a wait has changed, and no worker has run for it: the thread that calls
    /// [`look_for_deadlocks`](crate::look_for_deadlocks) should look again. Called only after the first
    /// section.
    fn stir(&self) {}

    /// A task of the scheduler has panicked, on this thread, which still holds the task's color. The task goes on to end
    /// as usual, also if this panics.
    fn panicked(&self, _scheduler: &Scheduler, _panic: &TaskPanic<'_>) {}

    /// The search for deadlocks has found a wait that cannot end, and is about to wake the task that gets the error.
    fn found_deadlock(&self, _scheduler: &Scheduler) {}

    /// Work was refused or shed on this thread, which works for the scheduler, because there is too much of it.
    fn overloaded(&self, _scheduler: &Scheduler) {}

    /// The end of the runtime should let this part end first. Of several parts the last comes first.
    fn finish_first(&self, _part: Part) {}

    /// A thread inside `block_on` has run its lanes and goes to sleep: [`Scheduler::rest`] may return some now, and no
    /// worker is awake to see that.
    fn guest_waits(&self) {}

    /// The shell asks, on this thread, which runtime the scheduler is part of: [`Scheduler::show_shell`]. It is to put its
    /// answer into a thread-local of its own. So the answer has the shell's type, which the core does not know.
    fn show_shell(&self) {}
}

/// `idle.rs` counts sleeping and searching workers in 16 bits each, and a lane keeps its home in 16.
const MAX_WORKERS: usize = 1 << 16;

/// A time in which nothing ran: see [`Scheduler::rest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest {
    workers_ended: u64,
    lanes_sent: u64,
}

/// A runtime's scheduler, as all its threads see it.
pub struct Scheduler {
    pub(crate) table: Table,
    /// The state that lanes reach.
    common: Common,
    /// Whether a section has been entered or announced.
    sections: AtomicBool,
    injector: Injector<ReadyLane>,
    idle: Idle,
    /// The workers, then the spare ones.
    remotes: Box<[CachePadded<Remote>]>,
    /// How many workers there are without the spare ones.
    workers: usize,
    /// How many spare workers are wanted.
    wanted_spares: AtomicUsize,
    guests: Guests,
    park: Box<dyn Park>,
    shared_blocks: Arc<SharedBlocks>,
    /// Spare lanes that no worker has room for.
    spare_lanes: SharedLanes,
    /// Every lane has a request to cancel its tasks.
    told: AtomicBool,
    /// All workers have stopped, or are about to.
    stopped: AtomicBool,
    /// Polls in a slice of a guest.
    slice_weight: i64,
    /// Nanoseconds after which a slice of a guest ends.
    slice_nanos: u64,
    policy: Option<&'static dyn Policy>,
    /// Whether workers take lanes from each other.
    steals: bool,
    classes: Classes,
    /// The flight recorder of all threads that are no workers.
    outside: SharedRing,
    /// The tasks that such threads have spawned, and have run to the end.
    tasks_outside: TaskCounts,
    snapshot: SnapshotRequests,
}

impl Scheduler {
    /// Makes a scheduler with this number of workers; the caller steps them. `seed` decides in which order a
    /// thief tries its victims.
    pub fn with_workers(
        workers: usize,
        seed: u64,
        park: Box<dyn Park>,
    ) -> (SchedulerHandle, Vec<Worker>) {
        Self::with_options(workers, seed, park, Options::default())
    }

    /// As [`Scheduler::with_workers`], with other settings. The spare workers follow the others.
    ///
    /// # Panics
    ///
    /// If [`Options::check`] rejects the options.
    pub fn with_options(
        workers: usize,
        seed: u64,
        park: Box<dyn Park>,
        options: Options,
    ) -> (SchedulerHandle, Vec<Worker>) {
        Self::with_order(workers, seed, park, options, Order::default())
    }

    /// As [`Scheduler::with_options`], recorded or replayed.
    ///
    /// # Panics
    ///
    /// As for `with_options`.
    pub fn with_order(
        workers: usize,
        seed: u64,
        park: Box<dyn Park>,
        options: Options,
        order: Order,
    ) -> (SchedulerHandle, Vec<Worker>) {
        assert!(workers > 0, "a scheduler has at least one worker");
        let all = workers.saturating_add(options.spares);
        assert!(all < MAX_WORKERS, "a scheduler has fewer than {MAX_WORKERS} workers");
        options.check().unwrap_or_else(|unsuitable| panic!("{unsuitable}"));
        let deques: Vec<Deque<ReadyLane>> = (0..all).map(|_| Deque::new()).collect();
        let remote = |deque: &Deque<_>| Remote::new(deque.stealer(), options.trace_bytes);
        let remotes = deques.iter().map(|deque| CachePadded::new(remote(deque)));
        let steals = options.policy.is_none_or(|policy| policy.steals());
        let scheduler = Arc::new(Self {
            table: Table::new(seed),
            common: Common::new(all, if steals { workers } else { usize::MAX }, order.slot()),
            sections: AtomicBool::new(false),
            injector: Injector::new(),
            idle: Idle::new(workers),
            remotes: remotes.collect(),
            workers,
            wanted_spares: AtomicUsize::new(0),
            guests: Guests::new(all),
            park,
            shared_blocks: Arc::new(SharedBlocks::new()),
            spare_lanes: spare_lanes::shared_lanes(),
            told: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            slice_weight: options.slice_weight(),
            slice_nanos: options.slice_nanos,
            policy: options.policy,
            steals,
            classes: Classes::new(all),
            outside: SharedRing::new(options.trace_bytes),
            tasks_outside: TaskCounts::default(),
            snapshot: SnapshotRequests::default(),
        });
        if scheduler.policy.is_some() {
            scheduler.remotes.iter().for_each(|remote| remote.set_unusual());
        }
        let handle = SchedulerHandle::new(scheduler);
        let workers = deques
            .into_iter()
            .enumerate()
            .map(|(index, deque)| Worker::new(handle.clone(), index, deque, seed, &options))
            .collect();
        (handle, workers)
    }

    /// How many workers there are, without the spare ones.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// Calls [`Park::show_shell`].
    pub fn show_shell(&self) {
        self.park.show_shell();
    }

    /// How many colors have a lane that can be found by its color.
    #[must_use]
    pub fn lanes(&self) -> usize {
        self.table.len()
    }

    /// References to the next lanes that can be found by their colors; `None` at the end.
    pub(crate) fn lanes_page(&self, cursor: &mut Cursor) -> Option<Vec<LaneRef>> {
        self.table.page(cursor)
    }

    /// How many tasks have waited in a section and not left their lanes since. Takes locks: meant for tests.
    #[must_use]
    pub fn waiting_sections(&self) -> usize {
        self.common.sections.len()
    }

    /// The counters of a worker, or of a spare one.
    #[must_use]
    pub fn worker_metrics(&self, worker: usize) -> WorkerMetrics {
        self.remotes[worker].metrics(self.now())
    }

    /// Whether all workers wait for something to do, and all spare ones that have joined.
    #[must_use]
    pub fn all_parked(&self) -> bool {
        self.idle.all_parked()
    }

    /// Whether all workers but the calling one wait for something to do, and all spare ones that have joined. The caller is
    /// a worker that has [woken up](Worker::wake_up).
    #[must_use]
    pub fn others_parked(&self) -> bool {
        self.idle.others_parked()
    }

    /// Some if, at one moment, all workers were parked, no lane waited for one, and no thread inside `block_on` ran a task
    /// or had one to run. From that moment until a thread from outside the scheduler makes a lane runnable, nothing
    /// runs. If two calls return equal values, nothing has run in between. Takes a few locks.
    #[must_use]
    pub fn rest(&self) -> Option<Rest> {
        let mut lanes_sent = None;
        let nothing_left = || {
            // The guests first: a lane goes from a guest to a queue, and from a queue to a guest only by a worker.
            lanes_sent = self.guests.at_rest();
            lanes_sent.is_some() && self.has_no_lanes()
        };
        let workers_ended = self.idle.all_parked_and(nothing_left)?;
        Some(Rest { workers_ended, lanes_sent: lanes_sent? })
    }

    /// How many workers wait for something to do.
    #[must_use]
    pub fn parked(&self) -> usize {
        self.idle.parked()
    }

    /// Whether a worker waits for something to do. Takes a lock: meant for a backstop.
    #[must_use]
    pub fn is_parked(&self, worker: usize) -> bool {
        self.idle.is_parked(worker)
    }

    /// Appends the workers that are not parked, in their order; `first` is added to each. For simulations, which ask before
    /// each turn: of 1 to 64 workers, without spare ones.
    pub fn append_unparked(&self, first: usize, to: &mut Vec<usize>) {
        self.idle.append_unparked(self.workers(), first, to);
    }

    /// Wakes a parked worker if a lane waits that a worker could steal: meant for a backstop that looks now and then.
    /// A lane in a `next` slot causes no wake-up by itself. If its worker stays in one poll for long, this call lets
    /// another worker steal the lane.
    pub fn rescue(&self) {
        let any_stealable =
            || !self.classes.is_empty() || self.remotes.iter().any(|remote| remote.has_stealable());
        if !self.injector.is_empty() || (self.steals && any_stealable()) {
            self.notify();
        }
    }

    /// The time: nanoseconds of [`Park::now`].
    #[must_use]
    pub fn now(&self) -> u64 {
        self.park.now()
    }

    /// Whether there has been a section.
    #[inline]
    #[must_use]
    pub fn has_had_sections(&self) -> bool {
        // Ordering: a hint. A thread that knows of a section also sees the flag, by the synchronization through
        // which it learned of the section.
        self.sections.load(Ordering::Relaxed)
    }

    /// A section has begun, or will: from now on each [`Room`](crate::port::Room) records its holders.
    pub fn expect_sections(&self) {
        if !self.has_had_sections() {
            // Ordering: as in `has_had_sections`.
            self.sections.store(true, Ordering::Relaxed);
        }
    }

    /// The tasks that have waited in a section and not left their lanes since.
    pub(crate) fn parked_sections(&self) -> Vec<Abort<LanePtr>> {
        self.common.sections.all()
    }

    /// Has the waits searched for a cycle soon. Any thread calls it that has changed the target of a wait so that a cycle
    /// may be closed.
    pub fn stir(&self) {
        if self.has_had_sections() {
            self.park.stir();
        }
    }

    /// Wakes one worker if some worker is parked and no worker is searching.
    fn notify(&self) {
        if let Some(worker) = self.idle.notify() {
            self.park.unpark(worker);
        }
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.common.is_closing()
    }

    /// Sends a lane to the thread to which its next task is pinned.
    fn send(&self, pin: u32, lane: ReadyLane) {
        let worker = index_of(pin);
        match self.remotes.get(worker) {
            Some(remote) => {
                remote.put(lane);
                // The worker must not count as parked, or all workers seem to have run out of work
                // (`may_stop`).
                self.idle.search_again(worker);
                self.park.unpark(worker);
            }
            None => self.guests.put(pin, lane),
        }
    }

    /// Queues a lane for a thread that is no worker, or for a worker that cannot keep it.
    fn inject(&self, lane: ReadyLane) {
        if self.is_told() {
            self.cancel(lane);
            return;
        }
        if self.common.has_classes() {
            self.queue_by_class(None, lane, Since::Scheduled, false);
        } else if let Some(lane) = self.route(None, lane, Since::Scheduled) {
            self.injector.push(lane);
            self.notify();
        }
        self.drain_if_stopped();
    }
}
