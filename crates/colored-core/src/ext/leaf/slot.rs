//! The last wait without a record: a slot of one word in each task.
//!
//! | the slot is | since | a dump shows |
//! |---|---|---|
//! | empty | the task was made, or the leaf in it was dropped or forgotten | nothing |
//! | fresh | a leaf has returned `Pending` in the latest poll of the task | the leaf |
//! | stale | a later poll of the task has begun | nothing |
//!
//! So a leaf that is over, or was dropped in an earlier poll, is never shown. Within one poll the last leaf counts, with
//! one exception: a *guard*, such as the timer of a timeout, does not replace another leaf, because the other one is
//! what the task is about. A stale slot keeps its start for the leaf that writes the same again.
//!
//! The slot belongs to the owner that may move the task's node, as the list of records does. It is one word:
//!
//! | bits | meaning |
//! |---|---|
//! | 4 | tag; 0: empty |
//! | 1 | stale |
//! | 1 | the place in the source is known, and stands beside the argument |
//! | 1 | the place is known, and stands in the lower 12 bits of the next part; the argument, a short one, in the others |
//! | 25 | argument, or place ([`site_number`]) and short argument |
//! | 32 | the start in milliseconds, for 49 days. With a place beside the argument: 12 bits for the place, and the start in seconds, for 12 days. Later starts wrap around |

use super::{Leaf, SITE_BITS, site_number, site_of};

const TAG: u64 = 0xf;
const STALE: u64 = 1 << 4;
const SITED: u64 = 1 << 5;
const HAS_SHORT_ARG: u64 = 1 << 6;
const ARG_SHIFT: u32 = 7;
const ARG: u64 = (1 << Leaf::ARG_BITS) - 1;
const REST_SHIFT: u32 = ARG_SHIFT + Leaf::ARG_BITS;
const SINCE_SHIFT: u32 = REST_SHIFT + SITE_BITS;

const MILLI: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

impl Leaf {
    /// The part of the word that does not depend on the time, and the lowest bit above it.
    #[inline]
    fn bits(self) -> (u64, u32) {
        debug_assert!((1..16).contains(&self.tag), "a tag is 1 to 15");
        let (tag, arg) = (u64::from(self.tag) & TAG, u64::from(self.arg) & ARG);
        match self.site.and_then(site_number).map(u64::from) {
            None => (tag | arg << ARG_SHIFT, REST_SHIFT),
            Some(site) if arg >> Self::SHORT_ARG_BITS == 0 => {
                (tag | HAS_SHORT_ARG | (site | arg << SITE_BITS) << ARG_SHIFT, REST_SHIFT)
            }
            Some(site) => (tag | arg << ARG_SHIFT | SITED | site << REST_SHIFT, SINCE_SHIFT),
        }
    }
}

/// The slot.
#[derive(Debug)]
pub(crate) struct LeafSlot(u64);

impl LeafSlot {
    pub(crate) const fn new() -> Self {
        Self(0)
    }

    /// A poll of the task begins.
    #[inline]
    pub(crate) fn age(&mut self) {
        self.0 |= STALE;
    }

    /// A leaf has returned `Pending`, at this time: nanoseconds of the scheduler.
    #[inline]
    pub(crate) fn set(&mut self, leaf: Leaf, is_guard: bool, now: u64) {
        if is_guard && self.is_fresh() {
            return;
        }
        let (bits, shift) = leaf.bits();
        let is_same = (self.0 & !STALE ^ bits) << (u64::BITS - shift) == 0;
        self.0 = if is_same { self.0 & !STALE } else { bits | (now / unit(bits)) << shift };
    }

    /// Empties the slot if it is fresh and `is_it` says so.
    #[inline]
    pub(crate) fn forget(&mut self, is_it: impl FnOnce(Leaf) -> bool) {
        if self.get().is_some_and(is_it) {
            self.0 = 0;
        }
    }

    fn is_fresh(&self) -> bool {
        self.0 & TAG != 0 && self.0 & STALE == 0
    }

    fn get(&self) -> Option<Leaf> {
        let word = self.0;
        let arg = (word >> ARG_SHIFT & ARG) as u32;
        let site = |at: u32| site_of((word >> at) as u16 & ((1 << SITE_BITS) - 1));
        let (arg, site) = match (word & HAS_SHORT_ARG != 0, word & SITED != 0) {
            (true, _) => (arg >> SITE_BITS, site(ARG_SHIFT)),
            (_, true) => (arg, site(REST_SHIFT)),
            _ => (arg, None),
        };
        self.is_fresh().then_some(Leaf { tag: (word & TAG) as u8, arg, site })
    }

