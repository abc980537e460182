//! [`Scheduler`]: what all threads of a scheduler share; its settings ([`Options`]); its ports, [`Park`] and [`Policy`]; and
//! [`CoarseClock`], which says how often a worker or a guest reads the time of the port.

use crate::hooks::queues::{Classes, OtherQueues};
use crate::hooks::slots::Priority;
use crate::kernel::color::Color;
use crate::kernel::lane::refs::Table;
use crate::kernel::lane::{Common, Lane, POLL_WEIGHT, ReadyLane};
use crate::kernel::memory::{SHARED_BYTES, SharedBlocks, SharedList};
use crate::kernel::sched::idle::Idle;
use crate::kernel::sched::metrics::TaskCounts;
use crate::kernel::sched::remote::{Guests, Remote, index_of};
use crate::kernel::task::TaskPanic;
use crate::sync::{Arc, AtomicBool, AtomicUsize, Injector, Ordering};
use crossbeam_utils::CachePadded;
use std::fmt;
use std::pin::Pin;

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
pub(crate) const MAX_WORKERS: usize = 1 << 16;

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
    pub(crate) common: Common,
    /// Whether a section has been entered or announced.
    pub(crate) sections: AtomicBool,
    pub(crate) injector: Injector<ReadyLane>,
    pub(crate) idle: Idle,
    /// The workers, then the spare ones.
    pub(crate) remotes: Box<[Arc<CachePadded<Remote>>]>,
    /// How many workers there are without the spare ones.
    pub(crate) workers: usize,
    /// How many spare workers are wanted.
    pub(crate) wanted_spares: AtomicUsize,
    pub(crate) guests: Guests,
    pub(crate) park: Box<dyn Park>,
    pub(crate) shared_blocks: Arc<SharedBlocks>,
    /// Spare lanes that no worker has room for.
    pub(crate) spare_lanes: SharedLanes,
    /// Every lane has a request to cancel its tasks.
    pub(crate) cancel_sent: AtomicBool,
    /// All workers have stopped, or are about to.
    pub(crate) stopped: AtomicBool,
    /// Polls in a slice of a guest.
    pub(crate) slice_weight: i64,
    /// Nanoseconds after which a slice of a guest ends.
    pub(crate) slice_nanos: u64,
    pub(crate) policy: Option<&'static dyn Policy>,
    /// Whether workers take lanes from each other.
    pub(crate) steals: bool,
    pub(crate) classes: Classes,
    /// The tasks that such threads have spawned, and have run to the end.
    pub(crate) tasks_outside: TaskCounts,
}

impl Scheduler {
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

    /// How many tasks have waited in a section and not left their lanes since. Takes locks: meant for tests.
    #[must_use]
    pub fn waiting_sections(&self) -> usize {
        self.common.sections.len()
    }

    /// Whether all workers wait for something to do, and all spare ones that have joined.
    #[must_use]
    pub fn all_parked(&self) -> bool {
        self.idle.all_parked()
    }

    /// Whether all workers but the calling one wait for something to do, and all spare ones that have joined. The caller is
    /// a worker that has [woken up](super::worker::Worker::wake_up).
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

    /// A number that is another one if [`append_unparked`](Self::append_unparked) would append others. For simulations.
    #[must_use]
    pub fn unparked_changes(&self) -> usize {
        self.idle.changes()
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

    /// Has the waits searched for a cycle soon. Any thread calls it that has changed the target of a wait so that a cycle
    /// may be closed.
    pub fn stir(&self) {
        if self.has_had_sections() {
            self.park.stir();
        }
    }

    /// Wakes one worker if some worker is parked and no worker is searching.
    pub(crate) fn notify(&self) {
        if let Some(worker) = self.idle.notify(|| true) {
            self.park.unpark(worker);
        }
    }

    /// As [`notify`](Self::notify), for the last worker that has searched. Workers that do not steal find only what all share.
    pub(super) fn notify_of_more(&self) {
        let has_more = || {
            let has_classes = self.common.has_classes();
            self.steals || !self.injector.is_empty() || has_classes && !self.classes.is_empty()
        };
        if let Some(worker) = self.idle.notify(has_more) {
            self.park.unpark(worker);
        }
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.common.is_closing()
    }

    /// Sends a lane to the thread to which its next task is pinned.
    pub(crate) fn send(&self, pin: u32, lane: ReadyLane) {
        let worker = index_of(pin);
        match self.remotes.get(worker) {
            Some(remote) => {
                remote.inbox.put(lane);
                // The worker must not count as parked, or all workers seem to have run out of work
                // (`may_stop`).
                self.idle.search_again(worker);
                self.park.unpark(worker);
            }
            None => self.guests.put(pin, lane),
        }
    }

    /// Queues a lane for a thread that is no worker, or for a worker that cannot keep it.
    pub(crate) fn inject(&self, lane: ReadyLane) {
        if self.is_cancel_sent() {
            self.cancel(lane);
            return;
        }
        if let Some(lane) = self.classes.place(self, None, lane, Since::Scheduled, false) {
            self.injector.push(lane);
            self.notify();
        }
        self.drain_if_stopped();
    }
}

/// Decides where runnable lanes go, in place of the scheduler: for comparisons with other schedulers.
///
/// All guarantees hold under any policy, except that a policy that does not [steal](Policy::steals) gives up work
/// conservation (G6). Where there are priorities, a policy still names the worker, and the class of a lane the queue
/// there.
pub trait Policy: fmt::Debug + Send + Sync + 'static {
    /// The destination of a lane that has become runnable, or whose slice is over.
    ///
    /// The scheduler calls this for each turn of a lane, on the thread that made the lane runnable. It must not
    /// panic.
    fn destination(&self, lane: Runnable, scheduler: &Scheduler) -> Destination;

