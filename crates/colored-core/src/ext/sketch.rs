//! [`Sketch`]: sums by key for the keys with the largest sums, in bounded memory.
//!
//! The algorithm is Space-Saving (Metwally and others, 2005), with weights: a key that has no place takes the place of
//! the smallest sum, and takes the sum over as its *error*. So the sums add up to the whole, each is too large by at most
//! its error, and a key whose true sum is larger than the whole divided by the number of places has a place.

use std::ops::AddAssign;

/// Sums by key, for `places` keys, each with a value beside it.
#[derive(Clone, Debug)]
pub(crate) struct Sketch<K, V = Nothing> {
    places: usize,
    entries: Vec<Entry<K, V>>,
}

/// A key and its sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry<K, V = Nothing> {
    pub(crate) key: K,
    pub(crate) sum: u64,
    /// The sum is too large by this at most.
    pub(crate) error: u64,
    /// What was added beside the sum since the key has its place.
    pub(crate) value: V,
}

impl<K: Copy + PartialEq, V> Sketch<K, V> {
    /// Allocates nothing before the first key.
    pub(crate) const fn new(places: usize) -> Self {
        Self { places, entries: Vec::new() }
    }

    /// Adds to the sum of a key, and to its value. Looks at all places. Returns the value of the key whose place it
    /// takes.
    pub(crate) fn add(&mut self, key: K, weight: u64, value: V) -> Option<V>
    where
        V: AddAssign,
    {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.key == key) {
            entry.sum += weight;
            entry.value += value;
            None
        } else if self.entries.len() < self.places {
            self.entries.push(Entry { key, sum: weight, error: 0, value });
            None
        } else {
            let smallest = self.entries.iter_mut().min_by_key(|entry| entry.sum)?;
            let error = smallest.sum;
            let entry = Entry { key, sum: error + weight, error, value };
            Some(std::mem::replace(smallest, entry).value)
        }
    }

    pub(crate) fn entries(&self) -> &[Entry<K, V>] {
        &self.entries
    }
}

/// Nothing beside the sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Nothing;

impl AddAssign for Nothing {
    fn add_assign(&mut self, _: Self) {}
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::{Entry, Nothing, Sketch};

    #[test]
    fn sums_are_exact_while_there_are_places() {
        let mut sketch = Sketch::new(3);
        for (key, weight) in [('a', 1), ('b', 2), ('a', 3), ('c', 4)] {
            sketch.add(key, weight, Nothing);
        }
        let entry = |key, sum| Entry { key, sum, error: 0, value: Nothing };
        assert_eq!(sketch.entries(), [entry('a', 4), entry('b', 2), entry('c', 4)]);
    }

    /// A tenth of all weight is the key 0's; the rest is spread over 10,000 keys.
    #[test]
    fn a_large_key_keeps_its_place_and_no_sum_is_too_small() {
        // A linear congruential generator of Knuth's.
        let mut state = 1_u64;
        let mut below = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % bound
        };
        let mut sketch = Sketch::new(32);
        let mut exact = vec![0_u64; 10_001];
        for _ in 0..100_000 {
            let key = if below(10) == 0 { 0 } else { 1 + below(10_000) };
            let weight = 1 + below(9) as u64;
            sketch.add(key, weight, Nothing);
            exact[key] += weight;
        }
        let whole: u64 = exact.iter().sum();
        assert_eq!(sketch.entries().iter().map(|entry| entry.sum).sum::<u64>(), whole);
        assert!(sketch.entries().iter().any(|entry| entry.key == 0));
        for Entry { key, sum, error, .. } in sketch.entries() {
            assert!((sum - error..=*sum).contains(&exact[*key]), "{key}: {sum}, {error}");
            assert!(*error <= whole / 32);
        }
    }
}
