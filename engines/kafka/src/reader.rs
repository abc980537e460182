//! The records of a partition that were fetched and not returned yet.

use colored_consumer::{Owned, Record, Room};
use std::collections::VecDeque;

/// An owned partition of which the consumer knows.
#[derive(Debug)]
pub(crate) struct Reader {
    pub(crate) owned: Owned,
    pub(crate) buffer: VecDeque<Record>,
    /// The offset that comes next, at least. None until the consumer begins, and after an offset out of range.
    pub(crate) next: Option<u64>,
    /// Whether the consumer wants no records.
    pub(crate) is_paused: bool,
    /// Whether the client was told so.
    pub(crate) is_client_paused: bool,
}

impl Reader {
    pub(crate) fn new(owned: Owned) -> Reader {
        Reader {
            owned,
            buffer: VecDeque::new(),
            next: None,
            is_paused: false,
            is_client_paused: false,
        }
    }

    /// Reads from another place on: what was fetched is forgotten.
    pub(crate) fn begin(&mut self, offset: u64) {
        self.next = Some(offset);
        self.buffer.clear();
    }

    /// Keeps a record that was fetched, unless it is of a place that was left.
    pub(crate) fn push(&mut self, record: Record) {
        if self.next.is_some_and(|next| record.offset >= next) {
            self.next = Some(record.offset + 1);
            self.buffer.push_back(record);
        }
    }

    /// Returns what there is room for: one record at least, if records may come at all.
    pub(crate) fn take(&mut self, room: Room) -> Vec<Record> {
        let mut taken = Vec::new();
        if self.is_paused {
            return taken;
        }
        let mut bytes = 0;
        while taken.len() < room.records {
            let Some(record) = self.buffer.front() else { break };
            bytes += record.size();
            if !taken.is_empty() && bytes > room.bytes {
                break;
            }
            taken.extend(self.buffer.pop_front());
        }
        taken
    }

    /// Whether the client is to fetch nothing more: what it has fetched cannot be returned. What is empty may fetch, or other
    /// partitions that keep the consumer full would starve it: a pause throws away what is on its way. For that reason a
    /// pause lasts until all is returned, too.
    pub(crate) fn wants_pause(&self, is_full: bool) -> bool {
        let must_wait = is_full || self.is_paused || self.is_client_paused;
        self.next.is_some() && !self.buffer.is_empty() && must_wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use colored_consumer::TopicPartition;

    fn record(offset: u64) -> Record {
        let (topic, value) = ("t".into(), Some(vec![0; 100].into()));
        Record { topic, partition: 0, offset, timestamp: 0, key: None, value, headers: Vec::new() }
    }

    fn reader() -> Reader {
        let partition = TopicPartition { topic: "t".into(), partition: 0 };
        let mut reader = Reader::new(Owned { partition, generation: 1 });
        reader.begin(5);
        (3..8).for_each(|offset| reader.push(record(offset)));
        reader
    }

    fn offsets(records: &[Record]) -> Vec<u64> {
        records.iter().map(|record| record.offset).collect()
    }

    #[test]
    fn records_come_from_the_begin_on_and_within_the_room() {
        let mut reader = reader();
        assert_eq!(offsets(&reader.take(Room { records: 0, bytes: 1_000 })), [0; 0]);
        assert_eq!(offsets(&reader.take(Room { records: 9, bytes: 10 })), [5]);
        assert_eq!(offsets(&reader.take(Room { records: 1, bytes: 1_000 })), [6]);
        assert_eq!(offsets(&reader.take(Room { records: 9, bytes: 1_000 })), [7]);
        reader.begin(2);
        reader.push(record(2));
        assert_eq!(offsets(&reader.take(Room { records: 9, bytes: 1_000 })), [2]);
    }

    #[test]
    fn a_paused_reader_keeps_what_it_has() {
        let mut reader = reader();
        reader.is_paused = true;
        assert_eq!(offsets(&reader.take(Room { records: 9, bytes: 1_000 })), [0; 0]);
        assert!(reader.wants_pause(false));
        reader.is_paused = false;
        assert!(!reader.wants_pause(false) && reader.wants_pause(true));
        assert_eq!(offsets(&reader.take(Room { records: 9, bytes: 10_000 })), [5, 6, 7]);
    }

    /// A partition that has just begun gets its first records although the consumer is full of others.
    #[test]
    fn only_what_has_records_is_paused_until_they_are_gone() {
        let mut reader = reader();
        assert!(reader.wants_pause(true));
        reader.is_client_paused = true;
        assert!(reader.wants_pause(false), "it has records");
        reader.take(Room { records: 9, bytes: 10_000 });
        assert!(!reader.wants_pause(false) && !reader.wants_pause(true));
    }
}
