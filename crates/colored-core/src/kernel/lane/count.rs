//! One word counts the references to a lane, and says whether the table has it.
//!
//! | bits | meaning | changed by |
//! |---|---|---|
//! | 0 | published: the table has the lane, or gets it before the hold ends | the holder sets it once |
//! | above | references | their owners |
//!
//! # The last reference
//!
//! Where the last reference goes depends on the other bit. The last reference to a published lane is given back under
//! the lock of its table shard, under which look-ups add references. The last reference to any other lane needs no
//! lock. Both are in one word, so that the exchange that takes the last reference also decides this. A thread that
//! reads the bit before the exchange may read an old value: the holder may publish the lane in between. Then the
//! exchange fails, because the bit has changed.

use crate::sync::{AtomicUsize, Ordering};

const PUBLISHED: usize = 1;
const ONE: usize = 2;

#[derive(Debug)]
pub(crate) struct Count(AtomicUsize);

/// The result of giving back references that may have been the last ones of a lane that is not published.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GivenBack {
    /// None is left, and no thread can add one.
    Last,
    /// Others are left.
    NotLast,
    /// The lane is published: none has been given back.
    Published,
}

impl Count {
    /// One reference.
    pub(crate) fn new(published: bool) -> Self {
        Self(AtomicUsize::new(ONE | usize::from(published)))
    }

    /// One reference to a lane that is not published. The caller has exclusive access.
    pub(crate) fn renew(&mut self) {
        *self = Self::new(false);
    }

    pub(crate) fn is_published(&self) -> bool {
        // Ordering: the holder sets it; others learn it through the table's lock, and the last owner by the exchange
        // that gives the last reference back.
        self.0.load(Ordering::Relaxed) & PUBLISHED != 0
    }

    /// Marks the lane as published; false if it was. Holder only.
    pub(crate) fn publish(&self) -> bool {
        // Ordering: see `is_published`. The holder keeps a reference, so the last one is not given back meanwhile.
        self.0.fetch_or(PUBLISHED, Ordering::Relaxed) & PUBLISHED == 0
    }

    /// How many references there are; may be out of date.
    pub(crate) fn get(&self) -> usize {
        // Ordering: the caller says why an old value will do.
        self.0.load(Ordering::Relaxed) / ONE
    }

    /// Adds references to one that exists, or under the lock of the table that has the lane.
    #[inline]
    pub(crate) fn retain(&self, refs: usize) {
        // Ordering: as for any reference count.
        self.0.fetch_add(refs * ONE, Ordering::Relaxed);
    }

    /// Gives references back if others are left; false if these are the last ones.
    #[inline]
    pub(crate) fn release_some(&self, refs: usize) -> bool {
        // Ordering: hint only, the exchange decides.
        let mut word = self.0.load(Ordering::Relaxed);
        while word / ONE > refs {
            // Ordering: Release orders this owner's use before the Acquire of the owner that takes the last one.
            match self.0.compare_exchange_weak(
                word,
                word - refs * ONE,
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    /// Gives references back unless the lane is published.
    pub(crate) fn release_unpublished(&self, refs: usize) -> GivenBack {
        // Ordering: hint only, the exchange decides.
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            if word & PUBLISHED != 0 {
                return GivenBack::Published;
            }
            // Ordering: Release orders this owner's use before the free, Acquire the others'.
            match self.0.compare_exchange_weak(
                word,
                word - refs * ONE,
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) if word / ONE == refs => return GivenBack::Last,
                Ok(_) => return GivenBack::NotLast,
                Err(now) => word = now,
            }
        }
    }

    /// Gives references to a published lane back, under the lock of its table shard; true if none is
    /// left.
    pub(crate) fn release_published(&self, refs: usize) -> bool {
        // Ordering: as in `release_unpublished`.
        self.0.fetch_sub(refs * ONE, Ordering::AcqRel) / ONE == refs
    }

    /// Makes the first reference to a lane that has none. No other thread can add one meanwhile.
    pub(crate) fn revive(&self) {
        // Ordering: a thread that finds the lane next does so through a lock that the caller has, or by a node that is
        // scheduled on it.
        self.0.fetch_add(ONE, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::{Count, GivenBack};

    #[test]
    fn a_release_takes_the_last_reference_only_where_it_may() {
        let count = Count::new(false);
        count.retain(2);
        assert_eq!(count.release_unpublished(1), GivenBack::NotLast);
        assert!(count.release_some(1));
        assert!(!count.release_some(1), "the last one is not given back in passing");
        assert!(count.publish());
        assert!(!count.publish());
        assert_eq!(count.release_unpublished(1), GivenBack::Published);
        assert_eq!(count.get(), 1);
        assert!(count.release_published(1));
        assert_eq!(count.get(), 0);
        count.revive();
        assert!(count.is_published());
        assert_eq!(count.get(), 1);
    }

    #[test]
    fn an_unpublished_lane_loses_its_last_reference_once() {
        let count = Count::new(false);
        assert_eq!(count.release_unpublished(1), GivenBack::Last);
        assert_eq!(count.get(), 0);
    }
}
