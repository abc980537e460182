//! A table whose places are used again. It grows by parts: one that doubled would leave holes in the memory, of its sizes before.

use std::ops::{Index, IndexMut};
use std::{array, mem};

/// No place.
pub(crate) const NOWHERE: u32 = u32::MAX;

#[derive(Debug)]
enum Place<T> {
    Full(T),
    /// With the next one that is free.
    Free(u32),
}

/// Values at places, which are numbers. `PART` places are allocated at a time.
#[derive(Debug)]
pub(crate) struct Table<T, const PART: usize> {
    parts: Vec<Box<[Place<T>; PART]>>,
    /// The first place that is free.
    free: u32,
    len: usize,
}

impl<T, const PART: usize> Table<T, PART> {
    pub(crate) const fn new() -> Self {
        Table { parts: Vec::new(), free: NOWHERE, len: 0 }
    }

    #[inline]
    pub(crate) fn insert(&mut self, value: T) -> u32 {
        if self.free == NOWHERE {
            self.grow();
        }
        let at = self.free;
        let place = &mut self.parts[at as usize / PART][at as usize % PART];
        let Place::Free(next) = *place else { unreachable!("place {at} has a value") };
        self.free = next;
        *place = Place::Full(value);
        self.len += 1;
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

    /// Takes a value out. Panics if there is none.
    #[inline]
    pub(crate) fn remove(&mut self, at: u32) -> T {
        let place = &mut self.parts[at as usize / PART][at as usize % PART];
        // Before it is changed: a place must not be two times among those that are free.
        assert!(matches!(place, Place::Full(_)), "place {at} has no value");
        let Place::Full(value) = mem::replace(place, Place::Free(self.free)) else {
            unreachable!("it has one")
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

    /// Gives memory back if there is no value, and there are more places than so many. Returns whether it has.
    pub(crate) fn shrink(&mut self, kept: usize) -> bool {
        let has_many = self.len == 0 && self.parts.len() > kept / PART;
        if has_many {
            *self = Table::new();
        }
        has_many
    }

    /// What is allocated for places, in bytes.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.parts.len() * size_of::<[Place<T>; PART]>()
    }
}

impl<T, const PART: usize> Index<u32> for Table<T, PART> {
    type Output = T;

    #[inline]
    fn index(&self, at: u32) -> &T {
        self.get(at).expect("the place has a value")
    }
}

impl<T, const PART: usize> IndexMut<u32> for Table<T, PART> {
    #[inline]
    fn index_mut(&mut self, at: u32) -> &mut T {
        self.get_mut(at).expect("the place has a value")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    const PART: usize = 8;

    #[test]
    fn a_table_is_a_map_that_gives_its_keys() {
        let (mut chance, mut table) = (fastrand::Rng::with_seed(3), Table::<_, PART>::new());
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
    fn a_place_that_is_free_has_nothing_to_take() {
        let mut table = Table::<_, PART>::new();
        let at = [table.insert(0), table.insert(1)];
        for at in at {
            table.remove(at);
            catch_unwind(AssertUnwindSafe(|| table.remove(at))).expect_err("it was taken");
        }
        let all: Vec<_> = (0..100).map(|value| (table.insert(value), value)).collect();
        assert!(all.iter().all(|(at, value)| table[*at] == *value));
        assert_eq!(table.len, 100);
    }
}
