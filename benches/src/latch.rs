//! Counts operations down and wakes one waiter at zero.

use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;

/// A countdown for one waiter, used again and again.
///
/// A latch is leaked on purpose: tasks then capture one pointer, so a measured task costs neither
/// side a reference count.
#[derive(Debug, Default)]
pub struct Latch {
    left: AtomicUsize,
    done: Notify,
}

impl Latch {
    /// A latch that lives as long as the process.
    #[must_use]
    pub fn leaked() -> &'static Self {
        Box::leak(Box::default())
    }

    /// Expects `hits` hits. Call it before any of them can happen.
    pub fn expect(&self, hits: usize) {
        // Ordering: Relaxed, the tasks that hit are published by the spawn that follows.
        self.left.store(hits, Ordering::Relaxed);
    }

    /// One of the expected hits.
    pub fn hit(&self) {
        // Ordering: AcqRel, so that the last hit happens after all others, and with it the
        // waiter, which `Notify` orders after the last.
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.done.notify_one();
        }
    }

    /// Waits for the last hit, which may already have come.
    ///
    /// Cancel safety: a waiter dropped before the last hit loses nothing; a waiter dropped after it
    /// leaves the latch in order, or hands the notice to the next waiter.
    pub async fn wait(&self) {
        self.done.notified().await;
    }
}
