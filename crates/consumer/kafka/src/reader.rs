//! The records of a partition that were fetched and not returned yet.

use crate::sys::PartitionQueue;
use colored::time::{Duration, Instant};
use colored_consumer::{Extent, Owned, Record, Room};
use std::collections::VecDeque;

/// So many records, or bytes, of a partition are read ahead: the client fetches more while they are handled. The answer to a
/// fetch has at most so many bytes of a partition, too, by default.
pub(crate) const AHEAD: Room = Room { records: 4_096, bytes: 1 << 20 };

/// An owned partition of which the consumer knows.
#[derive(Debug)]
pub(crate) struct Reader {
    pub(crate) owned: Owned,
    /// Which log it is, as last heard.
    log: Option<u128>,
    /// Which it was before: an answer that names one of them is late.
    past: Vec<u128>,
    /// What the client fetches of it. It stays there while too much is read ahead.
    pub(crate) queue: Option<PartitionQueue>,
    buffer: VecDeque<Record>,
    /// The size of what is in the buffer.
    bytes: usize,
    /// The offset that comes next, at least. None until the consumer begins, and after an offset out of range.
    next: Option<u64>,
    /// Where the client found nothing more that it can read.
    end: Option<u64>,
    /// The place and the end that the consumer was told at last.
    told: Option<(u64, u64)>,
    /// What the log has, when it does not have the next record.
    out_of_range: Option<Extent>,
    /// Since when the consumer has wanted no records.
    pub(crate) paused_since: Option<Instant>,
    /// Whether the client was told to fetch nothing.
    is_resting: bool,
}

impl Reader {
    pub(crate) fn new(owned: Owned, log: Option<u128>) -> Reader {
        Reader {
            owned,
            log,
            past: Vec::new(),
            queue: None,
            buffer: VecDeque::new(),
            bytes: 0,
            next: None,
            end: None,
            told: None,
            out_of_range: None,
            paused_since: None,
            is_resting: false,
        }
    }

    /// Reads from another place on: what was fetched is forgotten.
    pub(crate) fn begin(&mut self, offset: u64) {
        (self.next, self.end, self.told, self.out_of_range) = (Some(offset), None, None, None);
        self.clear();
    }

    fn clear(&mut self) {
        self.buffer.clear();
        self.bytes = 0;
    }

    /// Whether the client reads it.
    pub(crate) fn is_begun(&self) -> bool {
        self.next.is_some()
    }

    /// Whether this is another log than the one that was read, as far as both are known, and none of before.
    pub(crate) fn is_other(&self, log: Option<u128>) -> bool {
        let is_new = |now| !self.past.contains(&now);
        self.log.zip(log).is_some_and(|(before, now)| before != now && is_new(now))
    }

    /// What the log has, of which the next record is not there. Nothing of a log before is waited for.
    pub(crate) fn leave_range(&mut self, log: Extent) {
        if self.is_other(log.identity) {
            self.stop(true);
            self.past.extend(self.log);
        }
        (self.log, self.out_of_range) = (log.identity, Some(log));
    }

    /// The client reads it no further. What was fetched is returned, unless it is of a log that is there no more.
    pub(crate) fn stop(&mut self, forgets: bool) {
        self.next = None;
        if forgets {
            self.clear();
        }
    }

    /// Whether no more is to be read ahead.
    fn is_full(&self) -> bool {
        self.buffer.len() >= AHEAD.records || self.bytes >= AHEAD.bytes
    }

    /// Whether the client is to throw away what it has fetched, and fetch nothing (`true`), or to fetch again, if that is another
    /// thing than it was told at last: it rests when the consumer has wanted nothing for so long.
    pub(crate) fn take_rest(&mut self, after: Duration) -> Option<bool> {
        let is_long = |since: Instant| since.elapsed() >= after;
        let rests = self.is_begun() && self.paused_since.is_some_and(is_long);
        (std::mem::replace(&mut self.is_resting, rests) != rests).then_some(rests)
    }

    /// Whether what is in the queue may be taken. A client that was told to fetch nothing throws what it has there away when it is
    /// asked for it, and not before.
    pub(crate) fn may_take(&self) -> bool {
        self.is_resting || !self.is_full()
    }

    /// Keeps a record that was fetched, unless it is of a place that was left.
    pub(crate) fn push(&mut self, record: Record) {
        if self.next.is_some_and(|next| record.offset >= next) {
            self.next = Some(record.offset + 1);
            self.bytes += record.size();
            self.buffer.push_back(record);
        }
    }

    /// The client found nothing to read at this offset, which passes what is no record.
    pub(crate) fn reach_end(&mut self, offset: u64) {
        if self.next.is_some_and(|next| offset >= next) {
            (self.next, self.end) = (Some(offset), Some(offset));
        }
    }

    /// The offset that follows what was returned, and the end of what can be read. `known` is the end of the log, as the
    /// client knows it: it may be above that.
    pub(crate) fn tell(&mut self, after: u64, known: Option<u64>) -> (u64, u64) {
        let next = self.buffer.front().map(|record| record.offset).or(self.next).unwrap_or(after);
        let read = self.next.unwrap_or(next);
        let end = if self.end == Some(read) { read } else { known.unwrap_or(read).max(read) };
        self.told = Some((next, end));
        (next, end)
    }

    /// Where the end of what can be read is, if it was reached, and the consumer does not know that.
    pub(crate) fn take_end(&mut self) -> Option<u64> {
        let end = self.end.filter(|end| self.next == Some(*end))?;
        let is_news = self.told != Some((end, end));
        if !is_news || self.paused_since.is_some() || !self.buffer.is_empty() {
            return None;
        }
        self.told = Some((end, end));
        Some(end)
    }

