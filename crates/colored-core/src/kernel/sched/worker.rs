//! One worker, advanced a step at a time.

mod find;
mod round;
pub(crate) mod runner;
mod sleep;
mod spare;
mod steal_pause;

use self::round::Round;
use self::runner::SliceRunner;
use self::steal_pause::StealPause;
use super::SchedulerHandle;
use super::coarse_clock::CoarseClock;
use super::local::Local;
use super::options::Options;
use crate::hooks::workers::{self as hooks, Account};
use crate::kernel::lane::{POLL_WEIGHT, ReadyLane, Runner, Slice};
use crate::kernel::queue::Deque;
use crate::kernel::rng::Rng;

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
    pub(super) steps: u32,
    slice_weight: i64,
    slice_nanos: u64,
    streak: u8,
    round: Round,
    /// The step and the time at which lanes behind the others last moved to the deque
    /// (`home_queue.rs`).
    pub(super) behind_moved: (u32, u64),
    pub(super) searching: bool,
    parked: bool,
    /// The last step told the thread to sleep.
    asleep: bool,
    steal_pause: StealPause,
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

    /// When this worker last looked at the clock: nanoseconds of [`Park::now`](super::Park::now),
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
        self.account.begin_sleep(&mut self.clock, &self.local);
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
        self.account.count_events(events, &mut self.clock, &self.local);
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
        if self.local.scheduler().is_spare(self.index())
            && let Next::Return(step) = self.join_or_leave()
        {
            return step;
        }
        self.wake_up();
        match self.find() {
            Some(lane) => {
                self.stop_searching();
                self.local.runs.set(true);
                self.run(lane);
                self.local.runs.set(false);
                Step::Ran
            }
            None => self.go_to_sleep(),
        }
    }

    /// Leaves the parked workers, so that no thread wakes this worker in place of one that sleeps. A
    /// [`step`](Self::step) and a [`batch`](Self::batch) begin with it.
    #[inline]
    pub fn wake_up(&mut self) {
        if self.asleep {
            self.asleep = false;
            self.account.end_sleep(&mut self.clock, &self.local);
            if self.parked {
                self.parked = false;
                self.searching = self.local.scheduler().idle.unpark(self.index());
            }
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
