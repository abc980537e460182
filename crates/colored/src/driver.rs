//! The driver: everything that wakes tasks from outside, and how workers sleep on it.
//!
//! | part | what it is |
//! |---|---|
//! | [`Clock`] | the time of the runtime, which may be paused |
//! | [`Shards`] | the reactor: some selectors, with the sockets that are registered there, and io_uring for files |
//! | [`Timers`] | one wheel for each worker that stays |
//! | [`Parkers`] | where each worker sleeps |
//! | [`CheckTimer`] | when the reactor thread checks all of these |
//!
//! A worker with nothing to run takes the turn of its shard and sleeps inside the poll. If another worker has the turn, it
//! sleeps on a condition variable ([`park`]). It wakes up in time for its timers, though not for each of many
//! ([`coalesce`]). A busy worker polls without blocking now and then. The reactor thread does both for workers that are
//! stuck.
//!
//! # The seam to the system
//!
//! A simulation puts a [`Machine`](simulated::Machine) in place of the real system, and nothing else of the runtime knows of
//! it:
//!
//! | of the system | the file that asks for it | of a machine |
//! |---|---|---|
//! | time | `wall.rs`; all else asks the [`Clock`] or that file | the clock [stands](Clock::standing), and is [moved](Driver::move_clock) |
//! | sockets and names | [`reactor`]: a [`Shard`](reactor::Shard) is one selector, and its alarm and waker; `net/system.rs` | a shard without a selector; `net/system.rs` asks where it opens one |
//! | files | `fs/system.rs`, and [`ring`] for reads in the background | `fs/files.rs`, `fs/open.rs` |
//! | sleep of a thread | [`park`] for workers, [`CheckTimer`] for the reactor thread, `block_on.rs` for others | none |
//! | threads | `thread_settings.rs`; the helpers that make dumps, and tokio's, start by themselves | none: `runtime/simulated.rs` is stepped |
//! | random numbers, ids | `chance.rs`; [`colored_core::port::SimulatedIds`] | drawn by the simulation |
//!
//! The driver knows no thread: the caller of a function says which worker it is. The [services](crate::services) of a
//! runtime are a driver, and what its threads share beside it.

pub(crate) mod check_timer;
pub(crate) mod clock;
mod coalesce;
#[cfg(unix)]
pub(crate) mod descriptor;
mod fired;
pub(crate) mod outside;
pub(crate) mod park;
mod parkers;
pub(crate) mod pause;
pub(crate) mod reactor;
pub(crate) mod ring;
pub(crate) mod shards;
pub(crate) mod simulated;
mod timers;
pub(crate) mod wheel;

use self::check_timer::CheckTimer;
use self::clock::Clock;
use self::parkers::Parkers;
use self::pause::Pause;
#[cfg(test)]
use self::reactor::Shard;
use self::shards::Shards;
use self::timers::Timers;
use colored_core::contain;
use std::fmt;
use std::io;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::task::Waker;
use std::time::Duration;

/// The parts of the [module](self).
pub(crate) struct Driver {
    pub(crate) clock: Clock,
    pause: Pause,
    pub(crate) shards: Shards,
    pub(crate) timers: Timers,
    pub(crate) parkers: Parkers,
    pub(crate) check_timer: CheckTimer,
}

/// How a driver is made.
pub(crate) struct Settings {
    /// The workers that stay.
    pub(crate) workers: usize,
    /// All workers, with the spare ones.
    pub(crate) seats: usize,
    /// A worker wakes up for timers at most once in this time.
    pub(crate) timer_rest: Duration,
    /// Whether a thread checks the runtime.
    pub(crate) is_checked: bool,
}

// Callbacks of the user are called inside `catch_unwind`, and all other state stays whole when a thread panics: so a
// socket may be used after a panic.
impl UnwindSafe for Driver {}
impl RefUnwindSafe for Driver {}

impl Driver {
    /// # Errors
    ///
    /// When the system refuses a descriptor.
    pub(crate) fn new(clock: Clock, shards: Shards, settings: &Settings) -> io::Result<Driver> {
        Ok(Driver {
            clock,
            pause: Pause::default(),
            shards,
            timers: Timers::new(settings.workers, settings.timer_rest),
            parkers: Parkers::new(settings.seats),
            check_timer: if settings.is_checked {
                CheckTimer::new()?
            } else {
                CheckTimer::unused()
            },
        })
    }

