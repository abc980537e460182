//! [`Bell`]: when the reactor thread looks next.
//!
//! The thread waits until a point in time, which is one word. While it sleeps there is none, and the first worker that
//! leaves the parked ones sets one, [`CALM`] ahead.
//!
//! **A server that is seldom busy does not wake the thread.** The thread is there for workers that are stuck. If all other
//! workers are parked, all that ran before has ended, so the worker that wakes up puts the time off: a call of the system
//! each few milliseconds at most, on a thread that is awake, instead of waking another one. A worker that stays awake puts
//! nothing off, and neither do others beside it: so the thread looks at the latest [`CALM`] after a worker has woken up
//! that is stuck then.
//!
//! **No sleep is missed.** A worker has left the parked ones, then looks at the word; the thread has written that it sleeps,
//! then looks for parked workers. A fence stands between the two steps of each. One of the fences is first, so either the
//! thread sees a worker awake, or the worker sees that it sleeps.

mod timer;

use self::timer::Timer;
use crate::wall;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::time::{Duration, Instant};

/// How far ahead a worker puts the next look.
pub(super) const CALM: Duration = Duration::from_millis(10);

/// A worker puts off a look that is nearer than this.
const NEAR: Duration = Duration::from_millis(5);

/// The longest time without a look while workers run.
const MOST: Duration = Duration::from_millis(200);

/// The thread sleeps: no look is due.
const ASLEEP: u64 = u64::MAX;

/// The bit of a look that no worker puts off.
const FIXED: u64 = 1;

/// Whether workers may put a look off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A worker that is awake alone may.
    Movable,
    /// Something depends on its time.
    Fixed,
}

/// Wakes the reactor thread.
#[derive(Debug)]
pub(crate) struct Bell {
    start: Instant,
    /// When the next look is due: twice the nanoseconds since the start, and [`FIXED`]; or [`ASLEEP`].
    due: AtomicU64,
    /// The nanoseconds from the start to the last look.
    looked: AtomicU64,
    /// There is something to look at that no worker has to do with.
    stirred: AtomicBool,
    stopped: AtomicBool,
    timer: Timer,
}

