//! The driver: everything that wakes tasks from outside, and how workers sleep on it.
//!
//! k reactor shards and one timer wheel a worker. A worker with nothing to run takes the turn of its shard and sleeps
//! inside the poll; if another worker has the turn it sleeps on a condition variable ([`park`]). It wakes up in time
//! for its timers, though not for each of many ([`coalesce`]). A busy worker looks without blocking now and then. The
//! [`monitor`] thread does both for workers that are stuck.

pub(crate) mod clock;
mod coalesce;
pub(crate) mod current;
#[cfg(unix)]
pub(crate) mod descriptor;
pub(crate) mod entered;
mod fired;
pub(crate) mod monitor;
pub(crate) mod observer;
pub(crate) mod outside;
pub(crate) mod park;
pub(crate) mod pause;
pub(crate) mod reactor;
pub(crate) mod registration;
pub(crate) mod ring;
pub(crate) mod size;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod wheel;
pub(crate) mod wheel_timer;

use self::clock::{Clock, TICK};
use self::coalesce::Coalescing;
use self::fired::Fired;
use self::observer::{Observer, Unobserved};
use self::park::Parker;
use self::pause::Pause;
use self::reactor::Shard;
use self::ring::Ring;
use self::size::Size;
use self::wheel::Wheel;
use crate::device::Devices;
use crate::drain::Finishers;
use crate::long_poll::LongPolls;
use crate::pool::Pool;
#[cfg(feature = "tokio-context")]
use crate::tokio_context::TokioContext;
use crate::wall;
use colored_core::contain;
use std::fmt;
use std::io;
use std::panic::{RefUnwindSafe, UnwindSafe};
#[cfg(feature = "tokio-context")]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::Waker;
use std::time::{Duration, Instant};

/// How many workers share a shard.
///
/// With one poller a shard, a batch of events is as large as it can be, and few workers sleep in
/// system calls. A hello-world server on 2 workers and 64 connections: 4.8 µs of CPU a request with
/// one shard, 5.9 with one for each worker; with 512 connections, 5.6 and 5.6.
const WORKERS_PER_SHARD: usize = 8;

/// Ticks, 1 ms, by which a worker that is well may be late for its timers, beside its rest.
const OVERDUE: u64 = 1_000_000 / TICK;

/// The parts of a runtime that sockets, timers, blocking calls and stages use.
pub(crate) struct Driver {
    pub(crate) clock: Clock,
    pause: Pause,
    pub(crate) shards: Box<[Shard]>,
    /// One for each shard.
    rings: Box<[Ring]>,
    pub(crate) wheels: Box<[Wheel]>,
    pub(crate) pool: Pool,
    pub(crate) devices: Devices,
    pub(crate) check_timer: monitor::CheckTimer,
    pub(crate) size: Size,
    /// How long a wait in a section lasts before it is looked at.
    pub(crate) deadlock_after: Duration,
    pub(crate) long_polls: LongPolls,
    pub(crate) observer: Box<dyn Observer>,
    pub(crate) finishers: Finishers,
    #[cfg(feature = "tokio-context")]
    tokio: OnceLock<TokioContext>,
    /// The places where the workers sleep, and the spare ones behind them.
    parkers: Box<[Parker]>,
    coalescing: Box<[Coalescing]>,
    /// By wheel.
    fired: Box<[Fired]>,
    /// How often a worker was told to wake up.
    wakes: AtomicU64,
    /// The monitor thread has taken events or timers, and has not woken all their tasks yet.
    reactor_events: AtomicBool,
    /// Ticks after which a timer that has not fired shows that its worker is stuck.
    overdue: u64,
    turn: AtomicUsize,
}

// Callbacks of the user are called inside `catch_unwind`, and all other state stays whole when a thread panics: so a
// socket may be used after a panic.
impl UnwindSafe for Driver {}
impl RefUnwindSafe for Driver {}

impl Driver {
    /// A driver for so many workers, which wake up for timers at most once in `rest`.
    ///
    /// # Errors
    ///
    /// When the system refuses a selector.
    pub(crate) fn new(
        size: Size,
        rest: Duration,
        deadlock_after: Duration,
        long_poll_after: Duration,
        devices: Devices,
        pool: Pool,
        observer: Box<dyn Observer>,
    ) -> io::Result<Driver> {
        let workers = size.workers();
        let shards = workers.div_ceil(WORKERS_PER_SHARD);
        let shards = (0..shards).map(|_| Shard::new()).collect::<io::Result<Box<[_]>>>()?;
        let rings = (0..shards.len()).map(|_| Ring::new(devices.has_rings())).collect();
        Ok(Self {
            rings,
            deadlock_after,
            long_polls: LongPolls::new(long_poll_after),
            devices,
            parkers: (0..workers + size.seats()).map(|_| Parker::default()).collect(),
            size,
            observer,
            ..Self::with(Clock::new(), shards, workers, rest, pool, monitor::CheckTimer::new()?)
        })
    }

