//! [`Advance`]: a task that waits until a paused clock has been moved to some time.

use super::Pause;
use crate::driver::Driver;
use slab::Slab;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// The tasks that wait for a paused clock.
#[derive(Debug, Default)]
pub(super) struct Advances(Slab<Waits>);

#[derive(Debug)]
struct Waits {
    /// Nanoseconds of the clock.
    until: u64,
    /// None when it has been woken.
    waker: Option<Waker>,
}

impl Advances {
    /// The first time that is waited for.
    pub(super) fn first(&self) -> Option<u64> {
        let waiting = self.0.iter().filter(|(_, waits)| waits.waker.is_some());
        waiting.map(|(_, waits)| waits.until).min()
    }

    /// Takes the wakers of all that wait for `now` or an earlier time.
    pub(super) fn take_wakers(&mut self, now: u64) -> Vec<Waker> {
        let due = self.0.iter_mut().filter(|(_, waits)| waits.until <= now);
        due.filter_map(|(_, waits)| waits.waker.take()).collect()
    }
}

/// Ready when the clock shows that time, or moves by itself.
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub(crate) struct Advance {
    driver: Arc<Driver>,
    until: u64,
    key: Option<usize>,
}

impl Advance {
    pub(crate) fn new(driver: Arc<Driver>, until: u64) -> Advance {
        Advance { driver, until, key: None }
    }

    fn is_over(&self) -> bool {
        let clock = &self.driver.clock;
        !clock.is_paused() || clock.shown() >= self.until
    }

    fn pause(&self) -> &Pause {
        &self.driver.pause
    }
}

impl Future for Advance {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let waker = cx.waker().clone();
        let mut advances = self.pause().lock();
        // Under the lock: who moves the clock afterwards finds the waker.
        if self.is_over() {
            return Poll::Ready(());
        }
        let key =
            self.key.unwrap_or_else(|| advances.0.insert(Waits { until: self.until, waker: None }));
        let old = advances.0[key].waker.replace(waker);
        drop(advances);
        drop(old);
        self.key = Some(key);
        // The task may run on a thread that is no worker, while all workers sleep.
        self.driver.unpark(0);
        Poll::Pending
    }
}

impl Drop for Advance {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let gone = self.pause().lock().0.remove(key);
            drop(gone);
        }
    }
}
