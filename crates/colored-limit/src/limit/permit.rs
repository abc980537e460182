//! [`Permit`]: room for one item under a limit; and the items that hold a permit.

use super::{Inner, Limit};
use crate::semaphore::{Key, Semaphore};
use colored_core::JoinHandle;
use colored_core::port::sync::Arc;
use pin_project_lite::pin_project;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Room for one item under a [`Limit`], from [`Limit::reserve`]. The limit counts it until it is
/// dropped, which passes the room to the next waiter.
///
/// Use it to take room before there is work: an accept loop that reserves first leaves connections
/// that it cannot serve in the backlog of its socket.
pub struct Permit(Arc<Inner>);

impl Permit {
    /// The permit of an item that has been admitted.
    pub(super) fn of(inner: &Arc<Inner>) -> Self {
        Self(Arc::clone(inner))
    }

    /// Spawns a task under the color of the limit. The task keeps the permit until its future has
    /// been dropped. This works also after [`Limit::close`], because the permit was granted before.
    pub fn spawn<F>(self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let inner = Arc::clone(&self.0);
        let item = self.scheduled(true);
        inner.address.spawn(CountedTask { future, item })
    }

    /// The limit.
    #[must_use]
    pub fn limit(&self) -> Limit {
        Limit { inner: Arc::clone(&self.0) }
    }

    /// The permit of an item that is scheduled at once. If it may not be scheduled (not `surely`),
    /// its key is updated when it is.
    pub(super) fn scheduled(self, surely: bool) -> Item {
        let scheduler = self.0.handle.scheduler();
        let since = scheduler.now();
        self.0.delay.record_scheduled(since);
        let key = scheduler.has_had_sections().then(|| self.0.semaphore.items().enter(surely));
        if surely && key.is_some() {
            self.0.stir();
        }
        Item { since: Some(since), key, on_color: surely, permit: self }
    }

    /// The permit of an item that runs at once.
    pub(super) fn record_immediate(self) -> Item {
        self.0.delay.record_immediate();
        Item { since: None, key: None, on_color: false, permit: self }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.release(Semaphore::leave);
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Permit").field(&self.0.address.color()).finish()
    }
}

/// The permit of an item that is scheduled, or has begun.
pub(super) struct Item {
    /// When the item was scheduled: nanoseconds of the scheduler. `None` once it has begun.
    since: Option<u64>,
    /// Set when the item is scheduled, if waits are recorded.
    key: Option<Key>,
    on_color: bool,
    /// Dropped last.
    permit: Permit,
}

impl Item {
    /// The item begins, if it has not.
    #[inline]
    pub(super) fn begin(&mut self) {
        if let Some(since) = self.since.take() {
            let inner = &self.permit.0;
            inner.delay.record_begin(since, inner.handle.scheduler().now());
        }
    }

    /// The key of the item in the semaphore.
    pub(super) fn key(&self) -> Option<Key> {
        self.key
    }

    /// A task has been polled and is not ready.
    #[inline]
    fn update(&mut self) {
        if let Some(key) = self.key {
            self.update_place(key);
        }
    }

    #[cold]
    fn update_place(&mut self, key: Key) {
        let inner = &self.permit.0;
        let on_color = inner.address.is_next();
        if on_color != self.on_color {
            self.on_color = on_color;
            inner.semaphore.items().set(key, on_color);
            if on_color {
                inner.stir();
            }
        }
    }
}

impl Drop for Item {
    #[inline]
    fn drop(&mut self) {
        if self.since.is_some() {
            self.permit.0.delay.record_drop(self.permit.0.handle.scheduler().now());
        }
        if let Some(key) = self.key {
            self.permit.0.semaphore.items().leave(key);
        }
    }
}

/// A closure that holds a permit until it has run or is dropped.
pub(super) struct CountedCall<F> {
    f: F,
    item: Item,
}

impl<F> CountedCall<F> {
    pub(super) fn new(f: F, item: Item) -> Self {
        Self { f, item }
    }

    pub(super) fn run<T, R>(mut self, value: &mut T) -> R
    where
        F: FnOnce(&mut T) -> R,
    {
        self.item.begin();
        (self.f)(value)
    }
}

pin_project! {
    /// A future that holds a permit; the future is dropped before the permit is released.
    struct CountedTask<F> {
        #[pin]
        future: F,
        item: Item,
    }
}

impl<F: Future> Future for CountedTask<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        this.item.begin();
        let polled = this.future.poll(cx);
        if polled.is_pending() {
            this.item.update();
        }
        polled
    }
}
