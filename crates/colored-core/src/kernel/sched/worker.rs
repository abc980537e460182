//! One worker, advanced a step at a time: it divides its turns between its own lanes and lanes from outside, sleeps
//! when there are none, and stops for good. A scheduler is made with its workers.
//!
//! # Rounds (G7)
//!
//! A lane that another thread makes runnable waits in the injector, where every worker finds it: a
//! foreign thread has spawned a task, a blocking thread has finished a call, the reactor thread has
//! found an event. A worker that is never out of lanes of its own must look there too, and how often it looks decides
//! how long the lanes in the injector wait. A fixed interval is wrong for any number of them: with one look in 61
//! steps, 500 lanes wait for 30,000 slices of other lanes.
//!
//! So a worker works in rounds. A **round** is two counts, taken when it begins: the number of lanes in the injector,
//! which come first, and the number of lanes in the worker's deque. When both counts are used up, or the worker finds a
//! queue empty before, the next round begins as soon as the injector holds a lane: without one there is nothing to
//! count. The worker takes lanes of the injector one by one, when they run. Until then all workers share them, and idle
//! workers take them in batches.
//!
//! # The lanes ahead of a lane
//!
//! Let a lane become runnable, and look at one worker that goes on stepping. *Ahead* of the lane are
//!
//! * if it is in the injector: the lanes before it there, and the lanes in that worker's deque at that moment. The rest
//!   of the round takes no more than these lanes, and the next round counts the lane itself;
//! * if it is in the deque: the lanes before it there, and the lanes in the injector when the next round begins. A
//!   round that began before the lane came does not count it, and the next one does.
//!
//! Each lane that is ahead has at most one slice before the lane has its own, since it goes behind the lane when its
//! slice is over. The worker moves its home queue to the deque before each turn of a queue, so those lanes count as in
//! the deque. Beside these slices there are, for each of them, at most
//!
//! * three of the `next` slot, which holds the lane that this worker made runnable last, or a lane that a theft has
//!   given a turn;
//! * and as many as all these together, of lanes that are pinned to this worker: its inbox has every second step.
//!   Likewise, a lane in the inbox waits for two slices for each lane before it there.
//!
//! A lane in the `next` slot waits for at most one lane of the queues, or goes into the deque, behind the others, because
//! another lane has taken its place. A thief takes the older half of a deque, at most 32 lanes, in its order, and only when
//! it is out of lanes and the injector is empty. The stolen lanes are its round. So a theft puts no lane behind another. A
//! batch from the injector is a round likewise, for the same reason.
//!
//! All this is per worker, and other workers cannot break it: they can only take away lanes that are ahead. There are
//! three exceptions. A lane that has waited in a line comes later, by a bound of its own (`sched/remote.rs`). With
//! priorities, this order holds within one class, and a class takes turns between its two queues (`ext/priority/classes.rs`). A
//! guest runs the lanes that it is sent in the order of their arrival (`guest.rs`).

mod find;
mod spare;

pub(crate) use self::find::FindByClass;
pub use self::spare::{block_in_place, in_own_call};
use crate::hooks::queues::{Classes, OtherQueues};
use crate::hooks::slots::SchedulerSlot;
use crate::hooks::workers::{self as hooks, Account};
use crate::kernel::lane::refs::Table;
use crate::kernel::lane::{Common, POLL_WEIGHT, ReadyLane, Runner, Slice};
use crate::kernel::memory::SharedBlocks;
use crate::kernel::sched::handle::SchedulerHandle;
use crate::kernel::sched::idle::{Idle, StealPause};
use crate::kernel::sched::local::{Local, SliceRunner};
use crate::kernel::sched::metrics::TaskCounts;
use crate::kernel::sched::remote::{Guests, Remote};
use crate::kernel::sched::scheduler::{
    CoarseClock, MAX_WORKERS, Options, Park, Scheduler, shared_lanes,
};
use crate::sync::{Arc, AtomicBool, AtomicUsize, Deque, Injector, Ordering};
use crossbeam_utils::CachePadded;

