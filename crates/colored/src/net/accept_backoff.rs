//! [`AcceptBackoff`]: how long a listener pauses after an error.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use crate::time::{Instant, sleep};

/// The first pause. It is short enough that clients do not notice, and long enough that a loop
/// which logs each error writes a few hundred lines a second and not a million.
const FIRST: Duration = Duration::from_millis(5);
/// The longest pause: how late a listener notices that descriptors are free again.
const LONGEST: Duration = Duration::from_secs(1);

/// Makes a loop of failing accepts slow.
///
/// A connection that cannot be accepted for want of descriptors stays in the queue of the system,
/// so the listener stays readable and the next accept would fail at once. Each error in a row
/// doubles the pause, and a success ends it.
#[derive(Default)]
pub(super) struct AcceptBackoff {
    /// False while all goes well, which is all that a successful accept has to look at.
    pausing: AtomicBool,
    pause: Mutex<Pause>,
}

#[derive(Default)]
struct Pause {
    length: Duration,
    end: Option<Instant>,
    /// The timer of `poll`.
    timer: Option<Timer>,
}

type Timer = Pin<Box<dyn Future<Output = ()> + Send>>;

impl AcceptBackoff {
    /// Starts a pause, after an accept that failed, and returns how long it is. Errors within a pause, from
    /// acceptors that were already on their way, do not make it longer.
    pub(super) fn start_pause(&self) -> Duration {
        let now = Instant::now();
        let mut pause = self.lock();
        if pause.end.is_none_or(|end| end <= now) {
            pause.length = (pause.length * 2).clamp(FIRST, LONGEST);
            pause.end = Some(now + pause.length);
        }
        // Ordering: hint only. A thread that misses it fails once more and takes the lock.
        self.pausing.store(true, Ordering::Relaxed);
        pause.length
    }

    /// Ends the pause, after an accept that succeeded. The next error starts with a short pause.
    pub(super) fn end_pause(&self) {
        // Ordering: hint only, for both.
        if self.pausing.load(Ordering::Relaxed) {
            self.pausing.store(false, Ordering::Relaxed);
            let forgotten = std::mem::take(&mut *self.lock());
            drop(forgotten);
        }
    }

    /// Waits for the end of the pause.
    pub(super) async fn wait(&self) {
        while let Some(left) = self.left() {
            Box::pin(sleep(left)).await;
        }
    }

    /// Like [`wait`](AcceptBackoff::wait) for one task at a time.
    pub(super) fn poll_wait(&self, cx: &mut Context<'_>) -> Poll<()> {
        while let Some(left) = self.left() {
            // Polled outside the lock, because a timer may drop the waker of another task.
            let timer = self.lock().timer.take();
            let mut timer = timer.unwrap_or_else(|| Box::pin(sleep(left)));
            if timer.as_mut().poll(cx).is_pending() {
                let replaced = self.lock().timer.replace(timer);
                drop(replaced);
                return Poll::Pending;
            }
        }
        Poll::Ready(())
    }

    fn left(&self) -> Option<Duration> {
        // Ordering: hint only.
        if !self.pausing.load(Ordering::Relaxed) {
            return None;
        }
        let left = self.lock().end?.checked_duration_since(Instant::now())?;
        (!left.is_zero()).then_some(left)
    }

    fn lock(&self) -> MutexGuard<'_, Pause> {
        // No code of others runs under this lock: nothing can be left half done.
        self.pause.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_within_one_pause_count_once() {
        let backoff = AcceptBackoff::default();
        assert_eq!(backoff.start_pause(), FIRST);
        // A busy machine does not come to its end.
        backoff.lock().end = Some(Instant::now() + LONGEST * 60);
        assert_eq!(backoff.start_pause(), FIRST);
        assert!(backoff.left().is_some());
    }

    #[test]
    fn pauses_double_up_to_the_longest_and_a_success_ends_them() {
        let backoff = AcceptBackoff::default();
        let lengths = (0..10).map(|_| {
            let length = backoff.start_pause();
            backoff.lock().end = Some(Instant::now());
            length.as_millis()
        });
        let expected = [5, 10, 20, 40, 80, 160, 320, 640, 1000, 1000];
        assert_eq!(lengths.collect::<Vec<_>>(), expected);
        backoff.end_pause();
        assert!(backoff.left().is_none());
        assert_eq!(backoff.start_pause(), FIRST);
    }
}
