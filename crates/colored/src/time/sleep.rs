//! Waiting until a point in time.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use super::{has_come, instant::Instant, later, present, timer::Timer};
use crate::budget;
#[cfg(feature = "sim")]
use crate::driver::clock::TICK;
use crate::services::current::on_worker;
use crate::wait_reason::TimerReason;

/// Waits for `duration`, counted from this call.
///
/// A duration of zero is over at the first poll. A duration that is too long for an
/// [`Instant`] becomes 30 years. [The module](crate::time) documents how late a sleep
/// may end: about 0.1 ms on Linux, while few others end at the same time. Cancel safe.
///
/// # Examples
///
/// ```no_run
/// # async fn example() {
/// use colored::time::{Duration, sleep};
///
/// sleep(Duration::from_millis(100)).await;
/// # }
/// ```
#[must_use = "a sleep does nothing unless it is awaited"]
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    sleep_until(later(present(), duration))
}

/// Waits until `deadline`, which may have passed already. Cancel safe.
#[must_use = "a sleep does nothing unless it is awaited"]
#[track_caller]
pub fn sleep_until(deadline: impl Into<Instant>) -> Sleep {
    let (deadline, reason) = (deadline.into().into_std(), TimerReason::here());
    Sleep {
        deadline,
        timer: None,
        is_over: false,
        reason,
        #[cfg(feature = "sim")]
        waits: colored_sim::sim::Waits::here(),
    }
}

/// A future that is ready at its deadline; made by [`sleep`] and [`sleep_until`].
///
/// It is never ready before the deadline, and stays ready after it: it may be polled
/// again.
///
/// **Cost.** [`sleep`] reads the clock. The first poll puts a timer into the wheel
/// of the current worker (40 bytes and a clone of the waker), and dropping it takes
/// the timer out: constant time, one mostly uncontended lock each. A task that drops
/// a sleep and polls a new one in the same poll takes over the timer of the first,
/// for one lock. The clock is read again only near the deadline. A sleep that is over
/// at its first poll touches no wheel.
///
/// **Cancel safety.** Dropping it at any time is fine, on any thread and after
/// the runtime is gone.
///
/// # Panics
///
/// Polling it before its deadline panics outside of a runtime, and when the runtime has
/// shut down, because nothing would wake the task. A task of that runtime whose poll has outlasted the shutdown does not
/// panic: it is dropped when that poll ends.
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Sleep {
    deadline: std::time::Instant,
    /// There from the first poll that found the deadline ahead until it is reached.
    timer: Option<Timer>,
    /// A poll was ready.
    is_over: bool,
    /// Where it was made, for dumps.
    reason: TimerReason,
    /// The same, for simulations, and how often it has waited.
    #[cfg(feature = "sim")]
    waits: colored_sim::sim::Waits,
}

impl Sleep {
    /// When it is ready.
    pub fn deadline(&self) -> Instant {
        self.deadline.into()
    }

    /// Whether the deadline has been reached, so that a poll is ready. False before the first poll, and after a
    /// [`reset`](Self::reset) of a sleep that was over until the next one.
    pub fn is_elapsed(&self) -> bool {
        match &self.timer {
            Some(timer) => timer.has_come(self.deadline),
            None => self.is_over,
        }
    }

    /// Moves the deadline, whether or not it was reached.
    ///
    /// A task that waits for the sleep is woken at the new deadline; it need not poll
    /// in between. The call itself wakes no task.
    pub fn reset(self: Pin<&mut Self>, deadline: impl Into<Instant>) {
        let (this, deadline) = (self.get_mut(), deadline.into().into_std());
        this.deadline = deadline;
        this.is_over = false;
        #[cfg(feature = "sim")]
        this.waits.begin_anew();
        // A timer that has fired has woken its task, which comes to poll again.
        this.timer = this.timer.take().filter(|timer| timer.reset(deadline));
    }

    /// [`poll`](Future::poll) without the budget. The sleep is the guard of something else, or what is awaited.
    pub(super) fn poll_elapsed(&mut self, cx: &mut Context<'_>, is_guard: bool) -> Poll<()> {
        #[cfg(feature = "sim")]
        if self.is_over {
            // The time may have passed inside this turn: the wheel does not know yet.
            return Poll::Ready(());
        }
        let armed = self.arm(cx);
        #[cfg(feature = "sim")]
        let armed = armed.filter(|tick| !self.waits.are_over(tick.saturating_mul(TICK)));
        self.is_over = armed.is_none();
        let Some(tick) = armed else { return Poll::Ready(()) };
        if let Some(timer) = &self.timer {
            self.reason.note(tick, timer.present(), is_guard);
        }
        Poll::Pending
    }

    /// Makes the timer wake the task of `cx`. Returns the tick of the deadline, or `None` if it has been reached.
    fn arm(&mut self, cx: &mut Context<'_>) -> Option<u64> {
        if let Some(timer) = &self.timer {
            if let Some(tick) = timer.wait(self.deadline, cx.waker()) {
                return Some(tick);
            }
            // Fired, or due; or else the wheel was closed and another is needed.
            self.timer = None;
            if has_come(self.deadline) {
                return None;
            }
        }
        match Timer::new(self.deadline, cx.waker()) {
            Ok(set) => {
                let (timer, tick) = set?;
                self.timer = Some(timer);
                Some(tick)
            }
            // This poll has outlasted the shutdown: its task is dropped when it ends.
            Err(_) if on_worker() => Some(u64::MAX),
            Err(_) => panic!("a timer was polled after its runtime had shut down"),
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(timer) = self.timer.take() {
            self.reason.forget(|| timer.tick(self.deadline));
            timer.let_go();
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        ready!(budget::poll_proceed(cx));
        let poll = self.get_mut().poll_elapsed(cx, false);
        if poll.is_pending() {
            budget::give_back();
        }
        poll
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep").field("deadline", &self.deadline).finish_non_exhaustive()
    }
}