    /// The leaf of a fresh slot, and for how many nanoseconds it has waited at `now`: to a millisecond, or to a second if
    /// it has a place and a long argument.
    pub(crate) fn read(&self, now: u64) -> Option<(Leaf, u64)> {
        let (unit, shift) =
            (unit(self.0), if self.0 & SITED == 0 { REST_SHIFT } else { SINCE_SHIFT });
        let since = self.0 >> shift;
        let age = (now / unit).wrapping_sub(since) & (u64::MAX >> shift);
        Some((self.get()?, age * unit))
    }
}

fn unit(word: u64) -> u64 {
    if word & SITED == 0 { MILLI } else { SECOND }
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::{Leaf, LeafSlot};

    fn leaf(tag: u8, arg: u32) -> Leaf {
        Leaf { tag, arg, site: None }
    }

    fn at(slot: &LeafSlot, millis: u64) -> Option<(Leaf, u64)> {
        slot.read(millis * 1_000_000).map(|(leaf, age)| (leaf, age / 1_000_000))
    }

    #[test]
    fn the_latest_leaf_of_the_latest_poll_is_shown() {
        let mut slot = LeafSlot::new();
        assert_eq!(at(&slot, 5), None);
        slot.set(leaf(1, 77), false, 5_000_000);
        assert_eq!(at(&slot, 9), Some((leaf(1, 77), 4)));
        slot.set(leaf(2, (1 << 25) - 1), false, 6_000_000);
        assert_eq!(at(&slot, 9), Some((leaf(2, (1 << 25) - 1), 3)));
        slot.age();
        assert_eq!(at(&slot, 9), None, "it was not polled again");
    }

    #[test]
    fn a_leaf_that_goes_on_waiting_keeps_its_start() {
        let mut slot = LeafSlot::new();
        slot.set(leaf(3, 1), false, 5_000_000);
        slot.age();
        slot.set(leaf(3, 1), false, 8_000_000);
        assert_eq!(at(&slot, 9), Some((leaf(3, 1), 4)));
        slot.age();
        slot.set(leaf(3, 2), false, 8_000_000);
        assert_eq!(at(&slot, 9), Some((leaf(3, 2), 1)));
    }

    #[test]
    fn a_guard_yields_to_other_leaves() {
        let mut slot = LeafSlot::new();
        slot.set(leaf(1, 0), true, 0);
        slot.set(leaf(2, 0), false, 0);
        slot.set(leaf(1, 0), true, 0);
        assert_eq!(at(&slot, 0), Some((leaf(2, 0), 0)));
        slot.age();
        slot.set(leaf(1, 0), true, 0);
        assert_eq!(at(&slot, 0), Some((leaf(1, 0), 0)));
    }

    #[test]
    fn a_leaf_that_is_dropped_takes_only_itself_away() {
        let mut slot = LeafSlot::new();
        slot.set(leaf(1, 5), false, 0);
        slot.forget(|found| found.arg == 6);
        assert!(at(&slot, 0).is_some());
        slot.forget(|found| found.arg == 5);
        assert_eq!(at(&slot, 0), None);
    }

    #[test]
    fn the_start_wraps_around_after_49_days() {
        let mut slot = LeafSlot::new();
        let days = |n: u64| n * 24 * 3600 * 1000;
        slot.set(leaf(1, 0), false, days(48) * 1_000_000);
        assert_eq!(at(&slot, days(51)).map(|(_, age)| age), Some(days(3)));
    }

    #[test]
    fn a_place_is_kept_and_beside_a_long_argument_the_start_is_in_seconds() {
        let here = Some(std::panic::Location::caller());
        let long = Leaf { tag: 3, arg: 1 << Leaf::SHORT_ARG_BITS, site: here };
        let mut slot = LeafSlot::new();
        slot.set(long, false, 5_000_000_000);
        assert_eq!(at(&slot, 8_999), Some((long, 3_000)));
        slot.age();
        slot.set(long, false, 7_000_000_000);
        assert_eq!(at(&slot, 8_999), Some((long, 3_000)), "the start is that of the first time");
        let short = Leaf { arg: (1 << Leaf::SHORT_ARG_BITS) - 1, ..long };
        for leaf in [short, Leaf { arg: 0, ..long }] {
            slot.set(leaf, false, 5_000_000_000);
            slot.age();
            slot.set(leaf, false, 7_000_000_000);
            assert_eq!(at(&slot, 8_999), Some((leaf, 3_999)), "in milliseconds");
        }
        slot.set(leaf(3, 9), false, 7_000_000_000);
        assert_eq!(at(&slot, 8_999), Some((leaf(3, 9), 1_999)));
    }
}
