//! Events: a closure that runs once, or a poll of a task.

use super::Shared;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

pub(super) struct Event {
    pub(super) color: u16,
    pub(super) what: What,
}

pub(super) enum What {
    Call(Box<dyn FnOnce() + Send>),
    Poll(Arc<Task>),
}

impl What {
    pub(super) fn run(self) {
        match self {
            What::Call(event) => event(),
            What::Poll(task) => task.run(),
        }
    }
}

type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

pub(super) struct Task {
    shared: Arc<Shared>,
    color: u16,
    /// Whether there is an event for the task.
    scheduled: AtomicBool,
    /// `None` when the task is complete. Only one event of a color runs at a time, so no thread waits for
    /// the lock.
    future: Mutex<Option<Boxed>>,
}

impl Task {
    /// Makes a task. The caller adds its first event.
    pub(super) fn new(shared: Arc<Shared>, color: u16, future: Boxed) -> Arc<Self> {
        let (scheduled, future) = (AtomicBool::new(true), Mutex::new(Some(future)));
        Arc::new(Self { shared, color, scheduled, future })
    }

    pub(super) fn run(self: Arc<Self>) {
        // Ordering: pairs with the swap in `wake`: the poll sees all writes before a wake-up.
        self.scheduled.swap(false, Ordering::AcqRel);
        let waker = Waker::from(Arc::clone(&self));
        let mut future = self.future.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(polled) = &mut *future
            && let Poll::Ready(()) = polled.as_mut().poll(&mut Context::from_waker(&waker))
        {
            *future = None;
            self.shared.disown(self.color);
        }
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        // Ordering: see `run`.
        if !self.scheduled.swap(true, Ordering::AcqRel) {
            let (shared, color) = (Arc::clone(&self.shared), self.color);
            shared.push(Event { color, what: What::Poll(self) });
        }
    }

    fn wake_by_ref(self: &Arc<Self>) {
        Arc::clone(self).wake();
    }
}
