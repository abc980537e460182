//! Which clients may cache which files, and until when.
//!
//! While a file changes, nobody gets a lease of it: a cache that is filled during a change could have the old data, and be
//! asked to forget it before it has stored it.

use crate::nodes::Id;
use colored::time::{Duration, Instant};
use std::collections::BTreeMap;

/// A client with a cache. It keeps its number when it connects again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Holder(pub(crate) [u8; 16]);

/// After so many leases, those that have expired are removed. A guess.
const SWEPT_AFTER: usize = 4096;

#[derive(Debug, Default)]
struct Leased {
    holders: Vec<(Holder, Instant)>,
    /// How many changes are under way.
    changes: usize,
}

/// The leases of some files.
#[derive(Debug, Default)]
pub(crate) struct Leases {
    files: BTreeMap<Id, Leased>,
    taken: usize,
}

impl Leases {
    /// Gives the holder a lease, from now on; `false` while the file changes.
    pub(crate) fn take(&mut self, id: Id, holder: Holder, now: Instant, lease: Duration) -> bool {
        self.taken += 1;
        if self.taken.is_multiple_of(SWEPT_AFTER) {
            self.sweep(now);
        }
        let file = self.files.entry(id).or_default();
        if file.changes > 0 {
            return false;
        }
        file.holders.retain(|(other, _)| *other != holder);
        file.holders.push((holder, now + lease));
        true
    }

    /// Begins a change by a client, and returns who else has a lease. They have lost it when they have answered, or at that
    /// time.
    pub(crate) fn begin_change(
        &mut self,
        id: Id,
        by: Option<Holder>,
        now: Instant,
    ) -> Vec<(Holder, Instant)> {
        let file = self.files.entry(id).or_default();
        file.changes += 1;
        file.holders.retain(|(holder, until)| Some(*holder) != by && *until > now);
        file.holders.clone()
    }

    /// The client has no lease of the file any more.
    pub(crate) fn give_back(&mut self, id: Id, holder: Holder) {
        if let Some(file) = self.files.get_mut(&id) {
            file.holders.retain(|(other, _)| *other != holder);
        }
    }

    pub(crate) fn end_change(&mut self, id: Id) {
        if let Some(file) = self.files.get_mut(&id) {
            file.changes -= 1;
            if file.changes == 0 && file.holders.is_empty() {
                self.files.remove(&id);
            }
        }
    }

    /// The client has no lease of any file any more.
    pub(crate) fn give_all_back(&mut self, holder: Holder) {
        for file in self.files.values_mut() {
            file.holders.retain(|(other, _)| *other != holder);
        }
        self.files.retain(|_, file| file.changes > 0 || !file.holders.is_empty());
    }

    fn sweep(&mut self, now: Instant) {
        for file in self.files.values_mut() {
            file.holders.retain(|(_, until)| *until > now);
        }
        self.files.retain(|_, file| file.changes > 0 || !file.holders.is_empty());
    }

    /// How many leases are out, those that have expired and were not swept among them.
    pub(crate) fn len(&self) -> usize {
        self.files.values().map(|file| file.holders.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(10);
    const A: Holder = Holder([1; 16]);
    const B: Holder = Holder([2; 16]);

    #[test]
    fn a_change_calls_the_others_and_lets_nobody_in() {
        let (mut leases, now, id) = (Leases::default(), Instant::now(), Id(1));
        assert!(leases.take(id, A, now, LEASE) && leases.take(id, B, now, LEASE));
        let others = leases.begin_change(id, Some(A), now);
        assert_eq!(others, [(B, now + LEASE)]);
        assert!(!leases.take(id, A, now, LEASE));
        leases.give_back(id, B);
        leases.begin_change(id, None, now);
        leases.end_change(id);
        assert!(!leases.take(id, A, now, LEASE), "another change is under way");
        leases.end_change(id);
        assert_eq!(leases.len(), 0);
        assert!(leases.take(id, A, now, LEASE));
    }

    #[test]
    fn a_lease_ends() {
        let (mut leases, now, id) = (Leases::default(), Instant::now(), Id(1));
        leases.take(id, A, now, LEASE);
        leases.take(Id(2), A, now, LEASE);
        assert_eq!(leases.begin_change(id, None, now + LEASE), []);
        leases.give_all_back(A);
        assert_eq!(leases.len(), 0);
        leases.take(Id(3), A, now, LEASE);
        leases.sweep(now + LEASE);
        assert_eq!(leases.len(), 0);
    }
}
