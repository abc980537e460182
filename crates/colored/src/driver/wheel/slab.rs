//! The timers of one wheel, in one allocation.

use std::task::Waker;

/// No entry: the end of a list.
pub(super) const NIL: u32 = u32::MAX;

/// The last tick an entry can hold: nine digits to the base 64. A clock ends before it, after 584 years.
pub(super) const MAX_TICK: u64 = (1 << 54) - 1;

/// The bits of an entry's list beside the higher bits of its tick.
const LIST_BITS: u32 = 10;

/// A slab of fewer entries than this is not worth giving back (40 KiB).
const SMALL: usize = 1024;

/// Names a timer in its wheel.
///
/// The identity is never used again, so the key of a timer that has fired or was
/// cancelled names nothing, also after its place went to another timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    id: u64,
    index: u32,
}

/// A timer, or a vacant place. 40 bytes, because a server may hold millions.
pub(super) struct Entry {
    /// `None` in a vacant place.
    waker: Option<Waker>,
    id: u64,
    tick_low: u32,
    /// The higher bits of the tick, and below them the list that the entry is linked into.
    tick_high_and_list: u32,
    /// The next entry of the list, or the next vacant place.
    pub(super) next: u32,
    pub(super) prev: u32,
}

impl Entry {
    /// When the timer is due.
    pub(super) fn tick(&self) -> u64 {
        u64::from(self.tick_high_and_list >> LIST_BITS) << 32 | u64::from(self.tick_low)
    }

    /// The list that the entry is linked into.
    pub(super) fn list(&self) -> u16 {
        (self.tick_high_and_list & ((1 << LIST_BITS) - 1)) as u16
    }

    /// Sets the list that the entry is linked into: less than 1024.
    pub(super) fn set_list(&mut self, list: u16) {
        debug_assert!(list < 1 << LIST_BITS);
        self.tick_high_and_list =
            self.tick_high_and_list >> LIST_BITS << LIST_BITS | u32::from(list);
    }

    /// Sets when the timer is due. `tick` is at most [`MAX_TICK`].
    pub(super) fn set_tick(&mut self, tick: u64) {
        debug_assert!(tick <= MAX_TICK);
        self.tick_low = tick as u32;
        self.tick_high_and_list = ((tick >> 32) as u32) << LIST_BITS | u32::from(self.list());
    }

    /// The waker of a timer that is in the slab.
    pub(super) fn waker_mut(&mut self) -> &mut Waker {
        self.waker.as_mut().expect("a linked entry holds a waker")
    }
}

/// Timers by index. Vacant places are linked into a free list, last freed first.
pub(super) struct Slab {
    entries: Vec<Entry>,
    free: u32,
    live: usize,
    next_id: u64,
    /// Memory is given back when no more timers than this are left.
    trim_at: usize,
}

impl Slab {
    pub(super) const fn new() -> Slab {
        Slab { entries: Vec::new(), free: NIL, live: 0, next_id: 0, trim_at: 0 }
    }

    /// How many timers there are.
    pub(super) fn len(&self) -> usize {
        self.live
    }

    /// How many timers fit into the memory that is held.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.entries.capacity()
    }

    /// Takes a place for a timer, which is in no list yet.
    ///
    /// # Panics
    ///
    /// At 2^32 - 1 timers.
    pub(super) fn insert(&mut self, tick: u64, waker: Waker) -> Key {
        assert!(self.live < NIL as usize, "a wheel holds fewer than 2^32 - 1 timers");
        let id = self.next_id;
        self.next_id += 1;
        self.live += 1;
        let mut entry = Entry {
            waker: Some(waker),
            id,
            tick_low: 0,
            tick_high_and_list: 0,
            next: NIL,
            prev: NIL,
        };
        entry.set_tick(tick);
        let index = self.free;
        if index != NIL {
            let place = &mut self.entries[index as usize];
            self.free = place.next;
            *place = entry;
            return Key { id, index };
        }
        let index = self.entries.len() as u32;
        self.entries.push(entry);
        self.trim_at = self.entries.len() / 8;
        Key { id, index }
    }

    /// Frees the place of a timer that is linked nowhere any more.
    pub(super) fn remove(&mut self, index: u32) -> Waker {
        let free = self.free;
        let entry = &mut self[index];
        let waker = entry.waker.take().expect("a timer is removed once");
        entry.next = free;
        self.free = index;
        self.live -= 1;
        if self.live <= self.trim_at && self.entries.len() > SMALL {
            self.trim();
        }
        waker
    }

    /// The index of a timer that is still in the slab.
    pub(super) fn find(&self, key: Key) -> Option<u32> {
        let entry = self.entries.get(key.index as usize)?;
        (entry.id == key.id && entry.waker.is_some()).then_some(key.index)
    }

    /// Gives back the vacant places behind the last timer, if they are the half of
    /// all. Else a timer near the end prevents it, and the next look is taken at
    /// half as many timers.
    #[cold]
    fn trim(&mut self) {
        self.trim_at = self.live / 2;
        let kept =
            self.entries.iter().rposition(|entry| entry.waker.is_some()).map_or(0, |i| i + 1);
        if kept > self.entries.len() / 2 {
            return;
        }
        self.entries.truncate(kept);
        self.entries.shrink_to(SMALL);
        self.free = NIL;
        for (index, entry) in self.entries.iter_mut().enumerate().rev() {
            if entry.waker.is_none() {
                entry.next = self.free;
                self.free = index as u32;
            }
        }
    }
}

