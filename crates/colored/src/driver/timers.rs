//! [`Timers`]: the wheels of a runtime, one for each worker that stays, and when they are advanced.

use super::clock::TICK;
use super::coalesce::Coalescing;
use super::fired::Fired;
use super::wheel::Wheel;
use crate::wall;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Waker;
use std::time::Duration;

/// Ticks, 1 ms, by which a worker that is well may be late for its timers, beside its rest.
const OVERDUE: u64 = 1_000_000 / TICK;

/// All timers. Times are ticks of the clock of the runtime.
pub(crate) struct Timers {
    wheels: Box<[Wheel]>,
    /// By wheel, as the next one.
    coalescing: Box<[Coalescing]>,
    fired: Box<[Fired]>,
    /// Ticks after which a timer that has not fired shows that its worker is stuck.
    overdue: u64,
    /// The turn of threads that have no wheel.
    turn: AtomicUsize,
}

impl Timers {
    /// So many wheels, whose workers wake up for timers at most once in `rest`.
    pub(super) fn new(wheels: usize, rest: Duration) -> Self {
        let rest = rest.as_nanos() as u64 / TICK;
        Self {
            wheels: (0..wheels).map(|_| Wheel::new()).collect(),
            coalescing: (0..wheels).map(|_| Coalescing::new(rest)).collect(),
            fired: (0..wheels).map(|_| Fired::default()).collect(),
            overdue: rest + OVERDUE,
            turn: AtomicUsize::new(0),
        }
    }

    /// The number of wheels.
    pub(crate) fn wheels(&self) -> usize {
        self.wheels.len()
    }

    pub(crate) fn wheel(&self, index: usize) -> &Wheel {
        &self.wheels[index]
    }

    /// The wheel that a worker advances. A spare worker advances the wheel of a worker that may be stuck.
    pub(super) fn index_of(&self, worker: usize) -> usize {
        worker % self.wheels.len()
    }

    /// The wheel for the timers of this worker; other threads take turns.
    pub(crate) fn choose(&self, worker: Option<usize>) -> usize {
        // Ordering: only spreads the load.
        worker.unwrap_or_else(|| self.index_of(self.turn.fetch_add(1, Ordering::Relaxed)))
    }

    /// The tick at which a worker that sleeps has to wake up for this wheel; `None` if the wheel has no timer.
    pub(super) fn end_of_sleep(&self, wheel: usize) -> Option<u64> {
        let tick = self.wheels[wheel].next_deadline();
        (tick != u64::MAX).then(|| self.coalescing[wheel].end(tick))
    }

    /// Notes that timers of this wheel have ended a sleep, at `now`.
    pub(super) fn note_wake_up(&self, wheel: usize, now: u64) {
        self.coalescing[wheel].note_wake_up(now);
    }

    /// Fires all timers that are due at `now`. Appends their wakers. `is_own` says whether this thread is the wheel's
    /// worker.
    pub(super) fn advance(&self, wheel: usize, now: u64, wakers: &mut Vec<Waker>, is_own: bool) {
        let is_due = self.wheels[wheel].next_deadline() <= now;
        let (start, others) = (is_due.then(wall::now), wakers.len());
        while self.wheels[wheel].advance(now, wakers) {}
        if let Some(start) = start
            && wakers.len() > others
        {
            let nanos = u64::try_from(wall::since(start).as_nanos()).unwrap_or(u64::MAX);
            self.fired[wheel].add((wakers.len() - others) as u64, is_own.then_some(nanos));
        }
    }

    /// Advances the wheels whose workers are late. Appends the wakers. True if some wheel is late, or may be before
    /// `soon`.
    pub(crate) fn advance_late(&self, now: u64, soon: u64, wakers: &mut Vec<Waker>) -> bool {
        let mut near = false;
        for (wheel, fired) in self.wheels.iter().zip(&self.fired) {
            let overdue = wheel.next_deadline().saturating_add(self.overdue);
            if overdue < now {
                let others = wakers.len();
                wheel.advance(now, wakers);
                fired.add((wakers.len() - others) as u64, None);
            }
            near |= overdue < soon;
        }
        near
    }

    /// The tick of the first timer.
    pub(super) fn first(&self) -> Option<u64> {
        self.wheels.iter().filter_map(Wheel::first).min()
    }

    /// How many timers the worker has fired since the last call, and the nanoseconds that this took. To be called by it.
    pub(crate) fn take_fired(&self, worker: usize) -> Option<(u32, u64)> {
        self.fired.get(worker)?.take()
    }

    /// How many timers are set, how many have fired, and in how many turns.
    pub(crate) fn counts(&self) -> (u64, u64, u64) {
        let sums = self.fired.iter().map(Fired::sums);
        let (fired, turns) = sums.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
        let pending = self.wheels.iter().map(|wheel| wheel.len() as u64).sum();
        (pending, fired, turns)
    }

    /// Makes every timer fail from now on. Appends the wakers of all that wait for one.
    pub(super) fn shut_down(&self, wakers: &mut Vec<Waker>) {
        self.wheels.iter().for_each(|wheel| wakers.extend(wheel.close()));
    }
}
