//! [`Survey`]: what a dry run finds of order and skew.
//!
//! A dry run is a member that reads its partitions up to the ends that they had at first. It has no consumer: nothing is handled and
//! nothing is committed.

use super::contain::contain;
use super::driver::PAUSE;
use super::failure::ConsumerError;
use super::options::{Order, Settings};
use crate::source::{Control, Error, Event, Owned, Record, Room, Source, TopicPartition};
use colored::time::{Duration, sleep, timeout};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// How many keys are counted one by one. A guess: some 100 MB.
const MOST_KEYS: usize = 1_000_000;

/// How many keys a survey names.
const NAMED: usize = 10;

/// How long more partitions may take to come, when all are read. A guess: engines tell them within moments.
const QUIET: Duration = Duration::from_secs(2);

/// How often a partition is tried that cannot be read.
const TRIES: u32 = 5;

/// What one poll returns at most.
const ROOM: Room = Room { records: 10_000, bytes: 16 << 20 };

/// What a [dry run](crate::Builder::dry_run) has found. Its text is a table for people.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Survey {
    /// The records that were read.
    pub records: u64,
    /// Their bytes, by [`Record::size`](crate::Record::size).
    pub bytes: u64,
    /// Records without an order: they have no key, or the order is none.
    pub unordered: u64,
    /// Different keys in all partitions.
    pub keys: u64,
    /// Records whose key is not among the million that are counted. If there are some, all that is said of keys is a lower bound.
    pub uncounted: u64,
    /// Keys that are in more than one partition of a topic. Their records have no order: the number of partitions was changed, or
    /// producers choose them in different ways.
    pub split_keys: u64,
    /// Records that are older than one before them of the same key, by their times: producers with different clocks, or that sent
    /// again.
    pub backwards: u64,
    /// What the partitions have, in their order.
    pub partitions: Vec<PartitionSurvey>,
    /// The keys with most records, the first ten.
    pub hottest: Vec<KeySurvey>,
}

/// What a partition has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartitionSurvey {
    /// The partition.
    pub partition: TopicPartition,
    /// Its records.
    pub records: u64,
    /// Its different keys.
    pub keys: u64,
}

/// A key in a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeySurvey {
    /// The partition.
    pub partition: TopicPartition,
    /// The key; of the order of the partition, an empty one.
    pub key: Vec<u8>,
    /// Its records.
    pub records: u64,
}

impl Survey {
    /// How many times as fast as one handler so many handlers are at best, if each record takes the same time: the records of a key
    /// are handled one after the other. 0 if there is no record.
    #[must_use]
    pub fn speedup(&self, handlers: usize) -> f64 {
        let hottest = self.hottest.first().map_or(0, |key| key.records);
        let longest = hottest.max(self.records.div_ceil(handlers.max(1) as u64)).max(1);
        self.records as f64 / longest as f64
    }

    /// The records of the largest partition over those of an average one: 1 if all have as many, 0 if there is none.
    #[must_use]
    pub fn skew(&self) -> f64 {
        let largest = self.partitions.iter().map(|of| of.records).max().unwrap_or(0);
        largest as f64 * self.partitions.len() as f64 / self.records.max(1) as f64
    }
}

impl fmt::Display for Survey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Survey { records, bytes, unordered, keys, uncounted, split_keys, backwards, .. } = self;
        writeln!(f, "{records} records, {bytes} bytes, {keys} keys, {unordered} without an order")?;
        if *uncounted > 0 {
            writeln!(
                f,
                "{uncounted} records have keys that are not counted: the rest is a lower bound"
            )?;
        }
        writeln!(
            f,
            "keys in several partitions: {split_keys}; records older than one before: {backwards}"
        )?;
        let counts = [8, 64, 256].map(|count| format!("{count}: {:.1}", self.speedup(count)));
        writeln!(f, "times as fast as one handler, at best, by handlers: {}", counts.join(", "))?;
        writeln!(f, "largest partition over an average one: {:.2}", self.skew())?;
        for of in &self.partitions {
            writeln!(f, "{}: {} records, {} keys", of.partition, of.records, of.keys)?;
        }
        for of in &self.hottest {
            let part = 100.0 * of.records as f64 / (*records).max(1) as f64;
            let key = String::from_utf8_lossy(&of.key);
            writeln!(f, "key {key:?} of {}: {} records, {part:.1} %", of.partition, of.records)?;
        }
        Ok(())
    }
}