    /// What the log has, if it does not have the next record, and what was fetched before is returned.
    pub(crate) fn take_out_of_range(&mut self) -> Option<Extent> {
        if self.buffer.is_empty() { self.out_of_range.take() } else { None }
    }

    /// Returns what there is room for: one record at least, if records may come at all.
    pub(crate) fn take(&mut self, room: Room) -> Vec<Record> {
        let mut taken = Vec::new();
        if self.paused_since.is_some() {
            return taken;
        }
        let mut bytes = 0;
        while taken.len() < room.records {
            let Some(record) = self.buffer.front() else { break };
            let size = record.size();
            bytes += size;
            if !taken.is_empty() && bytes > room.bytes {
                break;
            }
            self.bytes -= size;
            taken.extend(self.buffer.pop_front());
        }
        taken
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
        let mut reader = Reader::new(Owned { partition, generation: 1 }, None);
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

    /// The offsets 6 and 7 have no record; at 9 the client finds nothing that it can read, though the log ends at 12.
    #[test]
    fn the_place_passes_what_is_no_record() {
        let partition = TopicPartition { topic: "t".into(), partition: 0 };
        let mut reader = Reader::new(Owned { partition, generation: 1 }, None);
        reader.begin(5);
        [5, 8].into_iter().for_each(|offset| reader.push(record(offset)));
        assert_eq!(offsets(&reader.take(Room { records: 1, bytes: 1_000 })), [5]);
        assert_eq!(reader.tell(6, Some(12)), (8, 12));
        assert_eq!(offsets(&reader.take(Room { records: 9, bytes: 1_000 })), [8]);
        assert_eq!(reader.tell(9, Some(12)), (9, 12));
        assert_eq!(reader.take_end(), None);
        reader.reach_end(8); // of a place that was passed
        assert_eq!(reader.take_end(), None);
        reader.reach_end(9);
        assert_eq!((reader.take_end(), reader.take_end()), (Some(9), None));
        reader.reach_end(12);
        assert_eq!((reader.take_end(), reader.take_end()), (Some(12), None));
        reader.push(record(12));
        assert_eq!(offsets(&reader.take(Room { records: 9, bytes: 1_000 })), [12]);
        assert_eq!(reader.tell(13, Some(12)), (13, 13), "the client knows the end late");
    }

    #[test]
    fn what_was_fetched_before_a_gap_comes_before_it_is_told() {
        let mut reader = reader();
        reader.stop(false);
        reader.push(record(9));
        let log = Extent { start: 20, end: 30, ..Extent::default() };
        reader.leave_range(log.clone());
        assert_eq!(reader.take_out_of_range(), None);
        assert_eq!(offsets(&reader.take(Room { records: 9, bytes: 10_000 })), [5, 6, 7]);
        assert_eq!((reader.take_out_of_range(), reader.take_out_of_range()), (Some(log), None));
    }

    #[test]
    fn what_is_said_of_a_log_of_before_is_late() {
        let mut reader = Reader { log: Some(1), ..reader() };
        assert_eq!([None, Some(1), Some(2)].map(|log| reader.is_other(log)), [false, false, true]);
        reader.stop(false);
        reader.leave_range(Extent { identity: Some(2), ..Extent::default() });
        assert_eq!(reader.take(Room { records: 9, bytes: 10_000 }), [], "they are of the first");
        assert_eq!(
            [Some(1), Some(2), Some(3)].map(|log| reader.is_other(log)),
            [false, false, true]
        );
    }

    #[test]
    fn a_paused_reader_keeps_what_it_has() {
        let mut reader = reader();
        reader.paused_since = Some(Instant::now());
        assert_eq!(offsets(&reader.take(Room { records: 9, bytes: 1_000 })), [0; 0]);
        reader.paused_since = None;
        assert_eq!(offsets(&reader.take(Room { records: 9, bytes: 10_000 })), [5, 6, 7]);
    }

    #[test]
    fn the_client_rests_when_nothing_was_wanted_for_long() {
        let (mut reader, long) = (reader(), Duration::from_secs(60));
        assert_eq!(reader.take_rest(Duration::ZERO), None);
        reader.paused_since = Some(Instant::now());
        assert_eq!(reader.take_rest(long), None);
        let told = [Duration::ZERO, Duration::ZERO].map(|after| reader.take_rest(after));
        assert_eq!(told, [Some(true), None]);
        reader.push(Record { value: Some(vec![0; 1 << 20].into()), ..record(8) });
        assert!(reader.is_full() && reader.may_take());
        reader.paused_since = None;
        assert_eq!([long, long].map(|after| reader.take_rest(after)), [Some(false), None]);
        assert!(!reader.may_take());
        reader.stop(false);
        reader.paused_since = Some(Instant::now());
        assert_eq!(reader.take_rest(Duration::ZERO), None, "the client reads nothing");
    }

    #[test]
    fn so_many_records_or_bytes_are_read_ahead() {
        let mut reader = reader();
        (8..).take_while(|offset| *offset < 5 + 4_096).for_each(|offset| {
            assert!(!reader.is_full(), "{offset}");
            reader.push(record(offset));
        });
        assert!(reader.is_full());
        assert_eq!(reader.take(Room { records: 1, bytes: 1 }).len(), 1);
        assert!(!reader.is_full());
        let value = Some(vec![0; 1 << 20].into());
        reader.push(Record { value, ..record(5 + 4_096) });
        assert!(reader.is_full(), "by its bytes");
        reader.begin(0);
        assert!(!reader.is_full());
    }
}
