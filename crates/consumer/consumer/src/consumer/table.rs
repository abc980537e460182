//! A table whose places are used again. It grows by parts: one that doubled would leave holes in the memory, of its sizes before.

use std::ops::{Index, IndexMut};
use std::{array, mem};

/// So many places are allocated at a time.
const PART: usize = 32;

/// No place.
pub(crate) const NOWHERE: u32 = u32::MAX;

#[derive(Debug)]
enum Place<T> {
    Full(T),
    /// With the next one that is free.
    Free(u32),
}

/// Values at places, which are numbers.
#[derive(Debug)]
pub(crate) struct Table<T> {
    parts: Vec<Box<[Place<T>; PART]>>,
    /// The first place that is free.
    free: u32,
    len: usize,
}

impl<T> Table<T> {
    pub(crate) const fn new() -> Table<T> {
        Table { parts: Vec::new(), free: NOWHERE, len: 0 }
    }

    #[inline]
    pub(crate) fn insert(&mut self, value: T) -> u32 {
        if self.free == NOWHERE {
            self.grow();
        }
        let at = self.free;
        let place = &mut self.parts[at as usize / PART][at as usize % PART];
        if let Place::Free(next) = *place {
            self.free = next;
            *place = Place::Full(value);
            self.len += 1;
        }
        at
    }

    #[cold]
    fn grow(&mut self) {
        let first = self.parts.len() * PART;
        let number = |at: usize| u32::try_from(at).expect("memory would not be enough for so many");
        let next = |at: usize| if at + 1 < PART { number(first + at + 1) } else { NOWHERE };
        self.parts.push(Box::new(array::from_fn(|at| Place::Free(next(at)))));
        self.free = number(first);
    }

    #[inline]
    pub(crate) fn get(&self, at: u32) -> Option<&T> {
        match &self.parts.get(at as usize / PART)?[at as usize % PART] {
            Place::Full(value) => Some(value),
            Place::Free(_) => None,
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, at: u32) -> Option<&mut T> {
        match &mut self.parts.get_mut(at as usize / PART)?[at as usize % PART] {
            Place::Full(value) => Some(value),
            Place::Free(_) => None,
        }
    }

    /// Takes a value out.
    #[inline]
    pub(crate) fn remove(&mut self, at: u32) -> T {
        let place = &mut self.parts[at as usize / PART][at as usize % PART];
        let Place::Full(value) = mem::replace(place, Place::Free(self.free)) else {
            panic!("place {at} has no value")
        };
        self.free = at;
        self.len -= 1;
        value
    }

    /// All values, in the order of their places.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let places = self.parts.iter().flat_map(|part| part.iter());
        (0..).zip(places).filter_map(|(at, place)| match place {
            Place::Full(value) => Some((at, value)),
            Place::Free(_) => None,
        })
    }

    /// As [`iter`](Self::iter).
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut T)> {
        let places = self.parts.iter_mut().flat_map(|part| part.iter_mut());
        (0..).zip(places).filter_map(|(at, place)| match place {
            Place::Full(value) => Some((at, value)),
            Place::Free(_) => None,
        })
    }

    /// Gives memory back if there is no value, and there are more places than so many.
    pub(crate) fn shrink(&mut self, kept: usize) {
        if self.len == 0 && self.parts.len() > kept / PART {
            *self = Table::new();
        }
    }
}

impl<T> Index<u32> for Table<T> {
    type Output = T;

    #[inline]
    fn index(&self, at: u32) -> &T {
        self.get(at).expect("the place has a value")
    }
}

impl<T> IndexMut<u32> for Table<T> {
    #[inline]
    fn index_mut(&mut self, at: u32) -> &mut T {
        self.get_mut(at).expect("the place has a value")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_table_is_a_map_that_gives_its_keys() {
        let (mut chance, mut table) = (fastrand::Rng::with_seed(3), Table::new());
        let mut map = BTreeMap::new();
        for value in 0..10_000 {
            if map.len() < 200 && chance.u8(..5) < 3 {
                assert_eq!(map.insert(table.insert(value), value), None, "the place was free");
            } else if let Some(at) = chance.choice(map.keys().copied().collect::<Vec<_>>()) {
                assert_eq!(Some(table.remove(at)), map.remove(&at));
                assert_eq!(table.get(at), None);
            }
        }
        assert_eq!(table.len, map.len());
        assert!(table.parts.len() <= 200 / PART + 1, "places are used again");
        assert!(table.iter().eq(map.iter().map(|(at, value)| (*at, value))));
        for (at, value) in table.iter_mut() {
            assert_eq!(map.get(&at), Some(&*value));
            *value += 1;
        }
        assert!(map.iter().all(|(at, value)| table[*at] == value + 1));
        assert_eq!(table.get(u32::MAX), None);
    }

    #[test]
    fn much_memory_is_given_back() {
        let mut table = Table::new();
        for _ in 0..=PART {
            table.insert(());
        }
        for at in 0..=PART as u32 {
            table.remove(at);
            table.shrink(2 * PART);
        }
        assert_eq!(table.parts.len(), 2, "that is not more than what is kept");
        table.shrink(PART);
        assert_eq!(table.parts.capacity(), 0);
    }
}