impl std::ops::Index<u32> for Slab {
    type Output = Entry;

    fn index(&self, index: u32) -> &Entry {
        &self.entries[index as usize]
    }
}

impl std::ops::IndexMut<u32> for Slab {
    fn index_mut(&mut self, index: u32) -> &mut Entry {
        &mut self.entries[index as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_a_waker_and_twenty_four_bytes() {
        assert_eq!(size_of::<Entry>(), size_of::<Waker>() + 24);
    }

    #[test]
    fn an_entry_holds_every_tick_and_list() {
        let mut slab = Slab::new();
        let place = slab.insert(MAX_TICK, Waker::noop().clone()).index;
        for (tick, list) in
            [(0, 1023), (MAX_TICK, 0), (1 << 48, 576), ((1 << 32) - 1, 1), (1 << 32, 512)]
        {
            slab[place].set_tick(tick);
            slab[place].set_list(list);
            assert_eq!((slab[place].tick(), slab[place].list()), (tick, list));
            slab[place].set_tick(tick);
            assert_eq!((slab[place].tick(), slab[place].list()), (tick, list));
        }
    }

    #[test]
    fn an_old_key_names_nothing() {
        let mut slab = Slab::new();
        let old = slab.insert(7, Waker::noop().clone());
        let place = slab.find(old).unwrap();
        slab.remove(place);
        assert_eq!(slab.find(old), None);
        let new = slab.insert(7, Waker::noop().clone());
        assert_eq!(slab.find(new), Some(place), "the place is used again");
        assert_eq!(slab.find(old), None);
    }

    #[test]
    fn keys_stay_unique_when_memory_is_given_back() {
        let mut slab = Slab::new();
        let keys: Vec<_> = (0..10_000).map(|i| slab.insert(i, Waker::noop().clone())).collect();
        for key in &keys {
            let place = slab.find(*key).unwrap();
            slab.remove(place);
        }
        assert_eq!(slab.len(), 0);
        assert!(slab.capacity() <= SMALL);
        slab.insert(0, Waker::noop().clone());
        assert!(keys.iter().all(|key| slab.find(*key).is_none()));
    }

    #[test]
    fn one_old_timer_does_not_hold_the_memory_of_a_million() {
        let mut slab = Slab::new();
        let keys: Vec<_> = (0..50_000).map(|i| slab.insert(i, Waker::noop().clone())).collect();
        for key in &keys[1..] {
            let place = slab.find(*key).unwrap();
            slab.remove(place);
        }
        assert!(slab.capacity() <= SMALL * 8, "{}", slab.capacity());
        assert_eq!(slab.find(keys[0]), Some(0));
        assert_eq!(slab[0].tick(), 0);
    }

    #[test]
    fn the_vacant_places_are_whole_after_a_trim() {
        let mut slab = Slab::new();
        let keys: Vec<_> = (0..8_000).map(|i| slab.insert(i, Waker::noop().clone())).collect();
        let stays = |key: &&Key| key.index < 3_200 && key.index.is_multiple_of(64);
        for key in keys.iter().rev().filter(|key| !stays(key)) {
            slab.remove(key.index);
        }
        assert!(slab.entries.len() <= 4_000);
        let more: Vec<_> = (0..8_000).map(|i| slab.insert(i, Waker::noop().clone())).collect();
        assert_eq!(slab.entries.len(), 8_000 + 50, "every vacant place was found again");
        assert!(more.iter().all(|key| slab.find(*key).is_some()));
        assert!(keys.iter().filter(stays).all(|key| slab.find(*key).is_some()));
    }
}
