//! What a host still has after a crash.

use crate::Bug;
use crate::message::{Address, Entry, Term};
use std::sync::{Arc, Mutex};

/// The state that a host must not forget.
#[derive(Clone, Debug, Default)]
pub(crate) struct Durable {
    pub(crate) term: Term,
    pub(crate) voted_for: Option<Address>,
    pub(crate) log: Vec<Entry>,
}

impl Durable {
    pub(crate) fn last_term(&self) -> Term {
        self.log.last().map_or(0, |entry| entry.term)
    }

    /// The term of the last of the first `length` entries.
    pub(crate) fn term_before(&self, length: usize) -> Term {
        length.checked_sub(1).map_or(0, |last| self.log[last].term)
    }
}

/// A host's disk.
#[derive(Clone, Default)]
pub(crate) struct Disk(Arc<Mutex<Durable>>);

impl Disk {
    pub(crate) fn load(&self) -> Durable {
        self.0.lock().unwrap().clone()
    }

    /// Writes, before a message says that it is so.
    pub(crate) fn save(&self, durable: &Durable, bug: Bug) {
        let mut saved = self.0.lock().unwrap();
        let Durable { term, voted_for, ref log } = *durable;
        (saved.term, saved.voted_for) = (term, voted_for);
        if bug != Bug::ForgetsLog {
            saved.log.clone_from(log);
        }
    }
}
