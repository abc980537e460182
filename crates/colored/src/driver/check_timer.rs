//! [`CheckTimer`]: when the reactor thread checks the runtime next.
//!
//! One word holds the time of the next check. While the thread sleeps, no check is due. The first worker that wakes up
//! then sets a time, [`AHEAD`] from now.
//!
//! **A server that is seldom busy does not wake the thread.** The thread exists for stuck workers. If all other workers
//! are parked when a worker wakes up, none of them is stuck, so the worker postpones the check. That is at most one
//! system call in a few milliseconds, and no thread wakes up. Nobody postpones a check while two workers are awake. So
//! the thread checks a worker that gets stuck at the latest [`AHEAD`] after it woke up.
//!
//! **No wake-up is lost.** A worker leaves the parked ones, and then reads the word. The thread writes that it sleeps,
//! and then reads whether all workers are parked. Each has a fence between its two steps. One of the fences is first, so
//! either the thread sees that a worker is awake, or the worker sees that the thread sleeps.

mod timer;

use self::timer::Timer;
use crate::wall;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::time::{Duration, Instant};

/// A worker that wakes up sets or postpones the next check to this time from now.
pub(crate) const AHEAD: Duration = Duration::from_millis(10);

/// A worker postpones a check only if it is nearer than this.
const NEAR: Duration = Duration::from_millis(5);

/// The longest time between two checks while workers run.
const MOST: Duration = Duration::from_millis(200);

/// The thread sleeps: no check is due.
const ASLEEP: u64 = u64::MAX;

/// This bit is set in the time of a check that no worker may postpone.
const FIXED: u64 = 1;

/// Whether workers may postpone a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A worker may if all others are parked.
    Movable,
    /// No worker may: something depends on the time of the check.
    Fixed,
}

/// The time of the next check, and what wakes the reactor thread then.
#[derive(Debug)]
pub(crate) struct CheckTimer {
    start: Instant,
    /// When the next check is due: twice the nanoseconds since the start, and [`FIXED`]; or [`ASLEEP`].
    due: AtomicU64,
    /// The nanoseconds from the start to the last check.
    last_check: AtomicU64,
    /// [`check_soon`](Self::check_soon) was called since the last check began.
    requested: AtomicBool,
    stopped: AtomicBool,
    /// None if no thread checks.
    timer: Option<Timer>,
}

