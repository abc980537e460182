//! A paused clock, and who moves it.
//!
//! While the clock is paused, the worker that parks last moves it to the next timer, if the runtime is *at rest*: the
//! worker finds, under the lock of [`Pause`] and in this order, that
//!
//! 1. all workers are parked, no lane is queued, and no thread inside `block_on` runs a task ([`Scheduler::rest`]);
//! 2. no blocking call is queued or runs, and no read of a file is under way in the background, except while an
//!    [`advance`](crate::time::advance) waits;
//! 3. it has the turns of all shards, and no socket has an event;
//! 4. no other thread has events or timers in hand, which it has taken from a shard or a wheel, and has not woken tasks
//!    for;
//! 5. the rest of step 1 has lasted until now.
//!
//! So no task has run between steps 1 and 5, and no call. Otherwise a task or call could have sent to a socket after step
//! 3, and been over in step 5. What was sent before step 1 is seen in step 3, or another thread has taken it before. A
//! thread that takes events marks them as in hand before it gives up the turn, and takes the mark back when it has woken
//! all tasks: so what is not seen in step 3 is seen in step 4 or 5. What ends in step 2 has woken its tasks.
//!
//! **Why the worker that parks last is enough.** A worker announces its sleep in the scheduler before it looks here, so
//! one of those that go to sleep sees that all do. Unlike otherwise, a worker sleeps inside a poll only if it has found
//! the others parked; the rest sleep on their condition variables. So a worker that finds a turn taken wakes the one that
//! sleeps there, which comes here after it. The threads that are no workers tell a worker to look: the reactor thread,
//! which looks at each tick whether it must, for calls that have ended; and a thread inside `block_on`, when it goes to
//! sleep.
//!
//! Time moves only while a main future runs: otherwise it would run away between the end of a test and the end of its
//! runtime.

mod advance;

pub(crate) use self::advance::Advance;

use self::advance::Advances;
use super::reactor::PollTurn;
use super::{Driver, clock::TICK, polled};
use colored_core::Scheduler;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

/// What a driver knows about its paused clock.
#[derive(Debug, Default)]
pub(crate) struct Pause {
    /// The thread that has this lock may move the clock.
    advances: Mutex<Advances>,
    /// How many main futures run.
    mains: AtomicUsize,
    /// A call that was under way has kept time from moving, and may end without a wake-up.
    check_again: AtomicBool,
}

/// What a worker that parks has found.
enum Found<'a> {
    /// Wakers to call.
    Work,
    /// Nothing to do but to wait for events, with the turn of this worker's shard.
    Rest(PollTurn<'a>),
    /// Another worker is awake, or comes here after this one.
    Others,
}

/// A main future that runs. Time may move until this is dropped.
#[derive(Debug)]
pub(crate) struct Main(Arc<Driver>);

impl Main {
    /// To be called in the main future's first poll: before, time could move ahead of it.
    pub(crate) fn begin(driver: &Arc<Driver>) -> Main {
        // Ordering: begun in a poll, and the worker that looks afterwards finds the poll ended.
        driver.pause.mains.fetch_add(1, Ordering::Relaxed);
        Main(Arc::clone(driver))
    }
}

