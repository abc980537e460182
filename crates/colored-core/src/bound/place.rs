//! [`Place`]: the right to have one item under a bound, and the items that have it.

use super::gate::Gate;
use super::home::Key;
use super::{Bound, Inner};
use crate::lane::current;
use crate::spawn::{self, JoinHandle};
use crate::sync::Arc;
use pin_project_lite::pin_project;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Room for one item under a [`Bound`], from [`Bound::reserve`]. It is counted while it lives, and
/// dropping it gives it to whoever waits.
///
/// For taking room before there is work: an accept loop that reserves first leaves what it cannot
/// serve in the backlog of its socket.
pub struct Place(Arc<Inner>);

impl Place {
    /// For an item that has gone in.
    pub(super) fn of(inner: &Arc<Inner>) -> Self {
        Self(Arc::clone(inner))
    }

    /// Spawns a task under the color of the bound. The task has the place until its future has been
    /// dropped. Also after a [`Bound::close`]: the place was there before.
    pub fn spawn<F>(self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let inner = Arc::clone(&self.0);
        let item = self.scheduled(true);
        spawn::spawn_on(&inner.lane, Task { future, item })
    }

    /// The bound.
    #[must_use]
    pub fn bound(&self) -> Bound {
        Bound { inner: Arc::clone(&self.0) }
    }

    /// For an item that is scheduled at once; if not `surely`, its key is told when it has been.
    pub(super) fn scheduled(self, surely: bool) -> Item {
        let scheduler = self.0.handle.scheduler();
        let since = scheduler.now();
        self.0.delay.scheduled(since);
        let key = scheduler.has_had_sections().then(|| self.0.gate.homes().enter(surely));
        if surely && key.is_some() {
            self.0.has_changed();
        }
        Item { since: Some(since), key, at_home: surely, place: self }
    }

    /// For an item that does not wait.
    pub(super) fn begins_at_once(self) -> Item {
        self.0.delay.begins_at_once();
        Item { since: None, key: None, at_home: false, place: self }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.has_left(Gate::leave);
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Place").field(&self.0.lane.color()).finish()
    }
}

/// The place of an item that is scheduled, or has begun.
pub(super) struct Item {
    /// When it was scheduled: nanoseconds of the scheduler. None once it has begun.
    since: Option<u64>,
    /// Since it was scheduled, if waits are recorded.
    key: Option<Key>,
    at_home: bool,
    /// Given back at last.
    place: Place,
}

impl Item {
    /// The item begins, if it has not.
    #[inline]
    pub(super) fn begin(&mut self) {
        if let Some(since) = self.since.take() {
            let inner = &self.place.0;
            inner.delay.begins(since, inner.handle.scheduler().now());
        }
    }

    /// What the gate knows it by.
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
        let inner = &self.place.0;
        let at_home = current::hops_to()
            .map_or_else(|| inner.lane.is_current(), |to| to == inner.lane.color());
        if at_home != self.at_home {
            self.at_home = at_home;
            inner.gate.homes().set(key, at_home);
            if at_home {
                inner.has_changed();
            }
        }
    }
}

impl Drop for Item {
    #[inline]
    fn drop(&mut self) {
        if self.since.is_some() {
            self.place.0.delay.goes(self.place.0.handle.scheduler().now());
        }
        if let Some(key) = self.key {
            self.place.0.gate.homes().leave(key);
        }
    }
}

/// A closure that has a place until it has run, or is dropped.
pub(super) struct Turn<F> {
    f: F,
    item: Item,
}

impl<F> Turn<F> {
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
    /// A future that has a place; it is dropped before it gives the place back.
    struct Task<F> {
        #[pin]
        future: F,
        item: Item,
    }
}

impl<F: Future> Future for Task<F> {
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
