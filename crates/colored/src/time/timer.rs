//! A timer in a wheel, as long as this handle lives.

use std::{sync::Arc, task::Waker, time::Instant};

use crate::driver::{
    Driver,
    clock::TICK,
    wheel::{Closed, Inserted, Reset},
};
use crate::services::{
    current::{self, Context},
    wheel_timer::{self, WheelTimer},
};

/// A timer that was put into a wheel. It stays in that wheel, whichever worker
/// polls, resets or drops it. Dropping it cancels it.
pub(super) struct Timer(WheelTimer);

/// The state of a new timer.
enum Found {
    /// That its deadline has been reached.
    Due,
    /// The timer that was released last, which this one has taken over, and its new tick.
    Last(u64),
    /// A wheel, and its tick there.
    Wheel(Arc<Context>, usize, u64),
}

impl Timer {
    /// Puts a timer into the wheel of the current worker, and gives its tick.
    ///
    /// Gives `None` when the deadline has been reached.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    pub(super) fn new(deadline: Instant, waker: &Waker) -> Result<Option<(Timer, u64)>, Closed> {
        // Of this worker, if it is of this context. Wakers are foreign code, and so are cloned and dropped outside
        // `with`.
        let last = wheel_timer::take_last();
        let found = current::with(|context| {
            let driver = &context.driver;
            let wheel = driver.timers.choose(context.worker);
            let tick = driver.clock.deadline_tick(deadline);
            if is_due(driver, wheel, tick, deadline) {
                return Found::Due;
            }
            match &last {
                Some(last)
                    if Arc::ptr_eq(&last.context, context)
                        && driver.timers.wheel(wheel).renew(last.key, tick, waker).is_some() =>
                {
                    Found::Last(tick)
                }
                _ => Found::Wheel(Arc::clone(context), wheel, tick),
            }
        });
        let (context, wheel, tick) = match found {
            Found::Due => return Ok(None),
            Found::Last(tick) => return Ok(last.map(|last| (Timer(last), tick))),
            Found::Wheel(context, wheel, tick) => (context, wheel, tick),
        };
        drop(last);
        let Inserted { key, earliest } = context.driver.timers.wheel(wheel).insert(tick, waker)?;
        // A worker looks at its own wheel before it parks.
        if earliest && context.worker != Some(wheel) {
            context.driver.wake_for_earlier_timer(wheel);
        }
        Ok(Some((Timer(WheelTimer { context, wheel, key }), tick)))
    }

    /// Cancels it. As dropping it, but cheaper if the task makes another one at once.
    pub(super) fn let_go(self) {
        self.0.let_go();
    }

    /// Makes the timer wake `waker` if `deadline`, which it was set to, is ahead, and gives its tick.
    /// Otherwise, and when it has fired, gives `None`.
    pub(super) fn wait(&self, deadline: Instant, waker: &Waker) -> Option<u64> {
        let driver = &self.0.context.driver;
        let tick = driver.clock.deadline_tick(deadline);
        let waits = !is_due(driver, self.0.wheel, tick, deadline)
            && driver.timers.wheel(self.0.wheel).update_waker(self.0.key, waker);
        waits.then_some(tick)
    }

    /// The tick of a deadline.
    #[inline]
    pub(super) fn tick(&self, deadline: Instant) -> u64 {
        self.0.context.driver.clock.deadline_tick(deadline)
    }

    /// The tick up to which the timer's wheel has been told the time.
    #[inline]
    pub(super) fn present(&self) -> u64 {
        self.0.context.driver.timers.wheel(self.0.wheel).present()
    }

    /// Whether that time has come, by the clock that the timer goes by.
    pub(super) fn has_come(&self, at: Instant) -> bool {
        self.0.context.driver.clock.has_reached(at)
    }

    /// Moves the timer. False when it has fired.
    pub(super) fn reset(&self, deadline: Instant) -> bool {
        let deadline = self.0.context.driver.clock.deadline_tick(deadline);
        match self.0.context.driver.timers.wheel(self.0.wheel).reset(self.0.key, deadline) {
            Reset::Moved { earliest } => {
                if earliest && !self.is_on_own_thread() {
                    self.0.context.driver.wake_for_earlier_timer(self.0.wheel);
                }
                true
            }
            Reset::Gone => false,
        }
    }

    /// Whether this thread is the worker whose wheel it is.
    fn is_on_own_thread(&self) -> bool {
        let is_own = |context: &Arc<Context>| {
            context.worker == Some(self.0.wheel)
                && Arc::ptr_eq(&context.driver, &self.0.context.driver)
        };
        current::on_thread(is_own).unwrap_or(false)
    }
}

/// Whether `deadline`, which `tick` is the tick of, has been reached.
///
/// The clock is read only if that may be: reading it costs as much as filing the
/// timer. A worker that has not told its wheel the time for more than `NEAR` ticks
/// may miss that a deadline has just passed; it learns of it when it does.
fn is_due(driver: &Driver, wheel: usize, tick: u64, deadline: Instant) -> bool {
    const NEAR: u64 = 16_000_000 / TICK;
    tick <= driver.timers.wheel(wheel).present().saturating_add(NEAR)
        && driver.clock.has_reached(deadline)
}
