//! The reactor thread: it sees that no stuck worker delays I/O or timers (G10), and that no lane waits behind a stuck
//! worker (G6).
//!
//! It checks every shard, wheel and worker once a tick:
//!
//! * a shard that no thread has polled since the last check gets a parked worker, or, if there is none, is polled right
//!   here;
//! * a wheel that is overdue is advanced here;
//! * if a worker has been inside one slice since the last check, the thread gets a parked worker to take the lane that
//!   is stranded in the stuck worker's `next` slot;
//! * if a worker's poll is long, a spare worker takes the place of that worker (`held.rs`);
//! * if there are sections, the thread searches for deadlocks (`deadlocks.rs`).
//!
//! A worker that parks while this thread polls a shard finds the turn taken, and sleeps on its condition
//! variable: then no worker is inside the poll of that shard. So this thread does not count a poll of its own as care
//! by another thread, and checks again before it sleeps.
//!
//! A tick costs 10 to 30 µs, most of them for waking up. It is fast while a worker is stuck and something depends on this
//! thread: a shard that no other thread polls, a timer that is due soon, or a parked worker, which is not woken for a
//! stranded lane. When the thread finds all workers parked twice in a row it goes to sleep: an idle process makes no system
//! call. The worker that wakes up next starts the [`CheckTimer`](crate::driver::check_timer::CheckTimer). While workers are seldom awake, they postpone the tick (see
//! there). With sections the thread sleeps only if it has searched for deadlocks since a worker or a guest ran last.

mod deadlocks;
mod held;

pub(crate) use self::deadlocks::DeadlockSearch;
pub(crate) use self::held::SpareThreads;

use self::held::Held;
use crate::driver::check_timer::Next;
use crate::driver::clock::TICK;
use crate::driver::{Driver, polled};
use crate::services::observer::Look;
use crate::services::{Services, current, entered};
use colored_core::{SchedulerHandle, contain};
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

/// The tick while nothing depends on this thread. A stuck worker is met after one to two of these.
const SLOW: Duration = Duration::from_millis(5);

/// The same, in ticks of the clock.
const SLOW_TICKS: u64 = SLOW.as_nanos() as u64 / TICK;

/// The tick while something does. At this rate the thread takes 2 to 3 % of a core: a worker that the
/// system has taken the core from looks stuck as well, so being stuck alone is no reason.
const FAST: Duration = Duration::from_millis(1);

/// Fast ticks without a reason before the tick is slow again. Few: where an HTTP client shares the
/// cores, 100 of them kept the thread at 800 ticks a second, 5 at 200.
const FAST_TICKS: u32 = 5;

/// The care that a shard has had since the last check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Care {
    /// Another thread has polled it.
    Taken,
    /// A worker has been called for it, or has just taken the turn.
    Called,
    /// This thread has polled it; a worker that came meanwhile has found the turn taken.
    Own,
}

/// The state that the thread keeps from one check to the next.
struct Watch {
    handle: SchedulerHandle,
    services: Arc<Services>,
    driver: Arc<Driver>,
    polls: Box<[u64]>,
    held: Held,
    wakers: Vec<Waker>,
    /// Fast ticks left.
    fast: u32,
    deadlock_search: DeadlockSearch,
    /// The time until the next check that must be, even if nothing runs.
    due: Option<Duration>,
    observer: Look,
}

/// The thread's body.
pub(crate) fn run(handle: SchedulerHandle, services: Arc<Services>, spares: SpareThreads) {
    let _entered = entered::enter(current::Context::new(Arc::clone(&services), None));
    let driver = Arc::clone(&services.driver);
    let mut watch = Watch {
        polls: vec![0; driver.shards.len()].into(),
        held: Held::new(driver.parkers.len(), spares, services.size.spares),
        wakers: Vec::new(),
        fast: 0,
        deadlock_search: DeadlockSearch::new(services.deadlock_after),
        due: None,
        observer: services.observer.on_reactor_start(),
        handle,
        services,
        driver,
    };
    watch.run();
    watch.held.join();
}

impl Watch {
    /// Checks until the runtime ends the thread.
    fn run(&mut self) {
        let mut quiet = false;
        self.driver.check_timer.set(SLOW, Next::Fixed);
        while self.driver.check_timer.wait() {
            let before = self.stamp();
            let watched = self.check() && !self.driver.check_pause();
            let rests = || {
                self.all_parked()
                    && self.stamp() == before
                    && !self.driver.check_timer.is_check_requested()
            };
            let idle = watched && self.due.is_none() && rests();
            if idle && quiet {
                self.driver.check_timer.sleep(|| !rests());
            } else {
                let tick = if self.fast > 0 { FAST } else { SLOW };
                let depends = !watched || self.fast > 0 || self.due.is_some();
                let next = if depends { Next::Fixed } else { Next::Movable };
                self.driver.check_timer.set(self.due.map_or(tick, |due| due.min(tick)), next);
            }
            quiet = idle;
        }
    }

