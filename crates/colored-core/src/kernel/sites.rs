//! Numbers for places in the source, in one table of the process: a number fits where a pointer does not, and needs no
//! `unsafe` to become a place again.
//!
//! An entry is written once and never again, so a look needs no lock: it goes from the pointer's own entry on to the first
//! empty one, and no further than [`LOOKS`].

use std::panic::Location;
use std::ptr;
use std::sync::OnceLock;

/// The bits of a number: more places than programs have. A guess; 64 KiB, of which the system provides the pages that are
/// used.
pub(crate) const BITS: u32 = 12;

/// How many entries are looked at for one place, so that a full table costs no long search.
const LOOKS: usize = 16;

type Entry = OnceLock<&'static Location<'static>>;

static SITES: [Entry; 1 << BITS] = [const { OnceLock::new() }; 1 << BITS];

/// The number of a place; none if the table has no room for it.
#[inline]
pub(crate) fn number(site: &'static Location<'static>) -> Option<u16> {
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
pub(crate) fn find(number: u16) -> Option<&'static Location<'static>> {
    SITES.get(usize::from(number))?.get().copied()
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::{BITS, find, number};
    use std::panic::Location;

    #[test]
    fn a_place_has_one_number_and_others_have_others() {
        let places = [Location::caller(), Location::caller(), Location::caller()];
        let numbers = places.map(|place| number(place).expect("the table has room"));
        assert_eq!(numbers, places.map(|place| number(place).expect("it is there")));
        assert!(numbers[0] != numbers[1] && numbers[1] != numbers[2] && numbers[2] != numbers[0]);
        assert_eq!(numbers.map(find), places.map(Some));
        assert_eq!(find(1 << BITS), None);
    }
}