    /// Wakes the worker of a wheel. To be called by a foreign thread that has put a timer there which is earlier than all
    /// others: the worker may sleep for too long.
    pub(crate) fn wake_for_earlier_timer(&self, wheel: usize) {
        self.unpark(wheel);
    }

    /// Makes the worker's current or next park return at once.
    pub(crate) fn unpark(&self, worker: usize) {
        self.parkers.unpark(worker, self.shards.of_worker(worker));
    }

    /// Sleeps until this worker is unparked, one of its sockets or timers has an event, or `limit` is over. Appends the
    /// wakers to call.
    pub(crate) fn park(&self, worker: usize, limit: Option<Duration>, wakers: &mut Vec<Waker>) {
        let (parker, wheel) = (&self.parkers.of_worker(worker), self.timers.index_of(worker));
        let end = self.timers.end_of_sleep(wheel);
        let deadline = end.and_then(|tick| self.clock.system_at(tick));
        parker.park(self.shards.of_worker(worker), limit, deadline, wakers);
        if end.is_some() {
            parker.begin_events();
            let others = wakers.len();
            let now = self.advance(worker, wheel, wakers);
            if wakers.len() > others {
                self.timers.note_wake_up(wheel, now);
            }
        }
    }

    /// Notes that a worker that has parked has called the wakers. To be called by it.
    pub(crate) fn finish_events(&self, worker: usize) {
        self.parkers.of_worker(worker).finish_events();
    }

    /// Sleeps until the worker is unparked, without polling a shard or a wheel. To be called by a spare worker that has left.
    pub(crate) fn sleep(&self, worker: usize) {
        // It may have slept inside the poll of its shard, and the workers of the shard elsewhere. One of them comes
        // back, finds the turn free, and sleeps inside the poll. If it is in a long poll of a task, the reactor thread
        // is awake, and calls another one.
        self.unpark(self.shards.index_of(worker));
        self.parkers.of_worker(worker).wait(None);
    }

    /// Polls for events and due timers without sleeping. Appends the wakers to call.
    pub(crate) fn poll_events(&self, worker: usize, wakers: &mut Vec<Waker>) {
        if let Some(mut turn) = self.shards.of_worker(worker).try_turn() {
            polled(turn.poll(Some(Duration::ZERO), wakers));
        }
        self.advance(worker, self.timers.index_of(worker), wakers);
    }

    /// Fires the due timers of a wheel, as this worker. Appends the wakers, and returns the present tick.
    fn advance(&self, worker: usize, wheel: usize, wakers: &mut Vec<Waker>) -> u64 {
        let now = self.clock.now_tick();
        self.timers.advance(wheel, now, wakers, worker == wheel);
        now
    }

    /// Lets every socket and timer fail from now on, and wakes all that wait for one.
    pub(crate) fn shut_down(&self) {
        let mut wakers = Vec::new();
        self.shards.shut_down(&mut wakers);
        self.timers.shut_down(&mut wakers);
        self.shards.end_reads();
        wakers.into_iter().for_each(|waker| contain(|| waker.wake()));
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").field("workers", &self.timers.wheels()).finish_non_exhaustive()
    }
}

/// No error is known from a selector in good order; going on without it would lose every event.
pub(crate) fn polled<T>(result: io::Result<T>) -> T {
    result.unwrap_or_else(|error| panic!("the system's selector failed: {error}"))
}

#[cfg(test)]
impl Driver {
    /// A driver for timers on a clock of the test's own.
    pub(crate) fn with_clock(clock: Clock, workers: usize) -> Driver {
        let shards = Shards::new(1, false).expect("the system has a selector");
        let settings = Settings { timer_rest: Duration::from_millis(1), ..Settings::of(workers) };
        Self::new(clock, shards, &settings).expect("the system has a descriptor")
    }

    /// A driver with this shard, for sockets whose events the test fetches itself.
    pub(crate) fn with_shard(shard: Shard) -> Driver {
        let shards = Shards::of(Box::new([shard]), true);
        Self::new(Clock::new(), shards, &Settings::of(1)).expect("the system has a descriptor")
    }

    /// Whether the worker has been unparked since the last call.
    pub(crate) fn take_token(&self, worker: usize) -> bool {
        self.parkers.of_worker(worker).take_token()
    }
}

#[cfg(test)]
impl Settings {
    fn of(workers: usize) -> Settings {
        Settings { workers, seats: workers, timer_rest: Duration::ZERO, is_checked: true }
    }
}