/// The result of a step, and the caller's next action.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The step ran a slice: step again.
    Ran,
    /// There is nothing to run: park until unparked, and at most for this number of nanoseconds, then
    /// step again.
    Park(Option<u64>),
    /// The scheduler has shut down: never step again.
    Stopped,
}

/// What a spare worker does next.
enum Next {
    /// It steps, as any worker does.
    Step,
    /// It returns this in place of a step.
    Return(Step),
}

/// One worker's own half of the scheduler.
///
/// A worker may be sent to the thread that is to step it, and stays there: a future that
/// [`spawn_local`] pins to a worker need not be `Send`.
///
/// [`spawn_local`]: crate::spawn_local
pub struct Worker {
    pub(crate) local: Local,
    rng: Rng,
    clock: CoarseClock,
    account: Account,
    pub(crate) steps: u32,
    slice_weight: i64,
    slice_nanos: u64,
    streak: u8,
    round: Round,
    /// The step and the time at which lanes behind the others last moved to the deque
    /// (`remote.rs`).
    pub(super) behind_moved: (u32, u64),
    pub(super) searching: bool,
    parked: bool,
    /// The last step told the thread to sleep.
    asleep: bool,
    steal_pause: StealPause,
    /// Whether it is a spare worker.
    is_spare: bool,
    /// A spare worker that has not joined.
    absent: bool,
}

impl Worker {
    pub(super) fn new(
        handle: SchedulerHandle,
        index: usize,
        deque: Deque<ReadyLane>,
        seed: u64,
        options: &Options,
    ) -> Self {
        Self {
            is_spare: handle.scheduler().is_spare(index),
            absent: handle.scheduler().is_spare(index),
            local: Local::new(handle, index, deque, options.reuse),
            rng: Rng::new(seed ^ (index as u64 + 1)),
            clock: CoarseClock::default(),
            account: Account::default(),
            steps: 0,
            slice_weight: options.slice_weight(),
            slice_nanos: options.slice_nanos,
            streak: 0,
            round: Round::default(),
            behind_moved: (0, 0),
            searching: false,
            parked: false,
            asleep: true,
            steal_pause: StealPause::default(),
        }
    }

    /// The index of this worker, from 0.
    #[must_use]
    pub fn index(&self) -> usize {
        self.local.index()
    }

    /// The thread that must step the worker, once a future of [`spawn_local`](crate::spawn_local) is pinned to it.
    #[cfg(feature = "sim")]
    #[must_use]
    pub fn thread(&self) -> Option<std::thread::ThreadId> {
        self.local.thread()
    }

    /// The scheduler's handle.
    #[must_use]
    pub fn handle(&self) -> &SchedulerHandle {
        self.local.handle()
    }

