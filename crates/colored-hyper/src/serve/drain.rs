//! [`Drain`]: the table of open connections, and the signal for them to end.
//!
//! In each poll a connection reads one shared byte, which the server writes twice in its life. The
//! connection takes the lock only when it opens, closes, or is polled with another waker than before.

use slab::Slab;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// The state that connections follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Phase {
    /// Go on.
    Serve,
    /// Finish running requests, and close.
    Drain,
    /// Close at once.
    Cut,
}

/// The server's side.
#[derive(Clone)]
pub(super) struct Drain(Arc<Shared>);

/// A connection's side; dropping it is closing.
pub(super) struct Open {
    shared: Arc<Shared>,
    key: usize,
    /// The same as in the table, to compare without the lock.
    waker: Option<Waker>,
}

struct Shared {
    phase: AtomicU8,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    connections: Slab<Option<Waker>>,
    /// The task that waits until there are fewer connections than this number.
    fewer: Option<(usize, Waker)>,
}

impl Drain {
    pub(super) fn new() -> Drain {
        let phase = AtomicU8::new(Phase::Serve as u8);
        Drain(Arc::new(Shared { phase, table: Mutex::default() }))
    }

    /// Enters a connection.
    pub(super) fn open(&self) -> Open {
        let key = self.0.lock().connections.insert(None);
        Open { shared: Arc::clone(&self.0), key, waker: None }
    }

    /// Ready while there are fewer than `limit` connections.
    pub(super) fn poll_fewer_than(&self, limit: usize, cx: &mut Context<'_>) -> Poll<()> {
        let mut table = self.0.lock();
        if table.connections.len() < limit {
            return Poll::Ready(());
        }
        let before = table.fewer.replace((limit, cx.waker().clone()));
        drop(table);
        drop(before);
        Poll::Pending
    }

    /// How many connections are open.
    pub(super) fn connections(&self) -> usize {
        self.0.lock().connections.len()
    }

    /// Tells all connections.
    pub(super) fn enter(&self, phase: Phase) {
        // Ordering: Release pairs with the load in `Open::poll`. A connection that registers after
        // the wakers below were taken sees it anyway, by the lock.
        self.0.phase.store(phase as u8, Ordering::Release);
        let wakers: Vec<Waker> =
            self.0.lock().connections.iter().filter_map(|(_, waker)| waker.clone()).collect();
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl Open {
    /// The server that has this connection.
    pub(super) fn drain(&self) -> Drain {
        Drain(Arc::clone(&self.shared))
    }

    /// Returns the present state. A later change wakes the task of `cx`.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Phase {
        if !self.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            let waker = Some(cx.waker().clone());
            let before = self.shared.lock().connections[self.key].replace(cx.waker().clone());
            drop(before);
            self.waker = waker;
        }
        // Ordering: Acquire pairs with the store in `Drain::enter`.
        match self.shared.phase.load(Ordering::Acquire) {
            0 => Phase::Serve,
            1 => Phase::Drain,
            _ => Phase::Cut,
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut table = self.shared.lock();
        let waker = table.connections.remove(self.key);
        let few = table.connections.len();
        let fewer = table.fewer.take_if(|(limit, _)| few < *limit);
        drop(table);
        drop(waker);
        if let Some((_, waiting)) = fewer {
            waiting.wake();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Table> {
        // No code of others runs under this lock: nothing can be left half done.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::task::Wake;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn counter() -> (Arc<Count>, Waker) {
        let count = Arc::new(Count::default());
        (Arc::clone(&count), Waker::from(count))
    }

    #[test]
    fn a_change_of_phase_wakes_the_connections_that_have_polled() {
        let drain = Drain::new();
        let (mut polled, mut idle) = (drain.open(), drain.open());
        let (wakes, waker) = counter();
        let mut cx = Context::from_waker(&waker);
        assert_eq!(polled.poll(&mut cx), Phase::Serve);
        drain.enter(Phase::Drain);
        assert_eq!(wakes.0.load(Ordering::Relaxed), 1);
        assert_eq!(polled.poll(&mut cx), Phase::Drain);
        assert_eq!(idle.poll(&mut cx), Phase::Drain);
        drain.enter(Phase::Cut);
        assert_eq!(wakes.0.load(Ordering::Relaxed), 3);
        assert_eq!(polled.poll(&mut cx), Phase::Cut);
    }

    #[test]
    fn a_waiter_for_fewer_connections_is_woken_once_and_not_before() {
        let drain = Drain::new();
        let (wakes, waker) = counter();
        let mut cx = Context::from_waker(&waker);
        let open: Vec<_> = (0..3).map(|_| drain.open()).collect();
        assert!(drain.poll_fewer_than(2, &mut cx).is_pending());
        assert!(drain.poll_fewer_than(4, &mut cx).is_ready());
        let woken: Vec<_> = open
            .into_iter()
            .map(|open| {
                drop(open);
                wakes.0.load(Ordering::Relaxed)
            })
            .collect();
        assert_eq!(woken, [0, 1, 1]);
        assert_eq!(drain.connections(), 0);
    }
}