    fn with(
        clock: Clock,
        shards: Box<[Shard]>,
        workers: usize,
        rest: Duration,
        pool: Pool,
        check_timer: monitor::CheckTimer,
    ) -> Driver {
        let rest = rest.as_nanos() as u64 / TICK;
        Driver {
            clock,
            pause: Pause::default(),
            reactor_events: AtomicBool::new(false),
            rings: shards.iter().map(|_| Ring::new(true)).collect(),
            shards,
            wheels: (0..workers).map(|_| Wheel::new()).collect(),
            pool,
            devices: Devices::new(true, true),
            check_timer,
            size: Size::new(workers, workers, 0),
            deadlock_after: Duration::ZERO,
            long_polls: LongPolls::new(Duration::MAX),
            observer: Box::new(Unobserved),
            finishers: Finishers::default(),
            #[cfg(feature = "tokio-context")]
            tokio: OnceLock::new(),
            parkers: (0..workers).map(|_| Parker::default()).collect(),
            coalescing: (0..workers).map(|_| Coalescing::new(rest)).collect(),
            fired: (0..workers).map(|_| Fired::default()).collect(),
            wakes: AtomicU64::new(0),
            overdue: rest + OVERDUE,
            turn: AtomicUsize::new(0),
        }
    }

    /// Gives the driver a tokio runtime for libraries, before any thread asks for it.
    #[cfg(feature = "tokio-context")]
    pub(crate) fn set_tokio(&self, tokio: TokioContext) {
        let is_first = self.tokio.set(tokio).is_ok();
        debug_assert!(is_first, "a driver has one tokio runtime");
    }