    /// When this worker last looked at the clock: nanoseconds of [`Park::now`],
    /// at most a few microseconds ago while it runs.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.clock.now
    }

    /// Whether the last [`step`](Self::step) ran nothing: this worker had announced its sleep, and has
    /// found something after that. A thread that saw all workers parked must be told.
    #[must_use]
    pub fn has_turned_back(&self) -> bool {
        self.searching
    }

    /// Begins a sleep.
    pub(super) fn begin_sleep(&mut self) {
        self.asleep = true;
        hooks::sleeps(&mut self.account, &mut self.clock, &self.local);
    }

    /// Looks at the clock.
    pub(super) fn look(&mut self) {
        self.clock.look(self.local.scheduler());
    }

    /// Runs `f` as this worker. `f` makes lanes runnable, for example by handing out `events` I/O
    /// events. Other workers are woken afterwards, and only if there are more lanes than the one that
    /// this worker runs next. If there are many events, each lane goes to the worker that ran it last.
    pub fn batch<R>(&mut self, events: usize, f: impl FnOnce() -> R) -> R {
        debug_assert!(!self.absent, "a spare worker that is absent takes no events");
        self.wake_up();
        hooks::hands_out(&mut self.account, events, &mut self.clock, &self.local);
        self.local.batch(events, f)
    }

    /// Finds a lane and runs a slice of it: up to 64 polls or 200 µs ([`Options`]), whichever comes
    /// first, and at least one poll or closure. All steps of a worker must be on the same thread.
    ///
    /// # Panics
    ///
    /// If a [`spawn_local`](crate::spawn_local) under this worker ran on another thread.
    pub fn step(&mut self) -> Step {
        self.local.assert_on_its_thread();
        if self.is_spare
            && let Next::Return(step) = self.join_or_leave()
        {
            return step;
        }
        self.wake_up();
        match self.find() {
            Some(lane) => {
                self.stop_searching();
                self.run(lane);
                Step::Ran
            }
            None => self.go_to_sleep(),
        }
    }

    /// Goes to sleep, as a [`step`](Self::step) that finds nothing, unless a lane waits for this worker.
    #[cfg(feature = "sim")]
    pub fn sleep_unless_busy(&mut self) {
        let remote = self.local.remote();
        let is_busy = remote.has_next()
            || !self.local.deque.is_empty()
            || !remote.home_queue.is_empty()
            || remote.inbox.has_some()
            || self.local.scheduler().classes.has_work_for(self.index(), false);
        if !is_busy {
            self.streak = 0;
            // If a lane has come meanwhile, the worker is awake, and its next step finds it.
            let _ = self.go_to_sleep();
        }
    }

    /// Leaves the parked workers, so that no thread wakes this worker in place of one that sleeps. A
    /// [`step`](Self::step) and a [`batch`](Self::batch) begin with it.
    #[inline]
    pub fn wake_up(&mut self) {
        if self.asleep {
            self.end_sleep();
        }
    }

    #[cold]
    fn end_sleep(&mut self) {
        self.asleep = false;
        hooks::wakes(&mut self.account, &mut self.clock, &self.local);
        if self.parked {
            self.parked = false;
            self.searching = self.local.scheduler().idle.unpark(self.index());
        }
    }

    fn run(&mut self, lane: ReadyLane) {
        let listening = hooks::slice_begins(&mut self.account, &mut self.clock, &self.local);
        let remote = self.local.remote();
        let color = lane.lane().color();
        remote.begin_slice(self.clock.now, color);
        self.local.note(self.clock.now);
        let mut turn = SliceRunner {
            scheduler: self.local.scheduler(),
            remote,
            pin: self.local.pin(),
            max_nanos: self.slice_nanos,
            polls: 0,
            left: self.slice_weight,
            start: self.clock.now,
            clock: &mut self.clock,
        };
        let local = &self.local;
        let slice = match listening {
            None => {
                let slice = local.enter(|| lane.run(&mut turn));
                // The turn that left the lane idle has not asked whether to go on. It counts for the clock too,
                // because many lanes have no other turn.
                if matches!(slice, Slice::Over) {
                    turn.count_turn(POLL_WEIGHT);
                }
                slice
            }
            Some(listening) => hooks::run(local, lane, &mut turn, listening),
        };
        remote.counters.polls.add(u64::from(turn.polls));
        remote.end_slice();
        match slice {
            Slice::Over => {}
            Slice::More(lane) => local.put_back(lane),
            Slice::Elsewhere(lane, 0) => local.requeue(lane),
            Slice::Elsewhere(lane, pin) => local.scheduler().send(pin, lane),
        }
    }
}

/// The rest of a worker's round.
#[derive(Debug, Default)]
struct Round {
    /// The lanes of the injector that are left in this round.
    outside: usize,
    /// The lanes of the deque that are left in this round; the injector's lanes come first.
    own: usize,
}

