//! The tasks that wait for one socket.

use std::task::Waker;

use slab::Slab;

use super::ready::{Interest, Ready};

/// The wakers of one socket. It is kept behind a lock; nothing here wakes, clones or drops a
/// foreign waker, because each of these can run a destructor that takes the lock again.
#[derive(Default)]
pub(super) struct Waiters {
    /// The last task that polled for reading.
    reader: Option<Waker>,
    /// The last task that polled for writing.
    writer: Option<Waker>,
    /// Any number of tasks inside `&self` methods, each with an entry of its own.
    listed: Slab<Listed>,
}

/// One task inside a `&self` method.
struct Listed {
    interest: Interest,
    /// Empty from its wake until the task is polled again.
    waker: Option<Waker>,
}

impl Waiters {
    /// Puts `waker` in the slot of the direction of `interest`; returns the replaced waker.
    pub(super) fn set_slot(&mut self, interest: Interest, waker: Waker) -> Option<Waker> {
        let slot = if interest.is_readable() { &mut self.reader } else { &mut self.writer };
        slot.replace(waker)
    }

    /// Lists `waker` under `key`, or under a new one; returns the replaced waker.
    pub(super) fn list(
        &mut self,
        key: &mut Option<usize>,
        interest: Interest,
        waker: Waker,
    ) -> Option<Waker> {
        match *key {
            Some(key) => self.listed[key].waker.replace(waker),
            None => {
                *key = Some(self.listed.insert(Listed { interest, waker: Some(waker) }));
                None
            }
        }
    }

    /// Forgets the task listed under `key`; hands back its waker.
    pub(super) fn unlist(&mut self, key: usize) -> Option<Waker> {
        self.listed.remove(key).waker
    }

    /// Moves the wakers of all waiters that `ready` satisfies to the end of `wakers`.
    pub(super) fn take(&mut self, ready: Ready, wakers: &mut Vec<Waker>) {
        let answers = |interest: Interest| !interest.answered_by().and(ready).is_empty();
        if answers(Interest::READABLE) {
            wakers.extend(self.reader.take());
        }
        if answers(Interest::WRITABLE) {
            wakers.extend(self.writer.take());
        }
        for (_, listed) in &mut self.listed {
            if answers(listed.interest) {
                wakers.extend(listed.waker.take());
            }
        }
    }

    /// How many tasks are inside `&self` methods.
    #[cfg(test)]
    pub(super) fn listed(&self) -> usize {
        self.listed.len()
    }
}