    /// Lets this thread be in the tokio runtime, if there is one, until the guard is dropped.
    #[cfg(feature = "tokio-context")]
    pub(crate) fn enter_tokio(&self) -> Option<tokio::runtime::EnterGuard<'_>> {
        self.tokio.get().and_then(TokioContext::enter)
    }

    #[cfg(not(feature = "tokio-context"))]
    #[expect(clippy::unused_self, reason = "as with the feature")]
    pub(crate) fn enter_tokio(&self) -> Option<()> {
        None
    }

    /// The shard for the sockets that this worker opens; other threads take turns.
    pub(crate) fn shard_of(&self, worker: Option<usize>) -> usize {
        worker.unwrap_or_else(|| self.next()) % self.shards.len()
    }

    /// Begins a read of a file that the system does in the background, for this worker.
    ///
    /// # Errors
    ///
    /// The read, if a thread has to do it.
    pub(crate) fn read(&self, worker: Option<usize>, read: ring::Read) -> Result<(), ring::Read> {
        let shard = self.shard_of(worker);
        self.rings[shard].read(&self.shards[shard], read)
    }

    /// The wheel for the timers of this worker; other threads take turns.
    pub(crate) fn wheel_of(&self, worker: Option<usize>) -> usize {
        worker.unwrap_or_else(|| self.next() % self.wheels.len())
    }

    fn next(&self) -> usize {
        // Ordering: only spreads the load.
        self.turn.fetch_add(1, Ordering::Relaxed)
    }

    /// Wakes the worker of a wheel. To be called by a foreign thread that has put a timer there which is earlier than all
    /// others: the worker may sleep for too long.
    pub(crate) fn wake_for_earlier_timer(&self, wheel: usize) {
        self.unpark(wheel);
    }

    /// Makes the worker's current or next park return at once.
    pub(crate) fn unpark(&self, worker: usize) {
        if self.parkers[worker].unpark(&self.shards[worker % self.shards.len()]) {
            // Ordering: a figure.
            self.wakes.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Sleeps until this worker is unparked, one of its sockets or timers has an event, or `limit` is over. Appends the
    /// wakers to call.
    pub(crate) fn park(&self, worker: usize, limit: Option<Duration>, wakers: &mut Vec<Waker>) {
        wheel_timer::drop_last();
        // A spare worker advances the wheel of a worker that may be stuck.
        let of_wheel = worker % self.wheels.len();
        let tick = self.wheels[of_wheel].next_deadline();
        let end = || self.clock.system_at(self.coalescing[of_wheel].end(tick));
        let deadline = if tick == u64::MAX { None } else { end() };
        let shard = &self.shards[worker % self.shards.len()];
        self.parkers[worker].park(shard, limit, deadline, wakers);
        if tick != u64::MAX {
            self.parkers[worker].begin_events();
            let others = wakers.len();
            let now = self.advance(of_wheel, wakers);
            if wakers.len() > others {
                self.coalescing[of_wheel].note_wake_up(now);
            }
        }
    }

    /// Notes that a worker that has parked has called the wakers. To be called by it.
    pub(crate) fn finish_events(&self, worker: usize) {
        self.parkers[worker].finish_events();
    }

    /// Whether the monitor thread has taken events or timers, and not woken all their tasks.
    fn reactor_has_events(&self) -> bool {
        // Ordering: as for the workers.
        self.reactor_events.load(Ordering::Acquire)
    }

    /// Sleeps until the worker is unparked, without polling a shard or a wheel. To be called by a spare worker that has left.
    pub(crate) fn sleep(&self, worker: usize) {
        wheel_timer::drop_last();
        // It may have slept inside the poll of its shard, and the workers of the shard elsewhere. One of them comes
        // back, finds the turn free, and sleeps inside the poll. If it is in a long poll of a task, the monitor thread
        // is awake, and calls another one.
        self.unpark(worker % self.shards.len());
        self.parkers[worker].wait(None);
    }

    /// Polls for events and due timers without sleeping. Appends the wakers to call.
    pub(crate) fn poll_events(&self, worker: usize, wakers: &mut Vec<Waker>) {
        wheel_timer::drop_last();
        if let Some(mut turn) = self.shards[worker % self.shards.len()].try_turn() {
            polled(turn.poll(Some(Duration::ZERO), wakers));
        }
        self.advance(worker % self.wheels.len(), wakers);
    }

    /// Gives the tick that it is.
    fn advance(&self, worker: usize, wakers: &mut Vec<Waker>) -> u64 {
        let now = self.clock.now_tick();
        let is_due = self.wheels[worker].next_deadline() <= now;
        let (start, others) = (is_due.then(wall::now), wakers.len());
        while self.wheels[worker].advance(now, wakers) {}
        if let Some(start) = start
            && wakers.len() > others
        {
            let nanos = u64::try_from(wall::since(start).as_nanos()).unwrap_or(u64::MAX);
            let is_own = current::worker_of(self) == Some(worker);
            self.fired[worker].add((wakers.len() - others) as u64, is_own.then_some(nanos));
        }
        now
    }

    /// To be called by a worker: how many timers it has fired since the last call, and the nanoseconds that this took.
    pub(crate) fn take_fired(&self, worker: usize) -> Option<(u32, u64)> {
        self.fired.get(worker)?.take()
    }

    /// How many timers are set, how many have fired, and in how many turns.
    pub(crate) fn timers(&self) -> (u64, u64, u64) {
        let sums = self.fired.iter().map(Fired::sums);
        let (fired, turns) = sums.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
        let pending = self.wheels.iter().map(|wheel| wheel.len() as u64).sum();
        (pending, fired, turns)
    }

    /// How often a worker that slept was woken by another thread.
    pub(crate) fn wakes(&self) -> u64 {
        // Ordering: a figure.
        self.wakes.load(Ordering::Relaxed)
    }

    /// Ends the tokio runtime that was made for libraries, if there is one, and waits for its threads until `deadline`.
    #[cfg(feature = "tokio-context")]
    pub(crate) fn shut_down_tokio(&self, deadline: Option<Instant>) {
        if let Some(tokio) = self.tokio.get() {
            tokio.shut_down(deadline);
        }
    }

    #[cfg(not(feature = "tokio-context"))]
    #[expect(clippy::unused_self, reason = "as with the feature")]
    pub(crate) fn shut_down_tokio(&self, _: Option<Instant>) {}

    /// Lets every socket and timer fail from now on, and wakes all that wait for one.
    pub(crate) fn shut_down(&self) {
        let mut wakers = Vec::new();
        self.shards.iter().for_each(|shard| shard.shut_down(&mut wakers));
        self.wheels.iter().for_each(|wheel| wakers.extend(wheel.close()));
        self.rings.iter().for_each(Ring::shut_down);
        wakers.into_iter().for_each(|waker| contain(|| waker.wake()));
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").field("workers", &self.wheels.len()).finish_non_exhaustive()
    }
}

/// No error is known from a selector in good order; going on without it would lose every event.
fn polled<T>(result: io::Result<T>) -> T {
    result.unwrap_or_else(|error| panic!("the system's selector failed: {error}"))
}

#[cfg(test)]
impl Driver {
    /// A driver for timers on a clock of the test's own.
    pub(crate) fn with_clock(clock: Clock, workers: usize) -> Driver {
        let shards = Box::new([Shard::new().expect("the system has a selector")]);
        let pool = Pool::new(&crate::pool::Limits::default());
        let check_timer = monitor::CheckTimer::new().expect("the system has a descriptor");
        Self::with(clock, shards, workers, Duration::from_millis(1), pool, check_timer)
    }

    /// A driver with these shards, for sockets whose events the test fetches itself.
    pub(crate) fn with_shards(shards: Box<[Shard]>) -> Driver {
        let pool = Pool::new(&crate::pool::Limits::default());
        let check_timer = monitor::CheckTimer::new().expect("the system has a descriptor");
        Self::with(Clock::new(), shards, 1, Duration::ZERO, pool, check_timer)
    }

    /// Whether the worker has been unparked since the last call.
    pub(crate) fn take_token(&self, worker: usize) -> bool {
        self.parkers[worker].take_token()
    }
}