impl Round {
    /// Begins a round of lanes that are in the deque, and have waited for longer than any in the injector.
    fn begin(&mut self, own: usize) {
        *self = Self { outside: 0, own };
    }

    fn is_over(&self) -> bool {
        self.outside == 0 && self.own == 0
    }
}

/// xorshift64* by Marsaglia and Vigna: three shifts and a multiplication a draw.
///
/// Seeded, so a schedule that a simulation found can be run again.
#[derive(Debug)]
struct Rng(u64);

impl Rng {
    fn new(seed: u64) -> Self {
        // Zero is the generator's one fixed point.
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `bound`, which is not zero. The bias is below `bound / 2³²`.
    fn below(&mut self, bound: usize) -> usize {
        let mut x = self.0;
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        self.0 = x;
        let high = x.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32;
        ((high * bound as u64) >> 32) as usize
    }
}

/// How long a worker parks at most while a `next` slot elsewhere is full.
const LATE_PARK_NANOS: u64 = 1_000_000;

impl Worker {
    /// Announces the sleep, looks at all queues once more, and only then sleeps (G6).
    #[cold]
    fn go_to_sleep(&mut self) -> Step {
        if let Some(pause) = self.pause_left() {
            self.stop_searching();
            self.local.remote().counters.parks.add(1);
            self.begin_sleep();
            return Step::Park(Some(pause));
        }
        let scheduler = self.local.scheduler();
        scheduler.idle.park(self.local.index(), self.searching);
        self.searching = scheduler.has_work_for(self.local.index());
        if self.searching {
            scheduler.idle.search_again(self.local.index());
            return Step::Ran;
        }
        self.parked = true;
        if scheduler.may_stop() {
            self.local.enter(|| scheduler.drain());
            scheduler.drop_spare_lanes();
            return Step::Stopped;
        }
        self.local.remote().counters.parks.add(1);
        let late = scheduler.steals && scheduler.remotes.iter().any(|remote| remote.has_next());
        self.begin_sleep();
        Step::Park(late.then_some(LATE_PARK_NANOS))
    }
}

impl Scheduler {
    /// Whether a worker that is about to park could run a lane. Sequenced after the fence in
    /// `Idle::park`.
    fn has_work_for(&self, worker: usize) -> bool {
        let own = &self.remotes[worker..=worker];
        let takes_from = if self.steals { &self.remotes[..] } else { own };
        // The order matters: lanes go from the home queue to a deque.
        self.classes.has_work_for(worker, self.steals)
            || own[0].inbox.has_some()
            || !self.injector.is_empty()
            || takes_from.iter().any(|remote| !remote.home_queue.is_empty())
            || takes_from.iter().any(|remote| !remote.stealer.is_empty())
    }

    /// Whether no lane is in a queue of the workers.
    pub(in crate::kernel::sched) fn has_no_lanes(&self) -> bool {
        let empty = |remote: &Arc<CachePadded<Remote>>| {
            !remote.inbox.has_some()
                && !remote.has_next()
                && remote.home_queue.is_empty()
                && remote.stealer.is_empty()
        };
        self.injector.is_empty() && self.remotes.iter().all(empty) && self.classes.is_empty()
    }

    /// Whether a worker that is about to park may stop for good: every lane has a request to cancel its
    /// tasks, and all workers have run out of lanes.
    fn may_stop(&self) -> bool {
        if !self.is_cancel_sent() {
            return false;
        }
        let nothing_left = || {
            self.has_no_lanes() && self.remotes.iter().all(|remote| remote.local_tasks.is_empty())
        };
        if !self.has_stopped()
            && self.idle.all_parked_and(nothing_left).is_some()
            && !self.stopped.swap(true, Ordering::SeqCst)
        {
            for worker in 0..self.remotes.len() {
                self.park.unpark(worker);
            }
        }
        // Ordering: pairs with the swap above and with `drain_if_stopped`.
        self.stopped.load(Ordering::SeqCst)
    }

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
        Self::with_memory(&mut WorkerMemory::default(), workers, seed, park, options)
    }

