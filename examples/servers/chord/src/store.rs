//! [`Store`]: the values that one node has, in memory.

use crate::id::Id;
use crate::settings::Mistake;
use crate::value::Value;
use crate::wire::{Offered, Stored};
use std::collections::{BTreeMap, BTreeSet};

/// What a value costs beside its bytes: key, nodes of the trees. A guess.
const OVERHEAD: usize = 128;

/// The values of a node, of a bounded size.
#[derive(Debug)]
pub(crate) struct Store {
    values: BTreeMap<Id, Value>,
    /// Values that belong to other nodes, all of which have them. They go when room is needed.
    strays: BTreeSet<Id>,
    bytes: usize,
    capacity: usize,
    mistake: Mistake,
}

impl Store {
    /// A store of so many bytes.
    pub(crate) fn new(capacity: usize, mistake: Mistake) -> Self {
        Self { values: BTreeMap::new(), strays: BTreeSet::new(), bytes: 0, capacity, mistake }
    }

    pub(crate) fn get(&self, key: Id) -> Option<&Value> {
        self.values.get(&key)
    }

    /// Whether the store has neither this value nor a newer one.
    pub(crate) fn lacks(&self, offered: &Offered) -> bool {
        self.get(offered.key).is_none_or(|known| known.sequence() < offered.sequence)
    }

    /// Keeps the value, unless there is a newer one.
    pub(crate) fn insert(&mut self, value: Value) -> Stored {
        let key = value.key();
        self.strays.remove(&key);
        match self.get(key) {
            Some(known) if *known == value => return Stored::Kept,
            Some(_) if self.mistake == Mistake::KeepsOldRecords => return Stored::Kept,
            Some(_) if self.mistake == Mistake::ReplacesNewerRecords => {}
            Some(known) if known.sequence() >= value.sequence() => return Stored::OutOfDate,
            _ => {}
        }
        let replaced = self.get(key).map_or(0, cost);
        while self.bytes - replaced + cost(&value) > self.capacity {
            let Some(stray) = self.strays.pop_first() else {
                return Stored::Full;
            };
            let removed = self.values.remove(&stray);
            self.bytes -= removed.as_ref().map_or(0, cost);
        }
        self.bytes = self.bytes - replaced + cost(&value);
        self.values.insert(key, value);
        Stored::Kept
    }

    /// Says whether all nodes that the value belongs to have it, and this node is none of them.
    pub(crate) fn set_stray(&mut self, key: Id, is_stray: bool) {
        if is_stray && self.values.contains_key(&key) {
            self.strays.insert(key);
        } else {
            self.strays.remove(&key);
        }
    }

    /// Some of the keys, clockwise from this one on, and not once round.
    pub(crate) fn keys_from(&self, from: Id, count: usize) -> Vec<Offered> {
        let ordered = self.values.range(from..).chain(self.values.range(..from));
        let offered =
            |(key, value): (&Id, &Value)| Offered { key: *key, sequence: value.sequence() };
        ordered.take(count).map(offered).collect()
    }
}

fn cost(value: &Value) -> usize {
    OVERHEAD + value.bytes().len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Signer;

    fn block(number: u8) -> Value {
        Value::block(vec![number; 1000]).unwrap()
    }

    #[test]
    fn a_full_store_drops_strays_and_nothing_else() {
        let mut store = Store::new(2 * cost(&block(0)), Mistake::None);
        assert_eq!(
            [0, 1, 2].map(|n| store.insert(block(n))),
            [Stored::Kept, Stored::Kept, Stored::Full]
        );
        assert_eq!(store.insert(block(1)), Stored::Kept, "it is there already");
        store.set_stray(block(0).key(), true);
        store.set_stray(block(9).key(), true);
        assert_eq!(store.insert(block(2)), Stored::Kept);
        assert_eq!(store.get(block(0).key()), None);
        assert_eq!((store.values.len(), store.insert(block(3))), (2, Stored::Full));
    }

    #[test]
    fn a_record_gives_way_to_a_newer_one_only() {
        let signer = Signer::from_secret(&[1; 32]);
        let record = |sequence| Value::record(&signer, sequence, &[0; 100]).unwrap();
        let mut store = Store::new(cost(&record(1)), Mistake::None);
        for (sequence, kept) in [(5, 5), (4, 5), (6, 6), (6, 6), (5, 6)] {
            let expected = if kept == sequence { Stored::Kept } else { Stored::OutOfDate };
            assert_eq!(store.insert(record(sequence)), expected);
            assert_eq!(store.get(record(1).key()), Some(&record(kept)));
        }
    }

    #[test]
    fn keys_come_in_the_order_of_the_ring() {
        let mut store = Store::new(1 << 20, Mistake::None);
        let mut keys: Vec<_> = (0..10).map(|number| block(number).key()).collect();
        (0..10).for_each(|number| _ = store.insert(block(number)));
        keys.sort();
        let from = |index: usize, count| {
            let offered = store.keys_from(keys[index], count);
            offered.iter().map(|offered| offered.key).collect::<Vec<_>>()
        };
        assert_eq!(from(8, 4), [keys[8], keys[9], keys[0], keys[1]]);
        assert_eq!(from(8, 100).len(), 10);
    }
}
