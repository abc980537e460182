//! The wheel itself: nine levels of 64 slots over the slab.
//!
//! A tick is read as nine digits to the base 64. A timer lies at the level of the
//! highest digit in which its tick differs from `elapsed`, in the slot of that
//! digit. So all timers of a level are due before all timers of the next, slots
//! never wrap around, and the next slot is found by counting zeros. When
//! `elapsed` reaches a slot of level 0 its timers are due, and when it reaches a
//! slot of another level its timers cascade: each is registered anew, further down. That
//! may wait until the first of them is due, so that a worker with few timers wakes up
//! once for each and not for each of its levels.

use std::task::Waker;

use super::slab::{Key, MAX_TICK, NIL, Slab};

const DIGIT_BITS: u32 = 6;
const SLOTS: usize = 1 << DIGIT_BITS;
const LEVELS: usize = 9;
/// How many timers of a slot are looked at to find its first.
const LOOKS: usize = 16;
/// The list of timers whose tick has come.
const DUE: u16 = (LEVELS * SLOTS) as u16;

/// A list of entries, first in first out.
#[derive(Clone, Copy)]
struct List {
    head: u32,
    tail: u32,
}

impl List {
    const EMPTY: List = List { head: NIL, tail: NIL };
}

/// A slot that holds timers, and its first tick.
#[derive(Clone, Copy)]
struct Slot {
    start: u64,
    list: u16,
}

/// The timers of a worker, without their lock.
pub(super) struct Levels {
    slab: Slab,
    /// Empty before the first timer: most wheels of a simulation never have one.
    lists: Vec<List>,
    /// One bit for each slot that is not empty.
    occupied: [u64; LEVELS],
    /// One bit for each level that is not empty.
    levels: u16,
    /// Every timer up to this tick is in the list `DUE` or gone.
    elapsed: u64,
    /// The slot at which the last `advance` ran out of steps. While it is set,
    /// `elapsed` is one tick before its start. So a timer that is inserted now joins the tail of
    /// that slot, behind the timers that were there before it, and the levels below hold only
    /// timers that come from that slot.
    emptying: Option<Slot>,
}

impl Levels {
    pub(super) const fn new() -> Levels {
        Levels {
            slab: Slab::new(),
            lists: Vec::new(),
            occupied: [0; LEVELS],
            levels: 0,
            elapsed: 0,
            emptying: None,
        }
    }

    /// How many timers there are.
    pub(super) fn len(&self) -> usize {
        self.slab.len()
    }

