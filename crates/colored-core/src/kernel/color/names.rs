//! The names of colors, for texts: one small table of the whole process.
//!
//! A place is written once and never again, so a look needs no lock: it goes from the color's own
//! place to the first empty one.

use std::sync::OnceLock;

/// Names that are remembered: more than there are lines of source that name one. Out of thin air.
pub(super) const PLACES: usize = 256;

static NAMES: [OnceLock<(u64, &str)>; PLACES] = [const { OnceLock::new() }; PLACES];

/// The places of a color with this number, its own first.
fn places(color: u64) -> impl Iterator<Item = &'static OnceLock<(u64, &'static str)>> {
    let first = color as usize % PLACES;
    NAMES[first..].iter().chain(&NAMES[..first])
}

/// Remembers the name, if there is a place left.
pub(super) fn remember(color: u64, name: &'static str) {
    for place in places(color) {
        if place.get_or_init(|| (color, name)).0 == color {
            return;
        }
    }
}

/// The name of the color, if it was remembered.
pub(super) fn find(color: u64) -> Option<&'static str> {
    let named = places(color).map_while(OnceLock::get).find(|(named, _)| *named == color);
    named.map(|(_, name)| *name)
}
