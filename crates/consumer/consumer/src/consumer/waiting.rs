//! The records that have come and have not started: all of a consumer in one table, in which those of a lane are a row.
//!
//! A row of its own allocation would cost more than all else that a record costs here: large allocations, which come and go, make the
//! allocator sort all that is free.

use crate::source::Record;

/// No place.
const NOWHERE: u32 = u32::MAX;

/// So many places are kept when no record waits. A guess.
const KEPT: usize = 32_768;

#[derive(Debug)]
struct Place {
    /// None in a place that is free.
    record: Option<Record>,
    /// The next of the row, or the next one that is free.
    next: u32,
}

/// So many places are allocated at a time: a table that doubled would leave holes in the memory, of its sizes before.
const PART: usize = 64;

/// The records.
#[derive(Debug)]
pub(crate) struct Waiting {
    parts: Vec<Vec<Place>>,
    /// The first place that is free.
    free: u32,
    len: usize,
}

/// A row of records, in their order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    first: u32,
    last: u32,
    len: u32,
    /// The offset of the first.
    offset: u64,
}

impl Default for Waiting {
    fn default() -> Waiting {
        Waiting { parts: Vec::new(), free: NOWHERE, len: 0 }
    }
}

impl Waiting {
    #[inline]
    fn place(&mut self, at: u32) -> &mut Place {
        &mut self.parts[at as usize / PART][at as usize % PART]
    }

    #[inline]
    fn insert(&mut self, record: Record, next: u32) -> u32 {
        self.len += 1;
        let at = self.free;
        if at == NOWHERE {
            return self.add(Place { record: Some(record), next });
        }
        let place = self.place(at);
        let free = std::mem::replace(&mut place.next, next);
        place.record = Some(record);
        self.free = free;
        at
    }

    /// Adds a place behind the others. None of them is free.
    #[cold]
    fn add(&mut self, place: Place) -> u32 {
        let is_whole = |last: &Vec<Place>| last.len() == PART;
        if self.parts.last().is_none_or(is_whole) {
            self.parts.push(Vec::with_capacity(PART));
        }
        let before = (self.parts.len() - 1) * PART;
        let last = self.parts.last_mut().expect("there is one");
        last.push(place);
        let at = u32::try_from(before + last.len() - 1).unwrap_or(NOWHERE);
        assert_ne!(at, NOWHERE, "memory would not be enough for so many");
        at
    }

    /// Gives memory back that nothing needs.
    pub(crate) fn shrink(&mut self) {
        if self.len == 0 && self.parts.len() > KEPT / PART {
            *self = Waiting::default();
        }
    }
}

impl Row {
    pub(crate) const fn new() -> Row {
        Row { first: NOWHERE, last: NOWHERE, len: 0, offset: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// The offset of the first record.
    #[inline]
    pub(crate) fn first(&self) -> Option<u64> {
        (self.len > 0).then_some(self.offset)
    }

    /// Adds a record behind the others.
    #[inline]
    pub(crate) fn push(&mut self, waiting: &mut Waiting, record: Record) {
        let offset = record.offset;
        let at = waiting.insert(record, NOWHERE);
        if self.len == 0 {
            (self.first, self.offset) = (at, offset);
        } else {
            waiting.place(self.last).next = at;
        }
        self.last = at;
        self.len += 1;
    }

    /// Adds a record before the others.
    pub(crate) fn push_front(&mut self, waiting: &mut Waiting, record: Record) {
        self.offset = record.offset;
        self.first = waiting.insert(record, self.first);
        if self.len == 0 {
            self.last = self.first;
        }
        self.len += 1;
    }

    /// Moves the first record, if there is one, behind those of a vector.
    #[inline]
    pub(crate) fn move_first(&mut self, waiting: &mut Waiting, to: &mut Vec<Record>) {
        if self.len == 0 {
            return;
        }
        let free = waiting.free;
        let place = waiting.place(self.first);
        to.extend(place.record.take());
        let next = std::mem::replace(&mut place.next, free);
        waiting.free = self.first;
        waiting.len -= 1;
        self.len -= 1;
        if self.len > 0 {
            self.first = next;
            self.offset = waiting.place(next).record.as_ref().map_or(0, |of| of.offset);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    fn record(offset: u64) -> Record {
        let topic = "t".into();
        Record {
            topic,
            partition: 0,
            offset,
            timestamp: 0,
            key: None,
            value: None,
            headers: Vec::new(),
        }
    }

    /// Rows in one table, beside queues of their own.
    #[test]
    fn rows_are_queues() {
        let (mut chance, mut waiting) = (fastrand::Rng::with_seed(5), Waiting::default());
        let mut rows: Vec<(Row, VecDeque<u64>)> = vec![(Row::new(), VecDeque::new()); 20];
        for offset in 0..20_000 {
            let (row, queue) = &mut rows[chance.usize(..20)];
            match chance.u8(..9) {
                0..4 => {
                    row.push(&mut waiting, record(offset));
                    queue.push_back(offset);
                }
                4 => {
                    row.push_front(&mut waiting, record(offset));
                    queue.push_front(offset);
                }
                _ => {
                    let mut taken = Vec::new();
                    row.move_first(&mut waiting, &mut taken);
                    assert_eq!(taken.first().map(|of| of.offset), queue.pop_front());
                }
            }
            assert_eq!((row.len(), row.first()), (queue.len(), queue.front().copied()));
        }
        assert!(waiting.parts.len() < 10_000 / PART, "places are used again");
        for (mut row, queue) in rows {
            let mut taken = Vec::new();
            (0..row.len()).for_each(|_| row.move_first(&mut waiting, &mut taken));
            assert!(taken.iter().map(|record| record.offset).eq(queue));
        }
        assert_eq!(waiting.len, 0);
    }

    #[test]
    fn much_memory_is_given_back() {
        let (mut waiting, mut row) = (Waiting::default(), Row::new());
        (0..=KEPT as u64).for_each(|offset| row.push(&mut waiting, record(offset)));
        for _ in 0..=KEPT {
            row.move_first(&mut waiting, &mut Vec::new());
            waiting.shrink();
        }
        assert_eq!(waiting.parts.capacity(), 0);
    }
}