    fn all_parked(&self) -> bool {
        self.handle.scheduler().all_parked()
    }

    /// Another number as soon as a worker has run something, or has woken up and gone to sleep again.
    fn stamp(&self) -> u64 {
        let scheduler = self.handle.scheduler();
        let all = scheduler.workers() + scheduler.spares();
        let metrics = (0..all).map(|worker| scheduler.worker_metrics(worker));
        metrics.map(|of| of.slices + of.parks).sum()
    }

    /// Whether every shard has a worker that looks after it, or that was just called for it.
    fn check(&mut self) -> bool {
        self.driver.check_timer.begin_check();
        let stuck = self.held.check(self.handle.scheduler(), &self.services);
        let (mut depends, mut watched) = (false, true);
        self.driver.parkers.begin_reactor_events();
        for shard in 0..self.driver.shards.len() {
            let care = self.check_shard(shard);
            depends |= care != Care::Taken;
            watched &= care != Care::Own;
        }
        depends |= self.check_wheels();
        // A parked worker would take the lanes that a stuck worker makes runnable, but is not woken for them.
        depends |= self.handle.scheduler().parked() > 0;
        self.fast = if stuck && depends { FAST_TICKS } else { self.fast.saturating_sub(1) };
        // A waker may be foreign code; the thread must outlive its panic.
        self.wakers.drain(..).for_each(|waker| contain(|| waker.wake()));
        self.driver.parkers.finish_reactor_events();
        let deadlock_search = self.deadlock_search.check(self.handle.scheduler());
        let dues = [
            deadlock_search,
            (self.observer)(&self.handle, &self.services),
            self.held.retries_in(),
        ];
        self.due = dues.into_iter().flatten().min();
        watched
    }

    fn check_shard(&mut self, index: usize) -> Care {
        let shard = self.driver.shards.get(index);
        let polls = shard.polls();
        let looked_after = polls != self.polls[index] || shard.is_polled();
        self.polls[index] = polls;
        if looked_after {
            return Care::Taken;
        }
        let scheduler = self.handle.scheduler();
        let workers = self.driver.timers.wheels();
        let mut of_shard = (index..workers).step_by(self.driver.shards.len());
        match of_shard.find(|worker| scheduler.is_parked(*worker)) {
            // It finds nothing to run, and the turn free.
            Some(worker) => {
                self.driver.unpark(worker);
                Care::Called
            }
            None => match shard.try_turn() {
                Some(mut turn) => {
                    polled(turn.poll(Some(Duration::ZERO), &mut self.wakers));
                    self.polls[index] = shard.polls();
                    Care::Own
                }
                None => Care::Called,
            },
        }
    }

    /// Advances the overdue wheels. True if some wheel was, or may be before the next slow tick.
    fn check_wheels(&mut self) -> bool {
        let now = self.driver.clock.now_tick();
        self.driver.timers.advance_late(now, now + SLOW_TICKS, &mut self.wakers)
    }
}

#[cfg(test)]
mod tests {
    use super::Watch;
    use super::deadlocks::DeadlockSearch;
    use super::held::{Held, SpareThreads};
    use crate::driver::Driver;
    use crate::driver::clock::Clock;
    use crate::services::Services;
    use colored_core::{Park, Scheduler, Step};
    use std::sync::Arc;
    use std::time::Duration;

    struct NoPark;

    impl Park for NoPark {
        fn unpark(&self, _worker: usize) {}

        fn now(&self) -> u64 {
            0
        }
    }

    /// A worker that parks while the reactor thread polls finds the turn taken, and sleeps elsewhere. The
    /// thread must not go to sleep then, and calls the worker with its next check. Otherwise no thread would ever see
    /// the events of the shard.
    #[test]
    fn a_worker_that_parks_beside_a_poll_of_this_thread_is_called_for_the_shard() {
        let services = Services::of(Driver::with_clock(Clock::manual(), 1), 1);
        let driver = Arc::clone(&services.driver);
        let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NoPark));
        let mut watch = Watch {
            handle,
            services,
            driver: Arc::clone(&driver),
            polls: Box::new([0]),
            held: Held::new(1, SpareThreads::none(), 0),
            wakers: Vec::new(),
            fast: 0,
            deadlock_search: DeadlockSearch::new(Duration::ZERO),
            due: None,
            observer: Box::new(|_, _| None),
        };
        assert!(!watch.check(), "the worker is in a task, so this thread has polled");
        assert_eq!(workers[0].step(), Step::Park(None));
        assert!(watch.all_parked() && !driver.take_token(0));
        assert!(watch.check(), "the worker is there");
        assert!(driver.take_token(0), "and called");
    }
}
