//! How the partitions of a consumer share its bounds.
//!
//! Half of a bound is for all. Of the other half each partition has an equal part that no other one uses. So a partition
//! goes on whatever the others hold: a backlog of a slow key delays no other partition.

use super::claimed::Claimed;
use super::options::Settings;

/// What a partition may still have of one bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    /// The part of each partition.
    own: usize,
    /// What nobody has of the half for all.
    free: usize,
}

/// The shares of records and of bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shares {
    pub(crate) records: Share,
    pub(crate) bytes: Share,
}

impl Shares {
    pub(crate) fn new<'a>(
        settings: &Settings,
        claims: impl Iterator<Item = &'a Claimed> + Clone,
    ) -> Shares {
        Shares {
            records: Share::new(settings.records, claims.clone().map(|claimed| claimed.records)),
            bytes: Share::new(settings.bytes, claims.map(|claimed| claimed.bytes)),
        }
    }
}

impl Share {
    fn new(bound: usize, used: impl Iterator<Item = usize> + Clone) -> Share {
        let own = (bound / 2 / used.clone().count().max(1)).max(1);
        let taken: usize = used.map(|used| used.saturating_sub(own)).sum();
        Share { own, free: (bound - bound / 2).saturating_sub(taken) }
    }

    /// How much more a partition may have that has so much.
    pub(crate) fn left(self, used: usize) -> usize {
        self.own.saturating_sub(used) + self.free
    }

    /// Whether the rest is too little for a read. If it was so, it is until half of its own part is free.
    pub(crate) fn is_used_up(self, used: usize, was_used_up: bool) -> bool {
        self.left(used) <= if was_used_up { self.own / 2 } else { self.own / 8 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the others have, a partition without a record may have its part, and all together have the bound.
    #[test]
    fn each_partition_has_its_part() {
        let used = [500, 125, 100, 0];
        let share = Share::new(1_000, used.into_iter());
        assert_eq!(share, Share { own: 125, free: 125 });
        assert_eq!(used.map(|used| share.left(used)), [125, 125, 150, 250]);
        let stuck = [625, 125, 125, 0];
        let share = Share::new(1_000, stuck.into_iter());
        assert_eq!(stuck.map(|used| share.left(used)), [0, 0, 0, 125]);
        assert_eq!(stuck.map(|used| share.is_used_up(used, false)), [true, true, true, false]);
    }

    #[test]
    fn a_single_partition_has_the_whole_bound() {
        let share = |used| Share::new(1_000, [used].into_iter());
        assert_eq!([0, 400, 700].map(|used| share(used).left(used)), [1_000, 600, 300]);
        let is_used_up = |used, is_paused| share(used).is_used_up(used, is_paused);
        assert!(is_used_up(940, false) && !is_used_up(930, false));
        assert!(is_used_up(760, true) && !is_used_up(740, true));
    }

    /// A bound that is smaller than the number of partitions still lets each of them have one record.
    #[test]
    fn a_small_bound_leaves_one_for_each() {
        let share = Share::new(1, [1, 0, 0].into_iter());
        assert_eq!((share.left(1), share.left(0)), (1, 2));
        let share = Share::new(1, [2, 1, 0].into_iter());
        assert_eq!((share.left(2), share.left(1), share.left(0)), (0, 0, 1));
    }
}
