//! One worker, advanced a step at a time.

mod account;
mod by_class;
mod round;
mod runner;
mod spare;
mod steal_pause;
mod take_home;

use self::account::Account;
use self::round::Round;
use self::runner::{RecordedSlice, SliceRunner};
use self::spare::Next;
use self::steal_pause::StealPause;
use super::local::Local;
use super::options::Options;
use super::pace::Pace;
use super::remote::Remote;
use super::times::Phase;
use super::{Scheduler, SchedulerHandle};
use crate::lane::{POLL_WEIGHT, ReadyLane, Runner, Slice};
use crate::meter::Level;
use crate::probes;
use crate::queue::Deque;
use crate::rng::Rng;
use crate::sync::Ordering;
use crossbeam_utils::CachePadded;

/// The most lanes from the `next` slot in a row, before the deque has its turn: two tasks that wake
/// each other for ever would otherwise starve all others (tokio's cap, after its issue 5712).
const NEXT_STREAK: u8 = 3;

/// How long a worker must have been in one slice before its `next` lane may be stolen.
const LATE_NANOS: u64 = 50_000;

/// How long a worker parks at most while a `next` slot elsewhere is full.
const LATE_PARK_NANOS: u64 = 1_000_000;

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

/// One worker's own half of the scheduler.
///
/// A worker may be sent to the thread that is to step it, and stays there: a future that
/// [`spawn_local`] pins to a worker need not be `Send`.
///
/// [`spawn_local`]: crate::spawn_local
pub struct Worker {
    pub(super) local: Local,
    rng: Rng,
    pace: Pace,
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
            pace: Pace::default(),
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
        self.pace.now
    }

    /// Whether the last [`step`](Self::step) ran nothing: this worker had announced its sleep, and has
    /// found something after that. A thread that saw all workers parked must be told.
    #[must_use]
    pub fn has_turned_back(&self) -> bool {
        self.searching
    }

    /// Looks at the clock.
    pub(super) fn look(&mut self) {
        self.pace.look(self.local.scheduler());
    }

    /// Runs `f` as this worker. `f` makes lanes runnable, for example by handing out `events` I/O
    /// events. Other workers are woken afterwards, and only if there are more lanes than the one that
    /// this worker runs next. If there are many events, each lane goes to the worker that ran it last.
    pub fn batch<R>(&mut self, events: usize, f: impl FnOnce() -> R) -> R {
        debug_assert!(!self.absent, "a spare worker that is absent takes no events");
        self.wake_up();
        self.count_events(events);
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
    pub fn wake_up(&mut self) {
        if self.asleep {
            self.asleep = false;
            self.end_sleep();
            if self.parked {
                self.parked = false;
                self.searching = self.local.scheduler().idle.unpark(self.index());
            }
        }
    }

    fn find(&mut self) -> Option<ReadyLane> {
        self.steps = self.steps.wrapping_add(1);
        if self.local.remote().is_unusual() { self.find_unusual() } else { self.find_plain() }
    }

    #[cold]
    fn find_unusual(&mut self) -> Option<ReadyLane> {
        if self.local.scheduler().common.has_classes() {
            self.find_ranked()
        } else {
            self.find_plain()
        }
    }

    /// Finds a lane while no color has a priority.
    #[inline(always)]
    pub(super) fn find_plain(&mut self) -> Option<ReadyLane> {
        let lane = self.find_here().or_else(|| self.find_elsewhere())?;
        self.set_home(&lane);
        Some(lane)
    }

    /// Prepares to run the lane here.
    #[inline(always)]
    pub(super) fn set_home(&self, lane: &ReadyLane) {
        let (home, scheduler) = (lane.lane().home(), self.local.scheduler());
        if home != Some(self.index()) && !scheduler.is_spare(self.index()) {
            lane.lane().set_home(self.index());
        }
    }

    /// Looks at this worker's lanes, and at the lanes from outside that precede the next round (`worker/round.rs`).
    /// Pinned lanes take turns with the rest.
    #[inline(always)]
    pub(super) fn find_here(&mut self) -> Option<ReadyLane> {
        let remote = self.local.remote();
        if self.steps.is_multiple_of(2) && remote.has_inbox() {
            return remote.take_inbox();
        }
        if self.streak < NEXT_STREAK
            && let Some(lane) = remote.take_next()
        {
            self.streak += 1;
            return Some(lane);
        }
        self.streak = 0;
        let queued = self.take_queued();
        let remote = self.local.remote();
        queued.or_else(|| remote.take_next()).or_else(|| remote.take_inbox())
    }

    #[cold]
    pub(super) fn find_elsewhere(&mut self) -> Option<ReadyLane> {
        let scheduler = self.local.scheduler();
        if !scheduler.steals {
            // The other workers could not take the rest of a batch.
            return scheduler.injector.pop();
        }
        if let Some(lane) = scheduler.injector.steal_batch(&self.local.deque) {
            // A worker that looked while the rest was between the queues has seen it in neither.
            if !self.searching && self.local.deque.len() > 0 {
                scheduler.notify();
            }
            self.round.begin(self.local.deque.len());
            return Some(lane);
        }
        if self.check_pause() {
            return None;
        }
        self.enter(Phase::Search);
        if !self.searching {
            self.searching = self.local.scheduler().idle.start_searching();
        }
        if !self.searching {
            return None;
        }
        let (lane, victim) = self.steal()?;
        self.record_theft();
        self.round.begin(self.local.deque.len());
        self.local.remote().counters.steals.add(1);
        probes::steal(self.index(), victim, lane.lane().color());
        self.record_steal(&lane, victim);
        Some(lane)
    }

    /// Tries every other worker once, from a random one on, and returns which one had the lane. It takes half of a deque; if all deques are
    /// empty, half of a home queue; and only then a `next` lane whose worker is late.
    fn steal(&mut self) -> Option<(ReadyLane, usize)> {
        let others = self.others();
        let scheduler = self.local.scheduler();
        let half = others.clone().find_map(|victim| {
            let remote = &scheduler.remotes[victim];
            let lane = remote.stealer.steal_half(&self.local.deque)?;
            let taken = 1 + self.local.deque.len();
            remote.add_free_turns(taken);
            self.local.remote().set_free_turns(taken);
            Some((lane, victim))
        });
        half.or_else(|| self.steal_from_home(others.clone())).or_else(|| {
            let before = scheduler.park.now().saturating_sub(LATE_NANOS);
            let mut others = others;
            others.find_map(|victim| Some((scheduler.remotes[victim].steal_next(before)?, victim)))
        })
    }

    /// Every other worker once, from a random one on.
    pub(super) fn others(&mut self) -> impl Iterator<Item = usize> + Clone + use<> {
        let (workers, own) = (self.local.scheduler().remotes.len(), self.local.index());
        let start = self.rng.below(workers);
        (0..workers).map(move |i| (start + i) % workers).filter(move |victim| *victim != own)
    }

    /// The last searcher that finds a lane wakes the next one, because there may be more lanes.
    #[inline]
    fn stop_searching(&mut self) {
        if self.searching {
            self.searching = false;
            if self.local.scheduler().idle.stop_searching() {
                self.local.scheduler().notify();
            }
        }
    }

    fn run(&mut self, lane: ReadyLane) {
        let level = self.level();
        if level != Level::Off {
            self.enter(Phase::Run);
        }
        let remote = self.local.remote();
        let (index, color) = (self.local.index(), lane.lane().color());
        probes::slice_begin(index, color);
        remote.begin_slice(self.pace.now, color);
        self.local.note(self.pace.now);
        let mut turn = SliceRunner {
            scheduler: self.local.scheduler(),
            remote,
            pin: self.local.pin(),
            max_nanos: self.slice_nanos,
            polls: 0,
            left: self.slice_weight,
            start: self.pace.now,
            pace: &mut self.pace,
        };
        let local = &self.local;
        let (slice, polls) = if level == Level::Off {
            let slice = local.enter(|| lane.run(&mut turn));
            // The turn that left the lane idle has not asked whether to go on. It counts for the clock too,
            // because many lanes have no other turn.
            if matches!(slice, Slice::Over) {
                turn.count_turn(POLL_WEIGHT);
            }
            (slice, turn.polls)
        } else {
            run_recorded(local, lane, turn, level)
        };
        remote.counters.polls.add(u64::from(polls));
        remote.end_slice();
        probes::slice_end(index, color, polls);
        match slice {
            Slice::Over => {}
            Slice::More(lane) => local.put_back(lane),
            Slice::Elsewhere(lane, 0) => local.requeue(lane),
            Slice::Elsewhere(lane, pin) => local.scheduler().send(pin, lane),
        }
    }

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

/// A function of its own, out of the workers' hot path.
#[cold]
fn run_recorded(
    local: &Local,
    lane: ReadyLane,
    turn: SliceRunner<'_>,
    level: Level,
) -> (Slice, u32) {
    let color = lane.lane().color();
    let mut turn = RecordedSlice::new(turn, local, level, color);
    let slice = local.enter(|| lane.run(&mut turn));
    if matches!(slice, Slice::Over) {
        turn.count_turn(POLL_WEIGHT);
    }
    (slice, turn.end())
}

impl Scheduler {
    /// Whether a worker that is about to park could run a lane. Sequenced after the fence in
    /// `Idle::park`.
    fn has_work_for(&self, worker: usize) -> bool {
        let own = &self.remotes[worker..=worker];
        let takes_from = if self.steals { &self.remotes[..] } else { own };
        // The order matters: lanes go from the home queue to a deque.
        self.classes.has_work_for(worker, self.steals)
            || own[0].has_inbox()
            || !self.injector.is_empty()
            || takes_from.iter().any(|remote| !remote.home_queue.is_empty())
            || takes_from.iter().any(|remote| !remote.stealer.is_empty())
    }

    /// Whether no lane is in a queue of the workers.
    pub(super) fn has_no_lanes(&self) -> bool {
        let empty = |remote: &CachePadded<Remote>| {
            !remote.has_inbox()
                && !remote.has_next()
                && remote.home_queue.is_empty()
                && remote.stealer.is_empty()
        };
        self.injector.is_empty() && self.remotes.iter().all(empty) && self.classes.is_empty()
    }

    /// Whether a worker that is about to park may stop for good: every lane has a request to cancel its
    /// tasks, and all workers have run out of lanes.
    fn may_stop(&self) -> bool {
        if !self.is_told() {
            return false;
        }
        let nothing_left = || {
            self.has_no_lanes() && self.remotes.iter().all(|remote| remote.local_tasks.is_empty())
        };
        if self.idle.all_parked_and(nothing_left).is_some()
            && !self.stopped.swap(true, Ordering::SeqCst)
        {
            for worker in 0..self.remotes.len() {
                self.park.unpark(worker);
            }
        }
        // Ordering: pairs with the swap above and with `drain_if_stopped`.
        self.stopped.load(Ordering::SeqCst)
    }
}
