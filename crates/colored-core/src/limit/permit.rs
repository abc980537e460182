//! [`Permit`]: the right to have one item under a limit, and the items that have it.

use super::items::Key;
use super::semaphore::Semaphore;
use super::{Inner, Limit};
use crate::lane::current;
use crate::spawn::{self, JoinHandle};
use crate::sync::Arc;
use pin_project_lite::pin_project;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Room for one item under a [`Limit`], from [`Limit::reserve`]. It is counted while it lives, and
/// dropping it gives it to whoever waits.
///
/// For taking room before there is work: an accept loop that reserves first leaves what it cannot
/// serve in the backlog of its socket.
pub struct Permit(Arc<Inner>);

impl Permit {
    /// For an item that has gone in.
    pub(super) fn of(inner: &Arc<Inner>) -> Self {
        Self(Arc::clone(inner))
    }

    /// Spawns a task under the color of the limit. The task has the permit until its future has been
    /// dropped. Also after a [`Limit::close`]: the permit was there before.
    pub fn spawn<F>(self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let inner = Arc::clone(&self.0);
        let item = self.scheduled(true);
        spawn::spawn_on(&inner.lane, CountedTask { future, item })
    }

    /// The limit.
    #[must_use]
    pub fn limit(&self) -> Limit {
        Limit { inner: Arc::clone(&self.0) }
    }

    /// For an item that is scheduled at once; if not `surely`, its key is told when it has been.
    pub(super) fn scheduled(self, surely: bool) -> Item {
        let scheduler = self.0.handle.scheduler();
        let since = scheduler.now();
        self.0.delay.scheduled(since);
        let key = scheduler.has_had_sections().then(|| self.0.semaphore.items().enter(surely));
        if surely && key.is_some() {
            self.0.has_changed();
        }
        Item { since: Some(since), key, on_color: surely, permit: self }
    }

    /// For an item that does not wait.
    pub(super) fn begins_at_once(self) -> Item {
        self.0.delay.begins_at_once();
        Item { since: None, key: None, on_color: false, permit: self }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.has_left(Semaphore::leave);
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Permit").field(&self.0.lane.color()).finish()
    }
}

/// The permit of an item that is scheduled, or has begun.
pub(super) struct Item {
    /// When it was scheduled: nanoseconds of the scheduler. None once it has begun.
    since: Option<u64>,
    /// Since it was scheduled, if waits are recorded.
    key: Option<Key>,
    on_color: bool,
    /// Given back at last.
    permit: Permit,
}

impl Item {
    /// The item begins, if it has not.
    #[inline]
    pub(super) fn begin(&mut self) {
        if let Some(since) = self.since.take() {
            let inner = &self.permit.0;
            inner.delay.begins(since, inner.handle.scheduler().now());
        }
    }

    /// What the semaphore knows it by.
    pub(super) fn key(&self) -> Option<Key> {
        self.key
    }

    /// A task has been polled and is not ready.
    #[inline]
    fn goes_on(&mut self) {
        if let Some(key) = self.key {
            self.looks_where_it_is(key);
        }
    }

    #[cold]
    fn looks_where_it_is(&mut self, key: Key) {
        let inner = &self.permit.0;
        let on_color = current::hops_to()
            .map_or_else(|| inner.lane.is_current(), |to| to == inner.lane.color());
        if on_color != self.on_color {
            self.on_color = on_color;
            inner.semaphore.items().set(key, on_color);
            if on_color {
                inner.has_changed();
            }
        }
    }
}

impl Drop for Item {
    #[inline]
    fn drop(&mut self) {
        if self.since.is_some() {
            self.permit.0.delay.goes(self.permit.0.handle.scheduler().now());
        }
        if let Some(key) = self.key {
            self.permit.0.semaphore.items().leave(key);
        }
    }
}

/// A closure that has a permit until it has run, or is dropped.
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
    /// A future that has a permit; it is dropped before it gives the permit back.
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
            this.item.goes_on();
        }
        polled
    }
}