    /// Whether a worker that has nothing to run takes lanes from others. The answer must never change.
    fn steals(&self) -> bool {
        true
    }
}

/// Where a lane goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Where the scheduler puts it without a policy, except that no batch of events sends its lanes home.
    Usual,
    /// The worker with this number, modulo the number of workers.
    Worker(usize),
    /// One queue for all workers.
    Everybody,
}

/// A lane that has become runnable, or whose slice is over, as a [`Policy`] sees it.
#[derive(Clone, Copy, Debug)]
pub struct Runnable {
    /// Its color.
    pub color: Color,
    /// The worker that has the lane: the one that made it runnable, or has run it; `None` if another thread made it
    /// runnable.
    pub worker: Option<usize>,
    /// The worker on which the lane last ran.
    pub home: Option<usize>,
}

/// The moment at which a worker parts with a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Since {
    /// The lane has become runnable.
    Scheduled,
    /// The lane's slice is over.
    Ran,
}

/// Where lanes go once the program has given a color a priority, or if it has a policy. `ext` implements it for [`Classes`].
pub(crate) trait Routing {
    /// Priorities are used from now on.
    fn begin(scheduler: &Scheduler);

    /// Queues a lane that has become runnable, or has had its slice; returns it if it goes where the scheduler puts it.
    /// `own` is the worker that has it, if one has. A lane that goes `behind` runs behind the others of its queue.
    fn place(
        &self,
        scheduler: &Scheduler,
        own: Option<usize>,
        lane: ReadyLane,
        since: Since,
        behind: bool,
    ) -> Option<ReadyLane>;

    /// Moves a lane that has become more urgent, if it is still queued in a lower class.
    fn raise(&self, scheduler: &Scheduler, lane: &Lane, to: Priority);
}

/// A lane keeps its address: it is boxed, and only the box moves.
pub(crate) type SharedLanes = SharedList<Box<Lane>>;

pub(crate) fn shared_lanes() -> SharedLanes {
    SharedList::new(SHARED_BYTES / size_of::<Lane>())
}

/// A part above the core that has accepted work. The end of a runtime lets it do that work.
pub trait Finish: Send + Sync {
    /// Closes it: it accepts no more work.
    fn close(&self);

    /// Waits until it is closed, and all work that it has accepted is done.
    fn drained(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;

    /// The number of accepted items that are not done.
    fn left(&self) -> u64;
}

/// A reference that does not keep the part.
pub type Part = std::sync::Weak<dyn Finish>;

/// Polls between two looks at the clock while polls are short: a look costs some 20 ns.
const POLLS_PER_LOOK: u32 = 8;

/// Nanoseconds between two looks above which the clock is read after every poll. With 100 µs the HTTP
/// rows of `benches/ratio.rs` are the same.
const SLOW_NANOS: u64 = 16_000;

/// The time, as a worker or a guest sees it: read now and then, more often while polls are slow.
#[derive(Debug)]
pub(crate) struct CoarseClock {
    pub(crate) now: u64,
    /// Up to this time the samples of run times are charged.
    pub(crate) charged: u64,
    until_look: u32,
    per_look: u32,
}

impl Default for CoarseClock {
    fn default() -> Self {
        Self { now: 0, charged: 0, until_look: 1, per_look: 1 }
    }
}

impl CoarseClock {
    /// A turn is over. True if this has read the time.
    #[inline]
    pub(crate) fn tick(&mut self, scheduler: &Scheduler) -> bool {
        self.until_look -= 1;
        let looks = self.until_look == 0;
        if looks {
            let before = self.now;
            self.look(scheduler);
            let slow = self.now - before > SLOW_NANOS;
            self.per_look = if slow { 1 } else { POLLS_PER_LOOK };
            self.until_look = self.per_look;
        }
        looks
    }

