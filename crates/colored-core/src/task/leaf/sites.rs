//! Numbers for places in the source, in one table of the process: a number fits where a pointer does not.
//!
//! A place of the table is written once and never again, so a look needs no lock: it goes from the pointer's own place on
//! to the first empty one, and no further than `LOOKS`.

use std::panic::Location;
use std::ptr;
use std::sync::OnceLock;

/// The bits of a number.
pub(super) const BITS: u32 = 12;

/// Places that are tried for one pointer. Those for which all are taken have no number.
const LOOKS: usize = 16;

type Place = OnceLock<&'static Location<'static>>;

static SITES: [Place; 1 << BITS] = [const { OnceLock::new() }; 1 << BITS];

/// The number of a place in the source; none if the table has no room for it.
#[inline]
pub(super) fn number(site: &'static Location<'static>) -> Option<u16> {
    // Places lie 24 bytes apart.
    let first = (ptr::from_ref(site).addr() >> 3).wrapping_mul(0x9e37_79b1) >> 8;
    for look in 0..LOOKS {
        let index = (first + look) % SITES.len();
        if ptr::eq(*SITES[index].get_or_init(|| site), site) {
            return Some(index as u16);
        }
    }
    None
}

/// The place with that number.
pub(super) fn find(number: u16) -> Option<&'static Location<'static>> {
    SITES.get(usize::from(number))?.get().copied()
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::{find, number};
    use std::panic::Location;

    #[test]
    fn a_place_has_one_number() {
        let places = [Location::caller(), places()[0], places()[1]];
        let numbers = places.map(|place| number(place).expect("the table has room"));
        assert_eq!(numbers, places.map(|place| number(place).expect("it is there")));
        for (number, place) in numbers.iter().zip(places) {
            assert_eq!(find(*number), Some(place));
        }
    }

    fn places() -> [&'static Location<'static>; 2] {
        #[track_caller]
        fn here() -> &'static Location<'static> {
            Location::caller()
        }
        [here(), here()]
    }
}