impl Drop for Main {
    fn drop(&mut self) {
        // Ordering: dropped in a poll, and the worker that looks afterwards finds the poll ended.
        self.0.pause.mains.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Driver {
    /// Stops the clock. False if it was stopped.
    pub(crate) fn pause(&self) -> bool {
        let paused = self.clock.pause();
        if paused {
            self.wake_workers();
        }
        paused
    }

    /// Lets the clock move by itself again. False if it did.
    pub(crate) fn resume(&self) -> bool {
        let resumed = self.clock.resume();
        if resumed {
            let wakers = self.pause.lock().take_wakers(u64::MAX);
            wakers.into_iter().for_each(Waker::wake);
            self.wake_workers();
        }
        resumed
    }

    /// All workers, which may sleep until a time that comes no more, come and park anew.
    fn wake_workers(&self) {
        (0..self.timers.wheels()).for_each(|worker| self.unpark(worker));
        self.check_timer.check_soon();
    }

    /// As [`park`](Driver::park), while the clock is paused. `has_calls` tells of step 2 whether a blocking call is queued
    /// or runs.
    pub(crate) fn park_paused(
        &self,
        scheduler: &Scheduler,
        has_calls: impl FnOnce() -> bool,
        worker: usize,
        limit: Option<Duration>,
        wakers: &mut Vec<Waker>,
    ) {
        match self.find(scheduler, has_calls, worker, wakers) {
            Found::Work => {}
            Found::Rest(turn) => self.parkers.of_worker(worker).poll(turn, limit, None, wakers),
            Found::Others => self.parkers.of_worker(worker).wait(limit),
        }
    }

    /// As [`park_paused`](Driver::park_paused), without sleep. True if there are wakers to call.
    pub(crate) fn move_paused(
        &self,
        scheduler: &Scheduler,
        has_calls: impl FnOnce() -> bool,
        worker: usize,
        wakers: &mut Vec<Waker>,
    ) -> bool {
        matches!(self.find(scheduler, has_calls, worker, wakers), Found::Work)
    }

    /// The next time at which something is due, in nanoseconds of the clock.
    #[cfg(feature = "sim")]
    pub(crate) fn next_due(&self) -> Option<u64> {
        self.next_time(&self.pause.lock())
    }

    /// Moves the paused clock, and takes what is due then, as this worker: each waker with the worker whose timer it is. The
    /// caller knows that the runtime is at rest: all its workers are on this thread.
    #[cfg(feature = "sim")]
    pub(crate) fn move_clock(&self, to: u64, worker: usize) -> Vec<(usize, Waker)> {
        let mut advances = self.pause.lock();
        self.clock.set(to);
        let (mut due, mut wakers) = (Vec::new(), Vec::new());
        let now = self.clock.now_tick();
        for wheel in 0..self.timers.wheels() {
            self.timers.advance(wheel, now, &mut wakers, worker == wheel);
            // No `drain`, which costs more than the rest where nothing is due.
            due.extend(std::mem::take(&mut wakers).into_iter().map(|waker| (wheel, waker)));
        }
        // As in `find`, they come last.
        if due.is_empty() {
            let wakers = advances.take_wakers(self.clock.shown());
            due.extend(wakers.into_iter().map(|waker| (worker, waker)));
        }
        due
    }

    fn find(
        &self,
        scheduler: &Scheduler,
        has_calls: impl FnOnce() -> bool,
        worker: usize,
        wakers: &mut Vec<Waker>,
    ) -> Found<'_> {
        if let Some(mut turn) = self.shards.of_worker(worker).try_turn() {
            self.poll_now(worker, &mut turn, wakers);
        }
        self.parkers.of_worker(worker).begin_events();
        self.advance(worker, self.timers.index_of(worker), wakers);
        if !wakers.is_empty() {
            return Found::Work;
        }
        self.parkers.of_worker(worker).finish_events();
        let mut advances = self.pause.lock();
        if !scheduler.all_parked() {
            return Found::Others;
        }
        // Where a worker has turned back or a guest runs, one of them looks again.
        let rest = scheduler.rest();
        let may_move = rest.is_some() && self.may_move(&advances, has_calls);
        let mut turns = Vec::with_capacity(self.shards.len());
        for shard in self.shards.iter() {
            let Some(mut turn) = shard.try_turn() else {
                shard.wake();
                self.check_again_if(self.parkers.reactor_has_events());
                // Events of the shards before this one are this worker's to hand out.
                return if wakers.is_empty() { Found::Others } else { Found::Work };
            };
            self.poll_now(worker, &mut turn, wakers);
            turns.push(turn);
        }
        // What was due before the clock was paused.
        self.fire_all(worker, wakers);
        // The next time last: a thread inside `block_on` may have set a timer until it was at rest.
        if wakers.is_empty()
            && may_move
            && !self.others_have_events(worker)
            && scheduler.rest() == rest
            && let Some(next) = self.next_time(&advances)
        {
            self.clock.set(next);
            self.fire_all(worker, wakers);
            // Those who wait for the clock come last, when the tasks of the timers have run.
            if wakers.is_empty() {
                wakers.extend(advances.take_wakers(self.clock.shown()));
            }
        }
        if wakers.is_empty() {
            return Found::Rest(turns.swap_remove(self.shards.index_of(worker)));
        }
        // Before the lock is released: the next worker that looks must not find this one parked with nothing in hand.
        self.parkers.of_worker(worker).begin_events();
        Found::Work
    }

    fn poll_now(&self, worker: usize, turn: &mut PollTurn<'_>, wakers: &mut Vec<Waker>) {
        polled(turn.poll_all(wakers));
        if !wakers.is_empty() {
            self.parkers.of_worker(worker).begin_events();
        }
    }

    /// Takes all timers that are due, wheel by wheel.
    fn fire_all(&self, worker: usize, wakers: &mut Vec<Waker>) {
        (0..self.timers.wheels()).for_each(|wheel| {
            self.advance(worker, wheel, wakers);
        });
    }

    /// The next time at which something is due, in nanoseconds.
    fn next_time(&self, advances: &Advances) -> Option<u64> {
        let timer = self.timers.first().map(|tick| tick.saturating_mul(TICK));
        timer.into_iter().chain(advances.first()).min()
    }

    /// Whether time may move once the tasks and sockets are at rest.
    fn may_move(&self, advances: &Advances, has_calls: impl FnOnce() -> bool) -> bool {
        if advances.first().is_some() {
            return true;
        }
        // Ordering: see `Main`.
        if self.pause.mains.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let held = has_calls() || self.shards.has_reads();
        self.check_again_if(held);
        !held
    }

    /// Whether another thread has events or timers in hand. A worker among them comes here after this one.
    fn others_have_events(&self, worker: usize) -> bool {
        let held = self.parkers.reactor_has_events();
        self.check_again_if(held);
        held || self.parkers.others_have_events(worker)
    }

    fn check_again_if(&self, held: bool) {
        if held {
            // Ordering: a hint for the next tick of the reactor thread, which does not sleep while the clock is paused.
            self.pause.check_again.store(true, Ordering::Relaxed);
        }
    }

    /// Makes a worker check the pause again if it must. To be called by the reactor thread at each tick. True if it must
    /// not sleep.
    pub(crate) fn check_pause(&self) -> bool {
        if !self.clock.is_paused() {
            return false;
        }
        // Ordering: see `check_again_if`.
        if self.pause.check_again.swap(false, Ordering::Relaxed) {
            self.unpark(0);
        }
        true
    }

    /// Makes a worker check the pause again: a thread inside `block_on` is about to sleep.
    pub(crate) fn wake_for_waiting_guest(&self) {
        if self.clock.is_paused() {
            self.unpark(0);
        }
    }
}

impl Pause {
    fn lock(&self) -> MutexGuard<'_, Advances> {
        // No code of others runs under the lock.
        self.advances.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