    pub(crate) fn look(&mut self, scheduler: &Scheduler) {
        self.now = scheduler.park.now().max(self.now);
    }
}

/// The settings of one scheduler.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Polls in a slice, 1 to 1,000,000. The closure of a post or a call counts a 64th of a poll.
    pub slice_polls: u32,
    /// A slice is one turn: a poll, or a closure. For simulations; the number of polls does not matter then.
    pub single_turns: bool,
    /// Nanoseconds after which a slice ends, 1 µs to 1 s. The worker reads the clock after 8 polls,
    /// and after every poll while polls are slow.
    pub slice_nanos: u64,
    /// Whether workers keep the memory of tasks, callbacks and lanes for reuse.
    pub reuse: bool,
    /// The policy that decides where runnable lanes go, in place of the scheduler.
    pub policy: Option<&'static dyn Policy>,
    /// Spare workers, which take the lanes of workers that stay in one poll for long
    /// ([`Scheduler::want_spares`](crate::kernel::sched::Scheduler::want_spares)).
    pub spares: usize,
    /// Bytes of each ring of the flight recorder, 4,096 to 2³⁰; used are the largest power of two in it. A ring has no
    /// memory before the scheduler records.
    pub trace_bytes: usize,
}

/// Polls in a slice.
///
/// `benches/ratio.rs`, `yield_many`: 39 ns with 8, 37 ns with 64 and with 256; the wait behind a
/// saturated color grows with it.
const SLICE_POLLS: u32 = 64;

/// Nanoseconds after which a slice ends even with polls left.
///
/// `benches/ratio.rs`, `makespan`: 50, 200 and 1000 µs do not differ beyond the noise.
const SLICE_NANOS: u64 = 200_000;

/// Bytes of a ring: 32,768 records. An interpreter takes minutes to make so large a one.
const TRACE_BYTES: usize = if cfg!(miri) { 4 << 10 } else { 1 << 20 };

impl Default for Options {
    fn default() -> Self {
        Self {
            slice_polls: SLICE_POLLS,
            single_turns: false,
            slice_nanos: SLICE_NANOS,
            reuse: true,
            policy: None,
            spares: 0,
            trace_bytes: TRACE_BYTES,
        }
    }
}

/// A setting that is out of range: the given value, and the allowed ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsuitable(String);

impl fmt::Display for Unsuitable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unsuitable {}

const MAX_POLLS: u32 = 1_000_000;
const RING_BYTES: std::ops::RangeInclusive<usize> = 1 << 12..=1 << 30;
const NANOS: std::ops::RangeInclusive<u64> = 1_000..=1_000_000_000;

impl Options {
    /// How much the turns of a slice weigh together.
    pub(super) fn slice_weight(&self) -> i64 {
        if self.single_turns { 1 } else { i64::from(self.slice_polls) * POLL_WEIGHT }
    }

    /// Checks that all settings are in range.
    ///
    /// # Errors
    ///
    /// If a setting is out of range. The error names the given value and the allowed ones.
    pub fn check(&self) -> Result<(), Unsuitable> {
        let Self { slice_polls, slice_nanos, trace_bytes, .. } = *self;
        if !(1..=MAX_POLLS).contains(&slice_polls) {
            let text = format!("slice({slice_polls}, ..): allowed are 1 to {MAX_POLLS} polls");
            return Err(Unsuitable(text));
        }
        if !NANOS.contains(&slice_nanos) {
            let text = format!("slice(.., {slice_nanos} ns): allowed are 1 µs to 1 s");
            return Err(Unsuitable(text));
        }
        if !RING_BYTES.contains(&trace_bytes) {
            let (least, most) = RING_BYTES.into_inner();
            let text = format!(
                "trace_bytes({trace_bytes}): allowed are {least} to {most}; leave it out for {TRACE_BYTES}"
            );
            return Err(Unsuitable(text));
        }
        Ok(())
    }
}
