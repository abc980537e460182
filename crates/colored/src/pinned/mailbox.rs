//! The queue between the handles of a cell and the task that owns the value.
//!
//! Closing it and emptying it are one step under the lock: so the owner takes out or drops every
//! closure that is put in, or the late sender gets it back. No closure stays behind for a caller to wait for.

use colored_core::Address;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// A use of the value.
pub(super) type Message<T> = Box<dyn FnOnce(&mut T) + Send>;

struct State<T> {
    queue: VecDeque<Message<T>>,
    owner: Option<Waker>,
    senders: usize,
    /// Where the owner is, while there is one.
    home: Option<Address>,
    closed: bool,
}

type Shared<T> = Arc<Mutex<State<T>>>;

fn lock<T>(shared: &Shared<T>) -> MutexGuard<'_, State<T>> {
    // No foreign code runs under the lock but the clone of a waker, which leaves nothing half done.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A handle's end.
pub(super) struct Sender<T>(Shared<T>);

/// The owner's end.
pub(super) struct Receiver<T>(Shared<T>);

pub(super) fn mailbox<T>(home: Option<Address>) -> (Sender<T>, Receiver<T>) {
    let state = State { queue: VecDeque::new(), owner: None, senders: 1, home, closed: false };
    let shared = Arc::new(Mutex::new(state));
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

impl<T> Sender<T> {
    /// Puts a message behind the others, or gives it back if the receiver is gone.
    pub(super) fn send(&self, message: Message<T>) -> Result<(), Message<T>> {
        let owner = {
            let mut state = lock(&self.0);
            if state.closed {
                return Err(message);
            }
            state.queue.push_back(message);
            state.owner.take()
        };
        if let Some(owner) = owner {
            owner.wake();
        }
        Ok(())
    }

    /// Under which color messages are taken out, if they are.
    pub(super) fn home(&self) -> Option<Address> {
        lock(&self.0).home.clone()
    }

    pub(super) fn is_closed(&self) -> bool {
        lock(&self.0).closed
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        lock(&self.0).senders += 1;
        Self(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let owner = {
            let mut state = lock(&self.0);
            state.senders -= 1;
            if state.senders == 0 { state.owner.take() } else { None }
        };
        if let Some(owner) = owner {
            owner.wake();
        }
    }
}

impl<T> Receiver<T> {
    /// All that is there, in order; `None` once there is nothing and no sender is left.
    pub(super) fn poll_all(&mut self, cx: &mut Context<'_>) -> Poll<Option<VecDeque<Message<T>>>> {
        let mut state = lock(&self.0);
        if !state.queue.is_empty() {
            return Poll::Ready(Some(std::mem::take(&mut state.queue)));
        }
        if state.senders == 0 {
            return Poll::Ready(None);
        }
        let known = state.owner.as_ref().is_some_and(|owner| owner.will_wake(cx.waker()));
        if !known {
            let waker = cx.waker().clone();
            let old = state.owner.replace(waker);
            drop(state);
            drop(old);
        }
        Poll::Pending
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let (queue, owner, home) = {
            let mut state = lock(&self.0);
            state.closed = true;
            (std::mem::take(&mut state.queue), state.owner.take(), state.home.take())
        };
        // A task that waits for one of these messages is recorded to wait for its color until the message is dropped.
        drop((queue, owner));
        drop(home);
    }
}
