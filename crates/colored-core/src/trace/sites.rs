//! The places in the source that spawn tasks, by number: one small table of the whole process.
//!
//! A record keeps the number in place of the address, so that decoding a record needs no `unsafe`. A place of the table is
//! written once and never again, so a look needs no lock.

use std::panic::Location;
use std::sync::OnceLock;

/// More than programs have. Out of thin air; 64 KiB, of which the system provides the pages that are used.
const PLACES: usize = 4096;

/// How far a site may be from its own place, so that a full table costs no long search.
const STEPS: usize = 16;

static SITES: [OnceLock<&Location<'static>>; PLACES] = [const { OnceLock::new() }; PLACES];

/// The number of a site; 0 if the table has no room for it.
#[inline]
pub(super) fn number(site: &'static Location<'static>) -> u64 {
    // Locations lie side by side, each of a few words. The product spreads them.
    let address = std::ptr::from_ref(site).addr() as u64;
    let first = (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize;
    for step in 0..STEPS {
        let place = (first + step) % PLACES;
        if std::ptr::eq(*SITES[place].get_or_init(|| site), site) {
            return place as u64 + 1;
        }
    }
    0
}

/// The site with this number.
pub(super) fn find(number: u64) -> Option<&'static Location<'static>> {
    let place = usize::try_from(number.checked_sub(1)?).ok()?;
    SITES.get(place)?.get().copied()
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_site_has_one_number_and_others_have_others() {
        let (one, other) = (Location::caller(), Location::caller());
        assert_ne!(number(one), 0);
        assert_eq!(number(one), number(one));
        assert_ne!(number(one), number(other));
        assert_eq!(find(number(one)), Some(one));
        assert_eq!(find(number(other)), Some(other));
        assert_eq!(find(0), None);
        assert_eq!(find(PLACES as u64 + 1), None);
    }
}