    /// As [`Scheduler::with_options`], in memory of workers that have stopped, as far as there is some.
    ///
    /// # Panics
    ///
    /// As there.
    pub fn with_memory(
        memory: &mut WorkerMemory,
        workers: usize,
        seed: u64,
        park: Box<dyn Park>,
        options: Options,
    ) -> (SchedulerHandle, Vec<Worker>) {
        assert!(workers > 0, "a scheduler has at least one worker");
        let all = workers.saturating_add(options.spares);
        assert!(all < MAX_WORKERS, "a scheduler has fewer than {MAX_WORKERS} workers");
        options.check().unwrap_or_else(|unsuitable| panic!("{unsuitable}"));
        let (deques, remotes): (Vec<_>, Vec<_>) =
            (0..all).map(|_| memory.take(options.trace_bytes)).unzip();
        let steals = options.policy.is_none_or(|policy| policy.steals());
        let slot = SchedulerSlot::new(options.trace_bytes);
        let scheduler = Arc::new(Self {
            table: Table::new(seed),
            common: Common::new(all, if steals { workers } else { usize::MAX }, slot),
            sections: AtomicBool::new(false),
            injector: Injector::new(),
            idle: Idle::new(workers),
            remotes: remotes.into(),
            workers,
            wanted_spares: AtomicUsize::new(0),
            guests: Guests::new(all),
            park,
            shared_blocks: Arc::new(SharedBlocks::new(options.reuse)),
            spare_lanes: shared_lanes(),
            cancel_sent: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            slice_weight: options.slice_weight(),
            slice_nanos: options.slice_nanos,
            policy: options.policy,
            steals,
            classes: Classes::new(all),
            tasks_outside: TaskCounts::default(),
        });
        if scheduler.policy.is_some() {
            scheduler.remotes.iter().for_each(|remote| remote.set_policy_or_classes());
        }
        let handle = SchedulerHandle::new(scheduler);
        let workers = deques
            .into_iter()
            .enumerate()
            .map(|(index, deque)| Worker::new(handle.clone(), index, deque, seed, &options))
            .collect();
        (handle, workers)
    }
}

/// The memory of workers that have stopped, for others: what is large of a worker. A worker has it only if nobody else does,
/// and finds nothing there that was in it.
#[derive(Default)]
pub struct WorkerMemory(Vec<(Deque<ReadyLane>, Arc<CachePadded<Remote>>)>);

impl WorkerMemory {
    /// For how many workers it is.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.0.len()
    }

    /// Adds that of a worker that has [stopped](Step::Stopped).
    pub fn add(&mut self, worker: Worker) {
        self.0.push((worker.local.deque, worker.local.remote));
    }

    /// The queue of a new worker, and the worker as others see it.
    fn take(&mut self, ring_bytes: usize) -> (Deque<ReadyLane>, Arc<CachePadded<Remote>>) {
        let remote = |deque: &Deque<_>| CachePadded::new(Remote::new(deque.stealer(), ring_bytes));
        // A scheduler that is left has the other reference; and a lane that is left in the deque has the scheduler.
        if let Some((deque, mut used)) = self.0.pop()
            && let Some(place) = Arc::get_mut(&mut used)
        {
            *place = remote(&deque);
            return (deque, used);
        }
        let deque = Deque::new();
        let remote = Arc::new(remote(&deque));
        (deque, remote)
    }
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::Rng;

    #[test]
    fn draws_are_below_the_bound_and_equally_frequent() {
        for seed in [0, 1, u64::MAX] {
            let (mut rng, mut drawn) = (Rng::new(seed), [0; 5]);
            (0..5_000).for_each(|_| drawn[rng.below(5)] += 1);
            assert!(drawn.iter().all(|count| (900..1_100).contains(count)), "{drawn:?}");
        }
    }
}
