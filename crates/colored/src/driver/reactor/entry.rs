//! The reactor's entry of one registered socket.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::readiness::{Readiness, Snapshot};
use super::ready::{Interest, Ready};
use super::waiters::Waiters;
use crate::wait_reason::{Kind, Reason};
use colored_machine::{self as machine, Tasks};

/// The state of one socket that the polling thread and the socket's tasks share.
///
/// No event is lost between the two: the poller first writes the readiness and then takes the
/// wakers under the lock; a task first leaves its waker under the lock and then, still under it,
/// reads the readiness. The second thread to get the lock sees what the first one did.
pub(crate) struct Entry {
    readiness: Readiness,
    waiters: Mutex<Waiters>,
    /// The descriptor that is registered.
    descriptor: u32,
}

impl Entry {
    /// An entry that takes the socket for `ready` until the system says more.
    pub(super) fn new(ready: Ready, descriptor: u32) -> Entry {
        Entry { readiness: Readiness::new(ready), waiters: Mutex::default(), descriptor }
    }

    /// Whether this is the entry of a socket with this descriptor.
    pub(super) fn is_of(&self, descriptor: u32) -> bool {
        self.descriptor == descriptor
    }

    /// What a task notes that waits for `interest`.
    fn reason(&self, interest: Interest) -> Reason {
        let is_write = interest == Interest::WRITABLE;
        Reason::new(if is_write { Kind::Writable } else { Kind::Readable }, self.descriptor)
    }

    /// Waits in the slot of one direction: only the last task to poll is woken.
    pub(crate) fn poll_slot(
        &self,
        cx: &mut Context<'_>,
        interest: Interest,
    ) -> Poll<io::Result<Snapshot>> {
        self.poll_with(cx, interest, |waiters, waker| waiters.set_slot(interest, waker))
    }

    fn poll_with(
        &self,
        cx: &mut Context<'_>,
        interest: Interest,
        leave: impl FnOnce(&mut Waiters, Waker) -> Option<Waker>,
    ) -> Poll<io::Result<Snapshot>> {
        let seen = self.answer(interest);
        if seen.is_ready() {
            return seen;
        }
        let waker = cx.waker().clone();
        let mut waiters = self.lock();
        let replaced = leave(&mut waiters, waker);
        let seen = self.answer(interest);
        drop(waiters);
        drop(replaced);
        if seen.is_pending() {
            self.reason(interest).note();
        }
        seen
    }

    fn answer(&self, interest: Interest) -> Poll<io::Result<Snapshot>> {
        let seen = self.readiness.load();
        if seen.is_shut_down() {
            return Poll::Ready(Err(shut_down()));
        }
        match seen.ready().and(interest.answered_by()).is_empty() {
            true => Poll::Pending,
            false => Poll::Ready(Ok(seen)),
        }
    }

    /// Returns the present readiness of the socket, without waiting.
    pub(crate) fn now(&self) -> io::Result<Snapshot> {
        let seen = self.readiness.load();
        if seen.is_shut_down() { Err(shut_down()) } else { Ok(seen) }
    }

    /// See [`Readiness::know`].
    pub(crate) fn know(&self, interest: Interest) {
        if interest.is_readable() {
            self.readiness.know();
        }
    }

    /// See [`Readiness::exhausted`].
    pub(crate) fn exhausted(&self, seen: Snapshot, interest: Interest) {
        self.readiness.exhausted(seen, interest);
    }

    /// See [`Readiness::drained`].
    pub(crate) fn drained(&self, seen: Snapshot, interest: Interest) {
        self.readiness.drained(seen, interest);
    }

    /// The poller saw an event.
    pub(super) fn mark(&self, event: &mio::event::Event, wakers: &mut Vec<Waker>) {
        let ready = Ready::of(event);
        self.readiness.mark(ready, event.is_priority());
        self.lock().take(ready, wakers);
    }

    /// As an event of the system. Appends the wakers to call.
    pub(crate) fn mark_ready(&self, ready: Ready, wakers: &mut Vec<Waker>) {
        self.readiness.mark(ready, false);
        self.lock().take(ready, wakers);
    }

    /// The runtime ends: every wait, present and future, is answered by an error.
    pub(super) fn shut_down(&self, wakers: &mut Vec<Waker>) {
        self.readiness.shut_down();
        self.lock().take(Ready::ALL, wakers);
    }

    fn lock(&self) -> MutexGuard<'_, Waiters> {
        // A panic under this lock leaves the waiters whole: each change is one move.
        self.waiters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many tasks are listed.
    #[cfg(test)]
    pub(crate) fn listed(&self) -> usize {
        self.lock().listed()
    }
}

impl Tasks for Entry {
    fn mark(&self, ready: machine::Ready, wakers: &mut Vec<Waker>) {
        self.mark_ready(Ready::of_machine(ready), wakers);
    }
}

/// A task in the list of waiters of a socket. An event wakes all of them.
/// Dropping this removes the task from the list.
pub(crate) struct ListedWaiter<'a> {
    entry: &'a Entry,
    interest: Interest,
    key: Option<usize>,
}

impl<'a> ListedWaiter<'a> {
    /// The first poll that has to wait enters the list.
    pub(crate) fn new(entry: &'a Entry, interest: Interest) -> ListedWaiter<'a> {
        ListedWaiter { entry, interest, key: None }
    }

    /// Waits in the list.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Snapshot>> {
        let ListedWaiter { entry, interest, ref mut key } = *self;
        entry.poll_with(cx, interest, |waiters, waker| waiters.list(key, interest, waker))
    }
}

impl Drop for ListedWaiter<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let waker = self.entry.lock().unlist(key);
            drop(waker);
            self.entry.reason(self.interest).forget();
        }
    }
}

/// The error of I/O on a socket that has outlived its runtime.
pub(super) fn shut_down() -> io::Error {
    let text = "the runtime of this socket has shut down; a socket works only while it runs";
    io::Error::other(text)
}
