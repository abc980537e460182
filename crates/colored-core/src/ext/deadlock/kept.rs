//! [`Kept`]: values that are found by key, and dropped in a fixed order.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Index;

/// Values that can be looked up by key, and are dropped in the order of their insertion.
pub(super) struct Kept<K, V> {
    places: HashMap<K, usize>,
    things: Vec<V>,
}

impl<K, V> Default for Kept<K, V> {
    fn default() -> Self {
        Self { places: HashMap::new(), things: Vec::new() }
    }
}

impl<K: Eq + Hash, V> Kept<K, V> {
    /// Returns false, and drops `thing`, if the key has a value already.
    pub(super) fn insert(&mut self, key: K, thing: V) -> bool {
        let place = self.things.len();
        let is_new = *self.places.entry(key).or_insert(place) == place;
        if is_new {
            self.things.push(thing);
        }
        is_new
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.places.get(key).map(|place| &self.things[*place])
    }
}

impl<K: Eq + Hash, V> Index<K> for Kept<K, V> {
    type Output = V;

    fn index(&self, key: K) -> &V {
        self.get(&key).expect("it is kept")
    }
}
