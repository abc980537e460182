//! Classes of schedules: for each color, the order in which others have acted on it.
//!
//! What happens under a color depends on nothing but the order in which other colors have acted on the color, if colors
//! share no memory. The k-th act of one color on another one is fixed by what the first color has done before. So two runs
//! in which each color was acted on in the same order of *actors* do the same, however their turns were mixed.

use crate::strategy::Act;
use std::collections::HashMap;

/// The class of one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Class {
    /// By color, a hash of those that have acted on it, in their order; 0 where a place is empty. A table with open addressing, whose
    /// length is a power of two: each act looks there. At most half of the places are full.
    orders: Vec<(u64, u64)>,
    colors: usize,
}

/// The places of the first table.
const PLACES: usize = 32;

/// Of a linear congruential generator of Knuth's.
const FACTOR: u64 = 6_364_136_223_846_793_005;

impl Class {
    #[inline]
    pub(crate) fn note(&mut self, act: Act) {
        if 2 * self.colors >= self.orders.len() {
            self.grow();
        }
        let by = act.by.map_or(1, |by| by.wrapping_add(2));
        let place = place_of(&self.orders, act.on);
        let (color, order) = &mut self.orders[place];
        if *order == 0 {
            *color = act.on;
            self.colors += 1;
        }
        *order = (*order ^ by).wrapping_mul(FACTOR).rotate_left(29) | 1;
    }

    #[cold]
    fn grow(&mut self) {
        let places = (2 * self.orders.len()).max(PLACES);
        for (color, order) in std::mem::replace(&mut self.orders, vec![(0, 0); places]) {
            if order != 0 {
                let place = place_of(&self.orders, color);
                self.orders[place] = (color, order);
            }
        }
    }

    pub(crate) fn name(&self) -> u64 {
        // A sum: the table has no order.
        let orders = self.orders.iter().filter(|(_, order)| *order != 0);
        orders.fold(0, |name, (color, order)| name.wrapping_add(mix(mix(*color) ^ *order)))
    }
}

/// The place of a color, or the one where it belongs. Some place is empty.
#[inline]
fn place_of(orders: &[(u64, u64)], color: u64) -> usize {
    let most = orders.len() - 1;
    // Numbers of colors are small, or differ in few bits.
    let mut place = (color.wrapping_mul(FACTOR) >> 32) as usize & most;
    while orders[place].1 != 0 && orders[place].0 != color {
        place = (place + 1) & most;
    }
    place
}

/// The finalizer of SplitMix64, by Steele, Lea and Flood.
fn mix(value: u64) -> u64 {
    let mut mixed = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The classes of many runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Classes {
    /// By class, how many runs were of it.
    runs: HashMap<u64, u64>,
    all: u64,
    /// The runs since a class was new.
    since_new: u64,
}

impl Classes {
    pub(crate) fn add(&mut self, class: u64) {
        let runs = self.runs.entry(class).or_default();
        *runs += 1;
        self.since_new = if *runs == 1 { 0 } else { self.since_new + 1 };
        self.all += 1;
    }

    pub(crate) fn len(&self) -> usize {
        self.runs.len()
    }

    pub(crate) fn since_new(&self) -> u64 {
        self.since_new
    }

    /// The chance that the next run is of a class that was not seen, by Good and Turing: the share of runs that were the only
    /// one of their class.
    pub(crate) fn unseen(&self) -> f64 {
        if self.all == 0 {
            return 1.0;
        }
        self.runs.values().filter(|runs| **runs == 1).count() as f64 / self.all as f64
    }
}

#[cfg(test)]
mod tests {
    use super::{Class, Classes};
    use crate::strategy::Act;

    fn class(acts: &[(u64, u64)]) -> u64 {
        let mut class = Class::default();
        for (by, on) in acts {
            class.note(Act { on: *on, by: Some(*by), takes: false });
        }
        class.name()
    }

    #[test]
    fn only_the_order_on_each_color_counts() {
        let first = class(&[(1, 3), (2, 4), (2, 3)]);
        assert_eq!(first, class(&[(2, 4), (1, 3), (2, 3)]));
        assert_ne!(first, class(&[(2, 4), (2, 3), (1, 3)]));
        assert_ne!(first, class(&[(1, 3), (2, 4)]));
    }

    #[test]
    fn a_class_of_many_colors_has_each_of_them() {
        let acts: Vec<_> = (0..1000).map(|act| (act % 7, act * 64)).collect();
        let all = class(&acts);
        let reversed: Vec<_> = acts.iter().rev().copied().collect();
        assert_eq!(all, class(&reversed), "one act on each color");
        for left_out in [0, 15, 16, 17, 999] {
            let mut some = acts.clone();
            some.remove(left_out);
            assert_ne!(all, class(&some));
        }
    }

    #[test]
    fn the_unseen_is_estimated_by_what_was_seen_once() {
        let mut classes = Classes::default();
        assert_eq!(classes.unseen(), 1.0);
        for class in [1, 2, 1, 3, 1] {
            classes.add(class);
        }
        assert_eq!((classes.len(), classes.unseen(), classes.since_new()), (3, 0.4, 1));
    }
}