impl CheckTimer {
    /// # Errors
    ///
    /// When the system refuses a descriptor.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { timer: Some(Timer::new()?), ..Self::unused() })
    }

    /// For a runtime that no thread checks.
    pub(crate) fn unused() -> Self {
        Self {
            start: wall::now(),
            due: AtomicU64::new(0),
            last_check: AtomicU64::new(0),
            requested: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            timer: None,
        }
    }

    fn set_timer(&self, after: Duration) {
        if let Some(timer) = &self.timer {
            timer.set(after);
        }
    }

    /// Wakes the thread if it sleeps, or else may postpone its check. To be called by a worker that has left the parked
    /// ones. `alone` says whether all others are parked, and nothing else depends on checks.
    #[inline]
    pub(crate) fn wake_or_postpone(&self, alone: impl FnOnce() -> bool) {
        // Ordering: see the module.
        fence(Ordering::SeqCst);
        let due = self.due.load(Ordering::Relaxed);
        if due == ASLEEP {
            self.put(due, AHEAD, Next::Movable);
        } else if due & FIXED == 0 {
            let now = self.now();
            // Ordering: a hint.
            let last_check = self.last_check.load(Ordering::Relaxed);
            let is_near = due / 2 < now + NEAR.as_nanos() as u64;
            let is_recent = now < last_check + MOST.as_nanos() as u64;
            if is_near && is_recent && !self.is_check_requested() && alone() {
                self.put(due, AHEAD, Next::Movable);
            }
        }
    }

    /// Makes the thread check within [`NEAR`], and once more before it sleeps.
    pub(crate) fn check_soon(&self) {
        // Ordering: Release pairs with `begin_check`. The fence stands between this and the read of the word.
        self.requested.store(true, Ordering::Release);
        fence(Ordering::SeqCst);
        let soon = 2 * (self.now() + NEAR.as_nanos() as u64);
        loop {
            // Ordering: ordered by the fence.
            let due = self.due.load(Ordering::Relaxed);
            if due <= soon || self.put(due, NEAR, Next::Fixed) {
                return;
            }
        }
    }

    /// Ends the thread, at its next check at the latest.
    pub(crate) fn stop(&self) {
        // Ordering: Release pairs with `wait`.
        self.stopped.store(true, Ordering::Release);
        self.set_timer(Duration::ZERO);
    }

    /// Puts the check that is due at `due` to this time from now; false if it is due at another time by now.
    #[cold]
    fn put(&self, due: u64, ahead: Duration, next: Next) -> bool {
        let new = self.word(ahead, next);
        // Ordering: the lock of the timer, inside the system or in `timer.rs`, hands the word over: who puts a check to a
        // time sets the timer afterwards, and the thread reads the word when the timer has fired.
        if self.due.compare_exchange(due, new, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return false;
        }
        self.set_timer(ahead);
        // Another thread may have put it nearer and have set the timer before this one.
        let now = self.due.load(Ordering::Relaxed);
        if now < new {
            self.set_timer(self.until(now));
        }
        true
    }

    /// To be called by the thread: its next check is due after this time.
    pub(crate) fn set(&self, ahead: Duration, next: Next) {
        // Ordering: as in `put`.
        self.due.store(self.word(ahead, next), Ordering::Relaxed);
        self.set_timer(ahead);
    }

    /// To be called by the thread: no check is due before a worker rings, unless `awake` reports one that is awake.
    pub(crate) fn sleep(&self, awake: impl FnOnce() -> bool) {
        self.due.store(ASLEEP, Ordering::Relaxed);
        // Ordering: see the module.
        fence(Ordering::SeqCst);
        if awake() {
            self.set(NEAR, Next::Movable);
        }
    }

    /// Waits until a check is due; false if the thread is to end.
    pub(crate) fn wait(&self) -> bool {
        loop {
            self.timer.as_ref().expect("a thread checks").wait();
            // Ordering: Acquire pairs with `stop`.
            if self.stopped.load(Ordering::Acquire) {
                return false;
            }
            // Ordering: as in `put`.
            let due = self.due.load(Ordering::Relaxed);
            if due == ASLEEP {
                continue;
            }
            let left = self.until(due);
            if left.is_zero() {
                return true;
            }
            // It was put off when the timer had fired, or was about to.
            self.set_timer(left);
        }
    }

    /// From now on [`is_check_requested`](Self::is_check_requested) reports later events only.
    pub(crate) fn begin_check(&self) {
        // Ordering: a hint.
        self.last_check.store(self.now(), Ordering::Relaxed);
        // Ordering: the check that follows sees all that was done before: it takes the locks under which that was done,
        // or reads values that were released then.
        self.requested.swap(false, Ordering::AcqRel);
    }

    pub(crate) fn is_check_requested(&self) -> bool {
        // Ordering: see `check_soon`.
        self.requested.load(Ordering::Relaxed)
    }

    /// The nanoseconds since the start.
    fn now(&self) -> u64 {
        // 292 years fit.
        wall::since(self.start).as_nanos() as u64
    }

    fn word(&self, ahead: Duration, next: Next) -> u64 {
        let at = self.now() + ahead.as_nanos() as u64;
        2 * at + if next == Next::Fixed { FIXED } else { 0 }
    }

    fn until(&self, due: u64) -> Duration {
        Duration::from_nanos((due / 2).saturating_sub(self.now()))
    }
}

#[cfg(test)]
mod tests {
    use super::{AHEAD, CheckTimer, NEAR, Next};
    use std::sync::Arc;
    use std::thread;
    use std::time::{Duration, Instant};

    fn check_timer() -> CheckTimer {
        CheckTimer::new().expect("the system has a descriptor")
    }

