//! [`Handler`]: the code that handles the events of a stage.

use std::collections::VecDeque;
use std::fmt;

/// Handles the events of a stage, one batch at a time.
///
/// A handler is a closure or function from [`Events`] to a future, an [`each`], or, for state that is
/// used across awaits, a type of your own:
///
/// ```
/// # mod colored { pub use colored_core::yield_now; pub use colored_stage::stage; }
/// use colored::stage::{Events, Handler};
///
/// struct Totals {
///     sum: u64,
/// }
///
/// impl Handler<u64> for Totals {
///     async fn handle(&mut self, events: &mut Events<u64>) {
///         for event in events {
///             self.sum += event;
///             colored::yield_now().await;
///         }
///     }
/// }
/// ```
///
/// Each partition has a handler of its own, and never handles two batches at once, even while the
/// handler waits. So the handler's fields need no lock.
pub trait Handler<E>: Send + 'static {
    /// Handles a batch of at least one event, in the order in which the stage accepted them. The stage
    /// drops events that are left when the future is ready, and counts them as handled.
    ///
    /// A panic loses the events of the batch; the stage goes on with the same handler.
    fn handle(&mut self, events: &mut Events<E>) -> impl Future<Output = ()> + Send;
}

impl<E, F, R> Handler<E> for F
where
    E: Send + 'static,
    F: FnMut(Events<E>) -> R + Send + 'static,
    R: Future<Output = ()> + Send,
{
    fn handle(&mut self, events: &mut Events<E>) -> impl Future<Output = ()> + Send {
        self(std::mem::take(events))
    }
}

/// A handler that calls `f` with one event after another, and does not await. It is the cheapest
/// handler. The closure may own state.
pub fn each<E, F: FnMut(E) + Send + 'static>(f: F) -> Each<F> {
    // The stage determines the type of the events; here it only tells the compiler the type of `f`.
    Each(f)
}

/// See [`each`].
#[derive(Clone)]
pub struct Each<F>(F);

impl<E: Send + 'static, F: FnMut(E) + Send + 'static> Handler<E> for Each<F> {
    async fn handle(&mut self, events: &mut Events<E>) {
        events.for_each(&mut self.0);
    }
}

impl<F> fmt::Debug for Each<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Each(..)")
    }
}

/// The events of a batch: an iterator that takes them out.
pub struct Events<E>(VecDeque<E>);

impl<E> Events<E> {
    /// Takes the first `count` events of a queue, or all. The earlier events have been dropped already.
    pub(super) fn refill(&mut self, queue: &mut VecDeque<E>, count: usize) {
        debug_assert!(self.0.is_empty(), "the batch before is over");
        if count >= queue.len() {
            // The two buffers alternate.
            std::mem::swap(&mut self.0, queue);
        } else {
            self.0.extend(queue.drain(..count));
        }
    }

    /// Drops the remaining events, one by one: a destructor that panics harms no other event.
    pub(super) fn clear(&mut self) {
        while let Some(event) = self.0.pop_front() {
            colored_core::contain(|| drop(event));
        }
    }
}

impl<E> Default for Events<E> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<E> Iterator for Events<E> {
    type Item = E;

    #[inline]
    fn next(&mut self) -> Option<E> {
        self.0.pop_front()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.len(), Some(self.0.len()))
    }
}

impl<E> ExactSizeIterator for Events<E> {}

impl<E> fmt::Debug for Events<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Events({})", self.0.len())
    }
}
