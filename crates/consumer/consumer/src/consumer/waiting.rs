//! A claim keeps the records that have come and have not started in one table; the records of a lane are a row of it.
//!
//! A row of its own allocation would cost more than all else that a record costs here: large allocations, which come and go, make the
//! allocator sort all that is free.

use super::kept::Kept;
use super::table::{NOWHERE, Table};

/// So many places are allocated at a time.
const PART: usize = 32;

/// So many places are kept by all claims when no record waits. A guess.
pub(crate) const KEPT: usize = 32_768;

#[derive(Debug)]
struct Place {
    record: Kept,
    /// The next of the row.
    next: u32,
}

/// The records.
#[derive(Debug)]
pub(crate) struct Waiting(Table<Place, PART>);

/// A row of records, in their order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    first: u32,
    last: u32,
    len: u32,
}

impl Default for Waiting {
    fn default() -> Waiting {
        Waiting(Table::new())
    }
}

impl Waiting {
    /// Gives memory back that nothing needs.
    pub(crate) fn shrink(&mut self, kept: usize) {
        self.0.shrink(kept);
    }
}

impl Row {
    pub(crate) const fn new() -> Row {
        Row { first: NOWHERE, last: NOWHERE, len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// The offset of the first record.
    #[inline]
    pub(crate) fn first(&self, waiting: &Waiting) -> Option<u64> {
        (self.len > 0).then(|| waiting.0[self.first].record.offset)
    }

    /// Adds a record behind the others.
    #[inline]
    pub(crate) fn push(&mut self, Waiting(table): &mut Waiting, record: Kept) {
        let at = table.insert(Place { record, next: NOWHERE });
        if self.len == 0 {
            self.first = at;
        } else {
            table[self.last].next = at;
        }
        self.last = at;
        self.len += 1;
    }

    /// Adds a record before the others.
    pub(crate) fn push_front(&mut self, Waiting(table): &mut Waiting, record: Kept) {
        self.first = table.insert(Place { record, next: self.first });
        if self.len == 0 {
            self.last = self.first;
        }
        self.len += 1;
    }

    /// Takes the first record out.
    #[inline]
    pub(crate) fn pop(&mut self, Waiting(table): &mut Waiting) -> Option<Kept> {
        self.len = self.len.checked_sub(1)?;
        let Place { record, next } = table.remove(self.first);
        self.first = next;
        Some(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// Rows in one table, beside queues of their own.
    #[test]
    fn rows_are_queues() {
        let (mut chance, mut waiting) = (fastrand::Rng::with_seed(5), Waiting::default());
        let mut rows: Vec<(Row, VecDeque<u64>)> = vec![(Row::new(), VecDeque::new()); 20];
        for offset in 0..20_000 {
            let (row, queue) = &mut rows[chance.usize(..20)];
            match chance.u8(..9) {
                0..4 => {
                    row.push(&mut waiting, Kept::empty(offset));
                    queue.push_back(offset);
                }
                4 => {
                    row.push_front(&mut waiting, Kept::empty(offset));
                    queue.push_front(offset);
                }
                _ => assert_eq!(row.pop(&mut waiting).map(|of| of.offset), queue.pop_front()),
            }
            let first = row.first(&waiting);
            assert_eq!((row.len(), first), (queue.len(), queue.front().copied()));
        }
        for (mut row, queue) in rows {
            let taken = std::iter::from_fn(|| row.pop(&mut waiting));
            assert!(taken.map(|record| record.offset).eq(queue));
        }
        assert_eq!(waiting.0.iter().count(), 0);
        waiting.shrink(KEPT);
        assert!(waiting.0.bytes() > 0, "so few are kept");
        let mut row = Row::new();
        (0..=KEPT as u64).for_each(|offset| row.push(&mut waiting, Kept::empty(offset)));
        while row.pop(&mut waiting).is_some() {}
        waiting.shrink(KEPT);
        assert_eq!(waiting.0.bytes(), 0);
    }
}