    #[test]
    fn a_look_is_due_at_its_time_and_a_ring_ends_a_sleep() {
        let check_timer = check_timer();
        // The time begins before the timer does.
        let time = |set: &dyn Fn()| {
            let begin = Instant::now();
            set();
            assert!(check_timer.wait());
            begin.elapsed()
        };
        assert!(time(&|| check_timer.set(NEAR, Next::Fixed)) >= NEAR);
        assert!(time(&|| check_timer.sleep(|| true)) >= NEAR, "a worker was awake");
        check_timer.sleep(|| false);
        assert!(time(&|| check_timer.wake_or_postpone(|| false)) >= AHEAD);
    }

    /// A worker puts the check off only while it is alone, and while nothing depends on the time of the check.
    #[test]
    fn a_worker_that_is_alone_puts_the_look_off() {
        let check_timer = check_timer();
        check_timer.begin_check();
        check_timer.set(NEAR, Next::Movable);
        let begin = Instant::now();
        thread::sleep(Duration::from_millis(1));
        // A busy machine may have let the time pass, and then it is due, and put off all the same.
        check_timer.wake_or_postpone(|| true);
        assert!(check_timer.wait());
        assert!(begin.elapsed() >= AHEAD);
        // Another one is awake: nothing is put off.
        check_timer.begin_check();
        check_timer.set(NEAR, Next::Movable);
        let due = check_timer.due.load(super::Ordering::Relaxed);
        check_timer.wake_or_postpone(|| false);
        assert_eq!(check_timer.due.load(super::Ordering::Relaxed), due);
        check_timer.wake_or_postpone(|| true);
        assert!(check_timer.due.load(super::Ordering::Relaxed) > due);
        // Something depends on its time.
        check_timer.set(NEAR, Next::Fixed);
        let due = check_timer.due.load(super::Ordering::Relaxed);
        check_timer.wake_or_postpone(|| true);
        assert_eq!(check_timer.due.load(super::Ordering::Relaxed), due);
    }

    #[test]
    fn it_looks_now_and_then_however_often_it_is_put_off() {
        let check_timer = check_timer();
        check_timer.begin_check();
        check_timer.set(NEAR, Next::Movable);
        thread::scope(|scope| {
            let waits = scope.spawn(|| check_timer.wait());
            while !waits.is_finished() {
                check_timer.wake_or_postpone(|| true);
            }
        });
    }

    #[test]
    fn what_stirs_it_makes_a_look_due_soon() {
        let check_timer = check_timer();
        check_timer.sleep(|| false);
        check_timer.check_soon();
        assert!(check_timer.is_check_requested());
        let due = check_timer.due.load(super::Ordering::Relaxed);
        check_timer.wake_or_postpone(|| true);
        assert_eq!(check_timer.due.load(super::Ordering::Relaxed), due, "nobody puts it off");
        assert!(check_timer.wait());
        check_timer.begin_check();
        assert!(!check_timer.is_check_requested());
    }

    #[test]
    fn a_stop_ends_a_sleep() {
        let check_timer = Arc::new(check_timer());
        check_timer.sleep(|| false);
        let waits = thread::spawn({
            let check_timer = Arc::clone(&check_timer);
            move || check_timer.wait()
        });
        check_timer.stop();
        assert!(!waits.join().unwrap());
    }

    /// The thread goes to sleep again and again while workers come and go: it is woken each time.
    #[test]
    fn no_sleep_is_missed() {
        use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
        let check_timer = check_timer();
        let (awake, checks) = (AtomicBool::new(false), AtomicU64::new(0));
        let rounds = 50;
        thread::scope(|scope| {
            scope.spawn(|| {
                check_timer.sleep(|| awake.load(Ordering::SeqCst));
                while check_timer.wait() {
                    awake.store(false, Ordering::SeqCst);
                    checks.fetch_add(1, Ordering::SeqCst);
                    check_timer.sleep(|| awake.load(Ordering::SeqCst));
                }
            });
            for round in 0..rounds {
                let seen = checks.load(Ordering::SeqCst);
                awake.store(true, Ordering::SeqCst);
                check_timer.wake_or_postpone(|| true);
                let begin = Instant::now();
                while checks.load(Ordering::SeqCst) == seen {
                    assert!(begin.elapsed() < Duration::from_secs(20), "round {round}: it sleeps");
                    thread::yield_now();
                }
            }
            check_timer.stop();
        });
    }
}
