//! [`Leaf`]: a wait without a record.
//!
//! Sockets and timers wait so often that a [`WaitRecord`](crate::kernel::task::WaitRecord) in a list would cost them too much.
//! Such a future, a *leaf*, writes what it waits for into a slot of its task (`leaf/slot.rs`) when it returns `Pending`. Only
//! dumps read the slot, so there is none without the feature `leaves`.
//!
//! # Places in the source
//!
//! Numbers for places in the source, in one table of the process: a number fits where a pointer does not, and needs no
//! `unsafe` to become a place again.
//!
//! An entry is written once and never again, so a look needs no lock: it goes from the pointer's own entry on to the first
//! empty one, and no further than [`LOOKS`].

#[cfg(feature = "leaves")]
mod slot;

#[cfg(feature = "leaves")]
pub(crate) use self::slot::LeafSlot;

use std::panic::Location;
use std::ptr;
use std::sync::OnceLock;

/// A wait without a record, as the layer that waits describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The kind of the wait: 1 to 15, as the crate above numbers its kinds.
    pub tag: u8,
    /// A detail: less than 2²⁵. Other bits are lost.
    pub arg: u32,
    /// Where the program began to wait, if known. With an argument of more than 13 bits beside it, the start of the wait is
    /// kept in seconds.
    pub site: Option<&'static Location<'static>>,
}

impl Leaf {
    /// The bits of [`arg`](Self::arg).
    pub const ARG_BITS: u32 = 25;

    /// The bits of an argument that has room beside a place.
    pub const SHORT_ARG_BITS: u32 = Self::ARG_BITS - SITE_BITS;
}

/// The bits of a number: more places than programs have. A guess; 64 KiB, of which the system provides the pages that are
/// used.
pub(crate) const SITE_BITS: u32 = 12;

/// How many entries are looked at for one place, so that a full table costs no long search.
const LOOKS: usize = 16;

type Entry = OnceLock<&'static Location<'static>>;

static SITES: [Entry; 1 << SITE_BITS] = [const { OnceLock::new() }; 1 << SITE_BITS];

/// The number of a place; none if the table has no room for it.
#[inline]
pub(crate) fn site_number(site: &'static Location<'static>) -> Option<u16> {
    // Locations lie side by side, each of a few words. The product spreads them.
    let address = ptr::from_ref(site).addr() as u64;
    let first = (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize;
    for look in 0..LOOKS {
        let index = (first + look) % SITES.len();
        if ptr::eq(*SITES[index].get_or_init(|| site), site) {
            return Some(index as u16);
        }
    }
    None
}

/// The place with that number.
pub(crate) fn site_of(number: u16) -> Option<&'static Location<'static>> {
    SITES.get(usize::from(number))?.get().copied()
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::{SITE_BITS, site_number, site_of};
    use std::panic::Location;

    #[test]
    fn a_place_has_one_number_and_others_have_others() {
        let places = [Location::caller(), Location::caller(), Location::caller()];
        let numbers = places.map(|place| site_number(place).expect("the table has room"));
        assert_eq!(numbers, places.map(|place| site_number(place).expect("it is there")));
        assert!(numbers[0] != numbers[1] && numbers[1] != numbers[2] && numbers[2] != numbers[0]);
        assert_eq!(numbers.map(site_of), places.map(Some));
        assert_eq!(site_of(1 << SITE_BITS), None);
    }
}