/// What is counted of a key.
#[derive(Clone, Copy, Debug)]
struct Tally {
    records: u64,
    newest: i64,
}

/// What is counted of a partition.
#[derive(Debug, Default)]
struct Count {
    records: u64,
    keys: HashMap<Box<[u8]>, Tally>,
}

/// What is counted.
#[derive(Debug, Default)]
struct Counts {
    survey: Survey,
    partitions: BTreeMap<TopicPartition, Count>,
    keys: usize,
}

impl Counts {
    fn add(&mut self, settings: &Settings, of: &TopicPartition, record: &Record) {
        let survey = &mut self.survey;
        survey.records += 1;
        survey.bytes += record.size() as u64;
        let made;
        let key = match (settings.order, &settings.key_of) {
            (Order::None, _) => None,
            (Order::Partition, _) => Some(&[][..]),
            (Order::Key, None) => record.key.as_deref(),
            (Order::Key, Some(key_of)) => {
                // The consumer would give it up.
                made = contain(|| key_of(record)).ok().flatten();
                made.as_deref()
            }
        };
        // It is there since its begin.
        let Some(count) = self.partitions.get_mut(of) else { return };
        count.records += 1;
        let Some(key) = key else {
            survey.unordered += 1;
            return;
        };
        if let Some(tally) = count.keys.get_mut(key) {
            survey.backwards += u64::from(record.timestamp < tally.newest);
            tally.records += 1;
            tally.newest = tally.newest.max(record.timestamp);
        } else if self.keys < MOST_KEYS {
            self.keys += 1;
            count.keys.insert(key.into(), Tally { records: 1, newest: record.timestamp });
        } else {
            survey.uncounted += 1;
        }
    }

    fn end(self, order: Order) -> Survey {
        let Counts { mut survey, partitions, .. } = self;
        let mut places: HashMap<(&Arc<str>, &[u8]), u64> = HashMap::new();
        let mut hottest = Vec::new();
        for (partition, count) in &partitions {
            let (records, keys) = (count.records, count.keys.len() as u64);
            survey.partitions.push(PartitionSurvey { partition: partition.clone(), records, keys });
            for (key, tally) in &count.keys {
                *places.entry((&partition.topic, key)).or_default() += 1;
                hottest.push((tally.records, partition, key));
            }
        }
        survey.keys = places.len() as u64;
        if order == Order::Key {
            survey.split_keys = places.values().filter(|count| **count > 1).count() as u64;
        }
        hottest.sort_by(|one, other| (other.0, one.1, one.2).cmp(&(one.0, other.1, other.2)));
        hottest.truncate(NAMED);
        let named = hottest.into_iter().map(|(records, partition, key)| KeySurvey {
            partition: partition.clone(),
            key: key.to_vec(),
            records,
        });
        survey.hottest = named.collect();
        survey
    }
}

/// A partition that is read.
#[derive(Debug)]
struct Reading {
    owned: Owned,
    /// Where it goes on, and where it ends.
    places: Range<u64>,
    tries: u32,
}

/// A member that reads, and counts.
pub(crate) struct DryRun<S: Source> {
    source: S,
    settings: Settings,
    readings: BTreeMap<TopicPartition, Reading>,
    counts: Counts,
}

impl<S: Source> DryRun<S> {
    pub(crate) fn new(source: S, settings: Settings) -> DryRun<S> {
        DryRun { source, settings, readings: BTreeMap::new(), counts: Counts::default() }
    }

