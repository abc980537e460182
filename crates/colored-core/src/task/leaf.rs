//! The last wait without a record: a slot of one word in each task.
//!
//! Sockets and timers wait so often that a [`Record`](super::record::Record) in a list would cost them too much. Such a
//! future, a *leaf*, writes what it waits for into the slot when it returns `Pending`.
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
//! | 1 | the place in the source is known |
//! | 26 | argument |
//! | 32 | without a place: the start in milliseconds, for 49 days. With one: 12 bits for the place ([`sites`]), and the start in seconds, for 12 days. Later starts wrap around |
//!
//! A leaf with a tag from [`Leaf::PLAIN`] on has no argument. If its place is known, the 12 bits of the place take the
//! argument's first bits, and the 46 bits above them are the start in milliseconds.

use crate::sites;
use std::panic::Location;

const TAG: u64 = 0xf;
const STALE: u64 = 1 << 4;
const SITED: u64 = 1 << 5;
const ARG_SHIFT: u32 = 6;
const ARG: u64 = (1 << Leaf::ARG_BITS) - 1;
const REST_SHIFT: u32 = ARG_SHIFT + Leaf::ARG_BITS;
const SINCE_SHIFT: u32 = REST_SHIFT + sites::BITS;
const PLAIN_SINCE_SHIFT: u32 = ARG_SHIFT + sites::BITS;

const MILLI: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

/// A wait without a record, as the layer that waits describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The kind of the wait: 1 to 15, as the crate above numbers its kinds.
    pub tag: u8,
    /// A detail: less than 2²⁶. Other bits are lost. 0 for a kind without one ([`PLAIN`](Self::PLAIN)).
    pub arg: u32,
    /// Where the program began to wait, if known.
    pub site: Option<&'static Location<'static>>,
}

impl Leaf {
    /// The bits of [`arg`](Self::arg).
    pub const ARG_BITS: u32 = 26;

    /// Leaves with this tag, or a larger one, have no argument: their starts are kept to a millisecond also where the place
    /// is known.
    pub const PLAIN: u8 = 12;

    /// The part of the word that does not depend on the time.
    #[inline]
    fn bits(self) -> u64 {
        debug_assert!((1..16).contains(&self.tag), "a tag is 1 to 15");
        debug_assert!(self.tag < Self::PLAIN || self.arg == 0, "such a leaf has no argument");
        let bits = u64::from(self.tag) & TAG | (u64::from(self.arg) & ARG) << ARG_SHIFT;
        match self.site.and_then(sites::number) {
            None => bits,
            Some(site) => bits | SITED | u64::from(site) << Layout::of(bits | SITED).site,
        }
    }
}

/// Where the parts of a word are that depend on the kind of leaf.
struct Layout {
    /// The lowest bit of the place, if there is one.
    site: u32,
    /// The lowest bit of the start, the last part.
    since: u32,
    /// The unit of the start, in nanoseconds.
    unit: u64,
}

impl Layout {
    #[inline]
    fn of(word: u64) -> Self {
        if word & SITED == 0 {
            Self { site: REST_SHIFT, since: REST_SHIFT, unit: MILLI }
        } else if word & TAG < u64::from(Leaf::PLAIN) {
            Self { site: REST_SHIFT, since: SINCE_SHIFT, unit: SECOND }
        } else {
            Self { site: ARG_SHIFT, since: PLAIN_SINCE_SHIFT, unit: MILLI }
        }
    }
}

/// The slot.
#[derive(Debug)]
pub(super) struct LeafSlot(u64);

impl LeafSlot {
    pub(super) const fn new() -> Self {
        Self(0)
    }

    /// A poll of the task begins.
    #[inline]
    pub(super) fn age(&mut self) {
        self.0 |= STALE;
    }

    /// A leaf has returned `Pending`, at this time: nanoseconds of the scheduler.
    #[inline]
    pub(super) fn set(&mut self, leaf: Leaf, is_guard: bool, now: u64) {
        if is_guard && self.is_fresh() {
            return;
        }
        let bits = leaf.bits();
        let Layout { since, unit, .. } = Layout::of(bits);
        let is_same = (self.0 & !STALE ^ bits) << (u64::BITS - since) == 0;
        self.0 = if is_same { self.0 & !STALE } else { bits | (now / unit) << since };
    }

    /// Empties the slot if it is fresh and `is_it` says so.
    #[inline]
    pub(super) fn forget(&mut self, is_it: impl FnOnce(Leaf) -> bool) {
        if self.get().is_some_and(is_it) {
            self.0 = 0;
        }
    }

    fn is_fresh(&self) -> bool {
        self.0 & TAG != 0 && self.0 & STALE == 0
    }

    fn get(&self) -> Option<Leaf> {
        let word = self.0;
        let layout = Layout::of(word);
        let site = (word >> layout.site) as u16 & ((1 << sites::BITS) - 1);
        let has_arg = layout.site != ARG_SHIFT;
        self.is_fresh().then(|| Leaf {
            tag: (word & TAG) as u8,
            arg: if has_arg { (word >> ARG_SHIFT & ARG) as u32 } else { 0 },
            site: if word & SITED == 0 { None } else { sites::find(site) },
        })
    }

    /// The leaf of a fresh slot, and for how many nanoseconds it has waited at `now`: to a millisecond, or to a second if
    /// the place is known and there is an argument.
    pub(super) fn read(&self, now: u64) -> Option<(Leaf, u64)> {
        let Layout { since, unit, .. } = Layout::of(self.0);
        let age = (now / unit).wrapping_sub(self.0 >> since) & (u64::MAX >> since);
        Some((self.get()?, age * unit))
    }
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
        slot.set(leaf(2, (1 << 26) - 1), false, 6_000_000);
        assert_eq!(at(&slot, 9), Some((leaf(2, (1 << 26) - 1), 3)));
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
    fn a_place_is_kept_and_the_start_is_in_seconds() {
        let here = Some(std::panic::Location::caller());
        let sited = |arg| Leaf { tag: 3, arg, site: here };
        let mut slot = LeafSlot::new();
        slot.set(sited(9), false, 5_000_000_000);
        assert_eq!(at(&slot, 8_999), Some((sited(9), 3_000)));
        slot.age();
        slot.set(sited(9), false, 7_000_000_000);
        assert_eq!(
            at(&slot, 8_999),
            Some((sited(9), 3_000)),
            "the start is that of the first time"
        );
        slot.set(leaf(3, 9), false, 7_000_000_000);
        assert_eq!(at(&slot, 8_999), Some((leaf(3, 9), 1_999)));
    }

    #[test]
    fn a_leaf_without_an_argument_has_a_place_and_a_start_in_milliseconds() {
        let here = Some(std::panic::Location::caller());
        let plain = |site| Leaf { tag: Leaf::PLAIN, arg: 0, site };
        let mut slot = LeafSlot::new();
        slot.set(plain(here), false, 5_000_000_000);
        assert_eq!(at(&slot, 5_007), Some((plain(here), 7)));
        slot.age();
        slot.set(plain(here), false, 6_000_000_000);
        assert_eq!(at(&slot, 6_001), Some((plain(here), 1_001)), "it goes on waiting");
        slot.set(plain(None), false, 6_000_000_000);
        assert_eq!(at(&slot, 6_001), Some((plain(None), 1)));
    }
}
