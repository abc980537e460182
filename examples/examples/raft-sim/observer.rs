//! What holds over all hosts at all times.

use crate::message::{Address, Entry, Term};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Sees what all hosts do.
#[derive(Clone, Default)]
pub(crate) struct Observer(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    leaders: BTreeMap<Term, Address>,
    applied: Vec<Entry>,
}

impl Observer {
    /// A host leads a term.
    pub(crate) fn note_leader(&self, term: Term, host: Address) {
        let mut seen = self.0.lock().unwrap();
        let leader = *seen.leaders.entry(term).or_insert(host);
        drop(seen);
        assert!(leader == host, "a term has two leaders");
    }

    /// How many terms have had a leader.
    pub(crate) fn count_terms(&self) -> usize {
        self.0.lock().unwrap().leaders.len()
    }

    /// A host applies an entry, as its `index`-th.
    pub(crate) fn note_applied(&self, index: usize, entry: Entry) {
        let mut seen = self.0.lock().unwrap();
        if index == seen.applied.len() {
            seen.applied.push(entry);
        }
        let first = seen.applied.get(index).copied();
        drop(seen);
        assert!(first == Some(entry), "two hosts apply different entries");
    }
}