    pub(crate) async fn run(mut self) -> Result<Survey, ConsumerError> {
        let read = self.read_all().await;
        let closed = self.source.close().await;
        read.map_err(ConsumerError::Source)?;
        closed.map_err(ConsumerError::Source)?;
        Ok(self.counts.end(self.settings.order))
    }

    async fn read_all(&mut self) -> Result<(), Error> {
        loop {
            let is_over = self.readings.values().all(|reading| reading.places.is_empty());
            let event = if is_over && !self.readings.is_empty() {
                match timeout(QUIET, self.source.poll(ROOM)).await {
                    Ok(event) => event?,
                    Err(_) => return Ok(()),
                }
            } else {
                self.source.poll(ROOM).await?
            };
            self.take(event).await?;
        }
    }

    async fn take(&mut self, event: Event) -> Result<(), Error> {
        match event {
            Event::Assigned(assignments) => {
                for assignment in assignments {
                    let owned = assignment.owned;
                    let places = self.places(&owned, assignment.log.start..assignment.log.end);
                    let places = places.await?;
                    let partition = owned.partition.clone();
                    self.counts.partitions.insert(partition.clone(), Count::default());
                    self.source.begin(&owned, places.start);
                    self.readings.insert(partition, Reading { owned, places, tries: 0 });
                }
            }
            Event::Records { owned, records, next, .. } => self.count(&owned, &records, next),
            Event::Revoked(gone) | Event::Lost(gone) => {
                let names: Vec<_> = gone.iter().map(|owned| owned.partition.to_string()).collect();
                self.source.control().release(gone).await?;
                let what = "went to another member: a dry run needs a group of its own";
                return Err(Error::new(format!("{} {what}", names.join(" "))));
            }
            Event::OutOfRange { owned, log } => {
                if let Some(reading) = self.reading(&owned) {
                    // What was deleted meanwhile is not there to be counted.
                    reading.places.start =
                        reading.places.start.clamp(log.start, log.end.max(log.start));
                    reading.places.end = reading.places.end.min(log.end);
                    let from = reading.places.start;
                    self.source.begin(&owned, from);
                }
            }
            Event::Failed { owned, error } => {
                let Some(reading) = self.reading(&owned) else { return Ok(()) };
                reading.tries += 1;
                if reading.tries >= TRIES {
                    return Err(Error::new(format!("{}: {error}", owned.partition)));
                }
                let from = reading.places.start;
                sleep(PAUSE).await;
                self.source.begin(&owned, from);
            }
        }
        Ok(())
    }

    fn reading(&mut self, owned: &Owned) -> Option<&mut Reading> {
        self.readings.get_mut(&owned.partition).filter(|reading| reading.owned == *owned)
    }

    /// Where a partition is read: all of it, or the span of a replay.
    async fn places(&self, owned: &Owned, all: Range<u64>) -> Result<Range<u64>, Error> {
        let Some(times) = self.settings.replay.clone() else { return Ok(all) };
        let control = self.source.control();
        let find = async |time| {
            let found = control.find(vec![owned.clone()], time).await?;
            let found = found.into_iter().next().flatten().unwrap_or(all.end);
            Ok(found.clamp(all.start, all.end.max(all.start)))
        };
        Ok(find(times.start).await?..find(times.end).await?)
    }

    fn count(&mut self, owned: &Owned, records: &[Record], next: u64) {
        let Some(reading) = self.readings.get_mut(&owned.partition) else { return };
        for record in records {
            if reading.places.contains(&record.offset) {
                self.counts.add(&self.settings, &owned.partition, record);
                reading.places.start = record.offset + 1;
            }
        }
        reading.places.start = reading.places.start.max(next);
        reading.tries = 0;
        if reading.places.is_empty() {
            self.source.pause(&owned.partition);
        }
    }
}