impl Bell {
    /// # Errors
    ///
    /// When the system refuses a descriptor.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            start: wall::now(),
            due: AtomicU64::new(0),
            looked: AtomicU64::new(0),
            stirred: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            timer: Timer::new()?,
        })
    }

    /// A worker has left the parked ones. `alone` says whether all others are parked, and nothing else has begun that
    /// depends on looks.
    #[inline]
    pub(crate) fn ring(&self, alone: impl FnOnce() -> bool) {
        // Ordering: see the module.
        fence(Ordering::SeqCst);
        let due = self.due.load(Ordering::Relaxed);
        if due == ASLEEP {
            self.put(due, CALM, Next::Movable);
        } else if due & FIXED == 0 {
            let now = self.now();
            // Ordering: a hint.
            let looked = self.looked.load(Ordering::Relaxed);
            let is_near = due / 2 < now + NEAR.as_nanos() as u64;
            let is_recent = now < looked + MOST.as_nanos() as u64;
            if is_near && is_recent && !self.is_stirred() && alone() {
                self.put(due, CALM, Next::Movable);
            }
        }
    }

    /// Has the thread look once more before it sleeps, and soon.
    pub(crate) fn stir(&self) {
        // Ordering: Release pairs with `calm_down`. The fence stands between this and the look at the word.
        self.stirred.store(true, Ordering::Release);
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

    /// Ends the thread, at its next look at the latest.
    pub(crate) fn stop(&self) {
        // Ordering: Release pairs with `wait`.
        self.stopped.store(true, Ordering::Release);
        self.timer.set(Duration::ZERO);
    }

    /// Puts the look that is due at `due` to this time from now; false if it is due at another time by now.
    #[cold]
    fn put(&self, due: u64, ahead: Duration, next: Next) -> bool {
        let new = self.word(ahead, next);
        // Ordering: the lock of the timer, inside the system or in `timer.rs`, hands the word over: who puts a look to a
        // time sets the timer afterwards, and the thread reads the word when the timer has fired.
        if self.due.compare_exchange(due, new, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return false;
        }
        self.timer.set(ahead);
        // Another thread may have put it nearer and have set the timer before this one.
        let now = self.due.load(Ordering::Relaxed);
        if now < new {
            self.timer.set(self.until(now));
        }
        true
    }

    /// To be called by the thread: its next look is due after this time.
    pub(super) fn set(&self, ahead: Duration, next: Next) {
        // Ordering: as in `put`.
        self.due.store(self.word(ahead, next), Ordering::Relaxed);
        self.timer.set(ahead);
    }

    /// To be called by the thread: no look is due before a worker rings, unless `awake` reports one that is awake.
    pub(super) fn sleep(&self, awake: impl FnOnce() -> bool) {
        self.due.store(ASLEEP, Ordering::Relaxed);
        // Ordering: see the module.
        fence(Ordering::SeqCst);
        if awake() {
            self.set(NEAR, Next::Movable);
        }
    }

    /// Waits until a look is due; false if the thread is to end.
    pub(super) fn wait(&self) -> bool {
        loop {
            self.timer.wait();
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
            self.timer.set(left);
        }
    }

    /// From now on [`is_stirred`](Self::is_stirred) reports later events only.
    pub(super) fn calm_down(&self) {
        // Ordering: a hint.
        self.looked.store(self.now(), Ordering::Relaxed);
        // Ordering: the look that follows sees all that was done before: it takes the locks under which that was done,
        // or reads values that were released then.
        self.stirred.swap(false, Ordering::AcqRel);
    }

    pub(super) fn is_stirred(&self) -> bool {
        // Ordering: see `stir`.
        self.stirred.load(Ordering::Relaxed)
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
    use super::{Bell, CALM, NEAR, Next};
    use std::sync::Arc;
    use std::thread;
    use std::time::{Duration, Instant};

    fn bell() -> Bell {
        Bell::new().expect("the system has a descriptor")
    }

    fn time(f: impl FnOnce()) -> Duration {
        let begin = Instant::now();
        f();
        begin.elapsed()
    }

    #[test]
    fn a_look_is_due_at_its_time_and_a_ring_ends_a_sleep() {
        let bell = bell();
        bell.set(NEAR, Next::Fixed);
        assert!(time(|| assert!(bell.wait())) >= NEAR);
        bell.sleep(|| true);
        assert!(time(|| assert!(bell.wait())) >= NEAR, "a worker was awake");
        bell.sleep(|| false);
        bell.ring(|| false);
        assert!(time(|| assert!(bell.wait())) >= CALM);
    }

    /// A worker puts the look off only while it is alone, and while nothing depends on the time of the look.
    #[test]
    fn a_worker_that_is_alone_puts_the_look_off() {
        let bell = bell();
        bell.calm_down();
        bell.set(NEAR, Next::Movable);
        let begin = Instant::now();
        thread::sleep(Duration::from_millis(1));
        // A busy machine may have let the time pass, and then it is due, and put off all the same.
        bell.ring(|| true);
        assert!(bell.wait());
        assert!(begin.elapsed() >= CALM);
        // Another one is awake: nothing is put off.
        bell.set(NEAR, Next::Movable);
        let due = bell.due.load(super::Ordering::Relaxed);
        bell.ring(|| false);
        assert_eq!(bell.due.load(super::Ordering::Relaxed), due);
        bell.ring(|| true);
        assert!(bell.due.load(super::Ordering::Relaxed) > due);
        // Something depends on its time.
        bell.set(NEAR, Next::Fixed);
        let due = bell.due.load(super::Ordering::Relaxed);
        bell.ring(|| true);
        assert_eq!(bell.due.load(super::Ordering::Relaxed), due);
    }

    #[test]
    fn it_looks_now_and_then_however_often_it_is_put_off() {
        let bell = bell();
        bell.calm_down();
        bell.set(NEAR, Next::Movable);
        thread::scope(|scope| {
            let waits = scope.spawn(|| bell.wait());
            while !waits.is_finished() {
                bell.ring(|| true);
            }
        });
    }

    #[test]
    fn what_stirs_it_makes_a_look_due_soon() {
        let bell = bell();
        bell.sleep(|| false);
        bell.stir();
        assert!(bell.is_stirred());
        let due = bell.due.load(super::Ordering::Relaxed);
        bell.ring(|| true);
        assert_eq!(bell.due.load(super::Ordering::Relaxed), due, "nobody puts it off");
        assert!(bell.wait());
        bell.calm_down();
        assert!(!bell.is_stirred());
    }

    #[test]
    fn a_stop_ends_a_sleep() {
        let bell = Arc::new(bell());
        bell.sleep(|| false);
        let waits = thread::spawn({
            let bell = Arc::clone(&bell);
            move || bell.wait()
        });
        bell.stop();
        assert!(!waits.join().unwrap());
    }

    /// The thread goes to sleep again and again while workers come and go: it is woken each time.
    #[test]
    fn no_sleep_is_missed() {
        use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
        let bell = bell();
        let (awake, looks) = (AtomicBool::new(false), AtomicU64::new(0));
        let rounds = 50;
        thread::scope(|scope| {
            scope.spawn(|| {
                bell.sleep(|| awake.load(Ordering::SeqCst));
                while bell.wait() {
                    awake.store(false, Ordering::SeqCst);
                    looks.fetch_add(1, Ordering::SeqCst);
                    bell.sleep(|| awake.load(Ordering::SeqCst));
                }
            });
            for round in 0..rounds {
                let seen = looks.load(Ordering::SeqCst);
                awake.store(true, Ordering::SeqCst);
                bell.ring(|| true);
                let begin = Instant::now();
                while looks.load(Ordering::SeqCst) == seen {
                    assert!(begin.elapsed() < Duration::from_secs(20), "round {round}: it sleeps");
                    thread::yield_now();
                }
            }
            bell.stop();
        });
    }
}