    /// How many timers fit into the memory that is held.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.slab.capacity()
    }

    /// Moves time over ticks at which nothing happens, up to `now`, which must be
    /// before `next`, the tick of which the wheel's owner was told.
    ///
    /// Timers are then registered by their distance from the present, and not from the
    /// last time something was due.
    pub(super) fn skip_to(&mut self, now: u64, next: u64) {
        if now < next && now > self.elapsed {
            // A slot may wait for its first timer beyond its own start.
            let end = self.next_slot().map_or(MAX_TICK, |slot| slot.start - 1);
            self.elapsed = now.min(end);
        }
    }

    /// Adds a timer. Gives the tick at which the wheel must look at it.
    pub(super) fn insert(&mut self, tick: u64, waker: Waker) -> (Key, u64) {
        let tick = tick.min(MAX_TICK);
        let key = self.slab.insert(tick, waker);
        let index = self.slab.find(key).expect("the timer was just added");
        (key, self.file(index, tick, self.elapsed))
    }

    /// Moves a timer to another tick. Gives the tick at which the wheel must look
    /// at it, or `None` when the timer is gone.
    pub(super) fn reset(&mut self, key: Key, tick: u64) -> Option<u64> {
        let index = self.slab.find(key)?;
        let tick = tick.min(MAX_TICK);
        self.unlink(index);
        self.slab[index].set_tick(tick);
        Some(self.file(index, tick, self.elapsed))
    }

    /// Takes a timer out. `None` when it is gone.
    pub(super) fn cancel(&mut self, key: Key) -> Option<Waker> {
        let index = self.slab.find(key)?;
        self.unlink(index);
        Some(self.slab.remove(index))
    }

    /// The waker of a timer. `None` when it is gone.
    pub(super) fn waker_mut(&mut self, key: Key) -> Option<&mut Waker> {
        let index = self.slab.find(key)?;
        Some(self.slab[index].waker_mut())
    }

    /// The next tick at which something is due or should cascade, `u64::MAX` if
    /// nothing ever. Not after the first timer's tick, but before it if that timer
    /// is in a slot with many others.
    pub(super) fn next_event(&self) -> u64 {
        if self.first(DUE).is_some() {
            return self.elapsed;
        }
        self.next_slot().map_or(u64::MAX, |slot| self.first_tick(slot))
    }

    /// The tick of the first timer.
    pub(super) fn first_exactly(&self) -> Option<u64> {
        if self.first(DUE).is_some() {
            return Some(self.elapsed);
        }
        let slot = self.next_slot()?;
        let mut index = self.lists[usize::from(slot.list)].head;
        let mut first = None;
        while index != NIL {
            let tick = self.slab[index].tick();
            first = Some(first.map_or(tick, |first: u64| first.min(tick)));
            index = self.slab[index].next;
        }
        // A slot that is being emptied may have nothing left.
        first.or(Some(slot.start))
    }

    /// The tick of the first timer in the next slot, or the start of the slot if that
    /// would take a long search: then cascading it in time is cheaper than a worker
    /// that wakes up for it alone is dear.
    fn first_tick(&self, slot: Slot) -> u64 {
        if usize::from(slot.list) < SLOTS || self.emptying.is_some() {
            return slot.start;
        }
        let mut index = self.lists[usize::from(slot.list)].head;
        let mut first = u64::MAX;
        for _ in 0..LOOKS {
            first = first.min(self.slab[index].tick());
            index = self.slab[index].next;
            if index == NIL {
                return first;
            }
        }
        slot.start
    }

    /// Moves time to `now`, in order, and appends the wakers of the due timers. Moves `steps`
    /// timers at most; true when it stopped for that.
    pub(super) fn advance(&mut self, now: u64, wakers: &mut Vec<Waker>, mut steps: usize) -> bool {
        loop {
            while let Some(index) = self.first(DUE) {
                if steps == 0 {
                    return true;
                }
                steps -= 1;
                self.unlink(index);
                wakers.push(self.slab.remove(index));
            }
            let next = self.next_slot();
            let Some(slot) = next.filter(|slot| slot.start <= now) else {
                self.elapsed = self.elapsed.max(now.min(MAX_TICK));
                return false;
            };
            if !self.empty(slot, wakers, &mut steps) {
                return true;
            }
        }
    }

    /// Takes every timer out.
    pub(super) fn drain(&mut self, wakers: &mut Vec<Waker>) {
        while self.advance(u64::MAX, wakers, usize::MAX) {}
        debug_assert_eq!(self.slab.len(), 0);
    }

    /// Empties a slot whose first tick has come: its timers are due if it is of
    /// level 0, and else registered anew, seen from that tick. False when the steps ran
    /// out before the slot was empty.
    fn empty(&mut self, slot: Slot, wakers: &mut Vec<Waker>, steps: &mut usize) -> bool {
        self.elapsed = slot.start - 1;
        self.emptying = Some(slot);
        while let Some(index) = self.first(slot.list) {
            if *steps == 0 {
                return false;
            }
            *steps -= 1;
            self.unlink(index);
            if usize::from(slot.list) < SLOTS {
                wakers.push(self.slab.remove(index));
            } else {
                let tick = self.slab[index].tick();
                self.file(index, tick, slot.start);
            }
        }
        self.emptying = None;
        self.elapsed = slot.start;
        true
    }

    /// The slot that time reaches next, or is in the middle of.
    fn next_slot(&self) -> Option<Slot> {
        if self.emptying.is_some() {
            return self.emptying;
        }
        if self.levels == 0 {
            return None;
        }
        let level = self.levels.trailing_zeros();
        let slot = self.occupied[level as usize].trailing_zeros();
        Some(Slot {
            start: start_of(self.elapsed, level, slot),
            list: (level * SLOTS as u32 + slot) as u16,
        })
    }

    /// Links an entry into the list where its tick belongs at time `elapsed`. Gives
    /// the tick at which the wheel must look at it.
    fn file(&mut self, index: u32, tick: u64, elapsed: u64) -> u64 {
        if tick <= elapsed {
            self.link(index, DUE);
            return elapsed;
        }
        let level = (tick ^ elapsed).ilog2() / DIGIT_BITS;
        let slot = (tick >> (level * DIGIT_BITS)) as u32 % SLOTS as u32;
        self.link(index, (level * SLOTS as u32 + slot) as u16);
        self.occupied[level as usize] |= 1 << slot;
        self.levels |= 1 << level;
        // A slot of level 1 holds the timers that are due within one turn of level 0: it can
        // cascade when its first timer is due. Higher ones may hold too many for that.
        if level <= 1 { tick } else { start_of(elapsed, level, slot) }
    }

    fn first(&self, list: u16) -> Option<u32> {
        let head = self.lists.get(usize::from(list))?.head;
        (head != NIL).then_some(head)
    }

    #[cold]
    fn make_lists(&mut self) {
        self.lists.resize(usize::from(DUE) + 1, List::EMPTY);
    }

    fn link(&mut self, index: u32, list: u16) {
        if self.lists.is_empty() {
            self.make_lists();
        }
        let ends = &mut self.lists[usize::from(list)];
        let tail = std::mem::replace(&mut ends.tail, index);
        if tail == NIL {
            ends.head = index;
        } else {
            self.slab[tail].next = index;
        }
        let entry = &mut self.slab[index];
        entry.set_list(list);
        entry.prev = tail;
        entry.next = NIL;
    }

    fn unlink(&mut self, index: u32) {
        let entry = &self.slab[index];
        let (list, prev, next) = (entry.list(), entry.prev, entry.next);
        if next == NIL {
            self.lists[usize::from(list)].tail = prev;
        } else {
            self.slab[next].prev = prev;
        }
        if prev != NIL {
            self.slab[prev].next = next;
            return;
        }
        self.lists[usize::from(list)].head = next;
        if next == NIL {
            self.vacate(list);
        }
    }

    /// Notes that a list is empty.
    fn vacate(&mut self, list: u16) {
        let (level, slot) = (usize::from(list) / SLOTS, usize::from(list) % SLOTS);
        // The list `DUE` is no level.
        let Some(occupied) = self.occupied.get_mut(level) else { return };
        *occupied &= !(1 << slot);
        if *occupied == 0 {
            self.levels &= !(1 << level);
        }
    }
}

/// The first tick of a slot: the digits above the level are the digits of `elapsed`, and the digits
/// below it are zero.
fn start_of(elapsed: u64, level: u32, slot: u32) -> u64 {
    let shift = level * DIGIT_BITS;
    let above = elapsed >> shift >> DIGIT_BITS;
    (above << DIGIT_BITS | u64::from(slot)) << shift
}
