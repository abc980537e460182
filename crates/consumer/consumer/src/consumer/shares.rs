//! How the partitions of a consumer share its bounds.
//!
//! Half of a bound is for all. Of the other half each partition has an equal part that no other one uses. So a partition
//! goes on whatever the others hold: a backlog of a slow key delays no other partition.
//!
//! The half for all opens and closes for all partitions at once. Nothing else that one partition does concerns another one,
//! so a report costs the same with a thousand partitions as with one.

use super::options::Settings;
use crate::source::Room;

/// Records that were accepted and are neither done nor forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InFlight {
    pub(crate) records: usize,
    pub(crate) bytes: usize,
}

/// What all partitions hold of one bound.
#[derive(Debug)]
struct Share {
    bound: usize,
    /// The part of each partition.
    own: usize,
    /// All that partitions hold, and what they hold beyond their parts.
    held: usize,
    taken: usize,
    /// Whether a partition may hold more than its part.
    is_open: bool,
    /// Whether that has changed since somebody asked.
    has_changed: bool,
}

/// The shares of records and of bytes.
#[derive(Debug)]
pub(crate) struct Shares {
    records: Share,
    bytes: Share,
}

impl Shares {
    pub(crate) fn new(settings: &Settings) -> Shares {
        Shares { records: Share::new(settings.records), bytes: Share::new(settings.bytes) }
    }

    /// What all partitions hold.
    pub(crate) fn in_flight(&self) -> InFlight {
        InFlight { records: self.records.held, bytes: self.bytes.held }
    }

    /// There are these partitions from now on.
    pub(crate) fn divide(&mut self, held: impl Iterator<Item = InFlight> + Clone) {
        self.records.divide(held.clone().map(|of| of.records));
        self.bytes.divide(held.map(|of| of.bytes));
    }

    /// A partition holds so much more.
    pub(crate) fn add(&mut self, of: &mut InFlight, more: InFlight) {
        let to = InFlight { records: of.records + more.records, bytes: of.bytes + more.bytes };
        self.change(of, to);
    }

    /// A partition holds so much less.
    pub(crate) fn subtract(&mut self, of: &mut InFlight, less: InFlight) {
        let to = InFlight { records: of.records - less.records, bytes: of.bytes - less.bytes };
        self.change(of, to);
    }

    fn change(&mut self, of: &mut InFlight, to: InFlight) {
        let from = std::mem::replace(of, to);
        self.records.change(from.records, to.records);
        self.bytes.change(from.bytes, to.bytes);
    }

    /// Whether a half for all has opened or closed since the last call: that concerns all partitions.
    pub(crate) fn take_changed(&mut self) -> bool {
        let records = std::mem::take(&mut self.records.has_changed);
        std::mem::take(&mut self.bytes.has_changed) || records
    }

    /// Whether a partition that holds so much is to get no more: by its records, and by its bytes. What was reached is until
    /// the partition holds half of its part.
    pub(crate) fn are_reached(&self, of: InFlight, [records, bytes]: [bool; 2]) -> [bool; 2] {
        [self.records.is_reached(of.records, records), self.bytes.is_reached(of.bytes, bytes)]
    }

    /// What every partition may get that has reached no bound.
    pub(crate) fn room(&self) -> Room {
        Room { records: self.records.room(), bytes: self.bytes.room() }
    }
}

impl Share {
    fn new(bound: usize) -> Share {
        Share { bound, own: bound, held: 0, taken: 0, is_open: true, has_changed: false }
    }

    fn divide(&mut self, held: impl Iterator<Item = usize> + Clone) {
        self.own = (self.bound / 2 / held.clone().count().max(1)).max(1);
        self.held = held.clone().sum();
        self.taken = held.map(|held| held.saturating_sub(self.own)).sum();
        self.open_or_close();
    }

    fn change(&mut self, from: usize, to: usize) {
        self.held = self.held - from + to;
        let beyond = |held: usize| held.saturating_sub(self.own);
        self.taken = self.taken - beyond(from) + beyond(to);
        self.open_or_close();
    }

    /// Closes the half for all when an eighth of it is left, and opens it again at a quarter.
    fn open_or_close(&mut self) {
        let common = self.bound - self.bound / 2;
        let least = if self.is_open { common / 8 } else { common / 4 };
        let is_open = self.free() > least;
        self.has_changed |= is_open != self.is_open;
        self.is_open = is_open;
    }

    /// What nobody has of the half for all.
    fn free(&self) -> usize {
        (self.bound - self.bound / 2).saturating_sub(self.taken)
    }

    fn is_reached(&self, held: usize, was_reached: bool) -> bool {
        let most = if was_reached { self.own / 2 } else { self.own - self.own / 8 };
        !self.is_open && held >= most.max(1)
    }

    fn room(&self) -> usize {
        // An eighth of its own part, and one, is left to a partition that has not reached the bound.
        if self.is_open { self.free() } else { self.own / 8 + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(bound: usize, held: &[usize]) -> Share {
        let mut share = Share::new(bound);
        share.divide(held.iter().copied());
        share
    }

    /// Whatever the others have, a partition may have its part, and all together have the bound.
    #[test]
    fn each_partition_has_its_part() {
        let mut share = share(1_000, &[500, 125, 100, 0]);
        assert_eq!((share.own, share.free(), share.room()), (125, 125, 125));
        assert!(share.is_open && ![500, 0].into_iter().any(|held| share.is_reached(held, false)));
        share.change(500, 580);
        assert!(std::mem::take(&mut share.has_changed) && !share.is_open);
        let is_reached = [580, 125, 100, 0].map(|held| share.is_reached(held, false));
        assert_eq!(is_reached, [true, true, false, false]);
        assert_eq!(share.room(), 16);
        assert!(share.is_reached(100, true) && !share.is_reached(61, true));
        share.change(580, 520);
        assert!(!share.has_changed, "a little more room is not worth a read");
        share.change(520, 490);
        assert!(share.has_changed && !share.is_reached(490, true));
    }

    #[test]
    fn a_single_partition_has_the_whole_bound() {
        let mut share = share(1_000, &[0]);
        assert_eq!(share.room(), 500);
        share.change(0, 930);
        assert!(!share.is_reached(930, false));
        share.change(930, 940);
        assert!(share.is_reached(940, false));
        assert_eq!(share.held, 940);
    }

    /// What a partition may get never exceeds the bound, whichever partition gets it, and one that has nothing gets something.
    #[test]
    fn no_read_exceeds_the_bound() {
        for bound in 1..40 {
            for count in 1..6 {
                let mut held = vec![0; count];
                let mut share = share(bound, &held);
                let mut chance = fastrand::Rng::with_seed((bound * 10 + count) as u64);
                for _ in 0..200 {
                    let at = chance.usize(..count);
                    let (from, room) = (held[at], share.room());
                    assert!(room > 0);
                    assert!(from > 0 || !share.is_reached(0, true), "nothing is held");
                    held[at] = match share.is_reached(from, false) {
                        true => chance.usize(..=from),
                        false => from + chance.usize(..=room),
                    };
                    share.change(from, held[at]);
                    let most = bound.max(share.own * count + bound - bound / 2);
                    assert!(held.iter().sum::<usize>() <= most, "{held:?} of {bound}");
                }
            }
        }
    }
}
