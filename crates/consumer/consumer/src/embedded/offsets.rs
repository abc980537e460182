//! How far each group is: a log like the others, of which the last record of a key counts; of the generation of a group,
//! the highest. A commit says, too, how far the log of its partition was: a log that is shorter when it is opened has lost
//! records.
//!
//! Invariants:
//!
//! * `begin` returns a commit only after it is on the device, and from then on no commit of an earlier owner of the
//!   partition changes anything: one that is under way is waited for, a later one is refused. An earlier owner that begins
//!   after a later one is refused too.
//! * The generation of a group does not fall, whatever is lost of this log, and if all of it is made anew: at each opening it is
//!   at least the time in microseconds since 1970, of which fewer generations pass.
//! * The log is replaced by one record for each key when it is opened, and when it has become four times as long.

use self::stored::{Key, decode, encode};
use super::topics::Known;
use crate::log::{Begin, Commons, Cursor, Entry, Keep, New, Partition, Unread, since_1970};
use crate::source::{Commit, Committed, Owned, TopicPartition};
use colored::time::{Duration, sleep};
use colored::{Color, ColorCell};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

mod stored;

pub(crate) use self::stored::Stored;

/// The log is not replaced below this many records. A guess.
const FEW: u64 = 10_000;

/// How far the generations go on where some may be lost. Nobody gives so many while a clock is wrong.
const LEAP: u64 = 1 << 32;

/// The commits of all groups.
#[derive(Debug)]
pub(crate) struct Offsets {
    log: Arc<Partition>,
    state: ColorCell<State>,
    /// No group has had a higher generation before.
    floor: u64,
}

/// How an owner of a partition begins.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Begun {
    /// Where the owner before it was.
    At(Option<Committed>),
    /// A later owner has begun.
    TooLate,
}

#[derive(Debug, Default)]
struct State {
    /// With the offset in the log that says it.
    known: BTreeMap<Key, (u64, Stored)>,
    /// Records in the log since it was replaced.
    records: u64,
    /// The end of the log, if `known` has all that is in it.
    applied: u64,
    /// The generation of the owner of each partition. Others cannot commit.
    owners: BTreeMap<Key, u64>,
    /// How many commits of a partition are under way.
    under_way: BTreeMap<Key, usize>,
}

impl Offsets {
    /// Opens the commits in a directory, which may be empty if it is new.
    pub(crate) async fn open(
        directory: &Path,
        Keep { sync, skips, .. }: Keep,
        commons: Commons,
        is_new: bool,
    ) -> io::Result<Offsets> {
        // Only complete replacements may delete.
        let keep = Keep { segment_bytes: u64::MAX, bytes: None, millis: None, sync, skips };
        let log = Partition::open(directory, keep, commons, Begin { is_new, known: 0 }).await?;
        if let Some(damaged) = &log.damaged {
            // What is left of it is about to be replaced.
            colored::fs::copy(damaged, damaged.with_extension("damaged")).await?;
        }
        let mut state = State::default();
        let mut cursor = Cursor { offset: log.range().await.0, known: None };
        loop {
            let entries = log
                .read(&mut cursor, (10_000, usize::MAX), Vec::new(), |entry| entry)
                .await
                .map_err(failed)?;
            if entries.is_empty() {
                break;
            }
            for entry in entries {
                state.insert(&entry);
            }
        }
        state.applied = cursor.offset;
        let is_suspect = log.cut > 0 || !log.lost().await.is_empty() || (skips && !is_new);
        let floor = state.floor(is_suspect);
        let offsets = Offsets { log, state: ColorCell::new(Color::unique(), state), floor };
        offsets.replace().await.map_err(io::Error::other)?;
        // What was replaced is gone when this returns.
        offsets.log.delete_removed().await;
        Ok(offsets)
    }

    /// The offsets that the logs of partitions have reached, as the commits say.
    pub(crate) async fn ends(&self) -> Known {
        let ends = self.state.call(|state| {
            let mut ends = Known::new();
            for ((_, of), (_, stored)) in &state.known {
                if let Some(of) = of {
                    let end = ends.entry(of.clone()).or_default();
                    *end = stored.end.max(*end);
                }
            }
            ends
        });
        ends.await
    }

    /// How far a group is in a partition.
    pub(crate) async fn committed(&self, group: &str, of: &TopicPartition) -> Option<Committed> {
        let key = (group.to_owned(), Some(of.clone()));
        self.state.call(move |state| state.committed(&key)).await
    }

    /// Whether a group has a commit in another partition of the topic.
    pub(crate) async fn has_others(&self, group: &str, of: &TopicPartition) -> bool {
        let (group, of) = (group.to_owned(), of.clone());
        let found = self.state.call(move |state| {
            let is_other = |key: &Key| {
                let other = key.1.as_ref().filter(|other| key.0 == group && **other != of);
                other.is_some_and(|other| other.topic == of.topic)
            };
            state.known.keys().any(is_other)
        });
        found.await
    }

    /// Makes this generation the owner of a partition, unless a later one is.
    pub(crate) async fn begin(&self, group: &str, of: &TopicPartition, generation: u64) -> Begun {
        let key: Key = (group.to_owned(), Some(of.clone()));
        loop {
            let key = key.clone();
            match self.state.call(move |state| state.begin(&key, generation)).await {
                Some(begun) => return begun,
                // An earlier owner's commit is being written: some milliseconds, and rare.
                None => sleep(Duration::from_millis(1)).await,
            }
        }
    }

    /// The next generation of a group is higher.
    pub(crate) async fn last_generation(&self, group: &str) -> u64 {
        self.generation(group).await.max(self.floor)
    }

    /// The generation of a group that is on the device.
    pub(crate) async fn generation(&self, group: &str) -> u64 {
        let key = (group.to_owned(), None);
        let found = self
            .state
            .call(move |state| state.known.get(&key).map(|(_, stored)| stored.committed.offset));
        found.await.unwrap_or(0)
    }

    pub(crate) async fn store_generation(&self, group: &str, number: u64) -> Result<(), String> {
        let committed = Committed { offset: number, ..Committed::default() };
        let value = Stored { committed, end: 0 };
        self.store(vec![((group.to_owned(), None), value)]).await
    }

    /// Commits for owners, each with the end of its log; returns those that are owners no more. To be polled to its end.
    pub(crate) async fn commit(
        &self,
        group: &str,
        commits: Vec<(u64, Commit)>,
    ) -> Result<Vec<Owned>, String> {
        let group = group.to_owned();
        let begun = self.state.call(move |state| state.begin_commits(&group, commits));
        let (values, fenced) = begun.await;
        let keys: Vec<_> = values.iter().map(|(key, _)| key.clone()).collect();
        let stored = if values.is_empty() { Ok(()) } else { self.store(values).await };
        self.state.call(move |state| state.end_commits(&keys)).await;
        stored.map(|()| fenced)
    }

    /// Sets how far a group is. The owner of the partition does not matter.
    pub(crate) async fn set(
        &self,
        group: &str,
        of: TopicPartition,
        stored: Stored,
    ) -> Result<(), String> {
        self.store(vec![((group.to_owned(), Some(of)), stored)]).await
    }

    /// Forgets what all groups have committed of a topic that nobody owns any more.
    pub(crate) async fn forget(&self, topic: &str) -> Result<(), String> {
        let topic: Arc<str> = topic.into();
        let keys = self.state.call(move |state| {
            let is_of_topic =
                |of: &Option<TopicPartition>| of.as_ref().is_some_and(|of| of.topic == topic);
            // An owner that has committed nothing yet may be about to.
            let keys = state.known.keys().chain(state.owners.keys());
            keys.filter(|(_, of)| is_of_topic(of)).cloned().collect::<BTreeSet<_>>()
        });
        let keys = keys.await;
        for (group, of) in &keys {
            if let Some(of) = of {
                // A commit that is under way comes first, and no later one comes.
                self.begin(group, of, u64::MAX).await;
            }
        }
        if keys.is_empty() {
            return Ok(());
        }
        let nothing = |key: &Key| New { value: None, ..encode(key, &Stored::default()) };
        let appended = self.log.append(keys.iter().map(nothing).collect()).await;
        let is_forgotten = appended.is_ok();
        let forgotten = self.state.call(move |state| {
            // A topic of this name may come again.
            state.owners.retain(|key, _| !keys.contains(key));
            if is_forgotten {
                state.applied += keys.len() as u64;
                keys.iter().for_each(|key| drop(state.known.remove(key)));
            }
        });
        forgotten.await;
        appended.map(drop)
    }

    async fn store(&self, values: Vec<(Key, Stored)>) -> Result<(), String> {
        let records = values.iter().map(|(key, value)| encode(key, value)).collect();
        let first = self.log.append(records).await?;
        let is_long = self.state.call(move |state| {
            state.applied += values.len() as u64;
            for (offset, (key, value)) in (first..).zip(values) {
                state.set(offset, key, value);
            }
            state.records > FEW.max(4 * state.known.len() as u64)
        });
        if is_long.await { self.replace().await } else { Ok(()) }
    }

    /// Writes one record for each key, and forgets those before. If a commit is under way, a later call does it.
    async fn replace(&self) -> Result<(), String> {
        let taken = self.state.call(|state| {
            let records = state.known.iter().map(|(key, (_, value))| encode(key, value));
            (records.collect::<Vec<_>>(), state.applied)
        });
        let (records, applied) = taken.await;
        let (log, count) = (Arc::clone(&self.log), records.len() as u64);
        let replaced = self.log.state.call(move |state| {
            // The records must not stand behind a commit that they do not know.
            let knows_all = !state.is_writing && state.end == applied;
            (knows_all && !records.is_empty()).then(|| state.replace(&log, records))
        });
        let Some(confirmation) = replaced.await else { return Ok(()) };
        confirmation.await.unwrap_or_else(|_| Err("the runtime shuts down".to_owned()))?;
        let count_again = self.state.call(move |state| {
            state.applied += count;
            state.records = count;
        });
        count_again.await;
        Ok(())
    }
}

impl State {
    /// What no generation of a group was higher than. Where some may be lost and the clock was set back, it is beyond all that
    /// are known.
    fn floor(&self, is_suspect: bool) -> u64 {
        let now = u64::try_from(since_1970().as_micros()).unwrap_or(0);
        let generations = self.known.iter().filter(|((_, of), _)| of.is_none());
        let highest = generations.map(|(_, (_, stored))| stored.committed.offset).max();
        let ahead = highest.filter(|highest| is_suspect && *highest >= now);
        ahead.map_or(now, |highest| highest.saturating_add(LEAP))
    }

    /// `None` while a commit of an earlier owner is under way.
    fn begin(&mut self, key: &Key, generation: u64) -> Option<Begun> {
        let owner = self.owners.entry(key.clone()).or_default();
        if *owner > generation {
            return Some(Begun::TooLate);
        }
        *owner = generation;
        let is_quiet = !self.under_way.contains_key(key);
        is_quiet.then(|| Begun::At(self.committed(key)))
    }

    fn committed(&self, key: &Key) -> Option<Committed> {
        self.known.get(key).map(|(_, stored)| stored.committed.clone())
    }

    /// Splits commits into commits of owners, which are under way from now on, and other commits.
    fn begin_commits(
        &mut self,
        group: &str,
        commits: Vec<(u64, Commit)>,
    ) -> (Vec<(Key, Stored)>, Vec<Owned>) {
        let (mut values, mut fenced) = (Vec::new(), Vec::new());
        for (end, Commit { owned, committed }) in commits {
            let key: Key = (group.to_owned(), Some(owned.partition.clone()));
            if self.owners.get(&key) == Some(&owned.generation) {
                *self.under_way.entry(key.clone()).or_default() += 1;
                values.push((key, Stored { committed, end }));
            } else {
                fenced.push(owned);
            }
        }
        (values, fenced)
    }

    fn end_commits(&mut self, keys: &[Key]) {
        for key in keys {
            let count = self.under_way.get_mut(key).expect("it is under way");
            *count -= 1;
            if *count == 0 {
                self.under_way.remove(key);
            }
        }
    }

    fn insert(&mut self, entry: &Entry) {
        // What cannot be read is another version's, and stays unread.
        match decode(entry) {
            Some((key, Some(value))) => self.set(entry.offset, key, value),
            Some((key, None)) => drop(self.known.remove(&key)),
            None => {}
        }
    }

    /// Calls may return in another order than their records have. The last record counts; of a generation, the highest,
    /// because two members may store theirs at the same time.
    fn set(&mut self, offset: u64, key: Key, value: Stored) {
        self.records += 1;
        let is_generation = key.1.is_none();
        let known = self.known.entry(key).or_default();
        let is_higher = value.committed.offset >= known.1.committed.offset;
        let counts = if is_generation { is_higher } else { offset >= known.0 };
        if counts {
            *known = (offset, value);
        }
    }
}

fn failed(error: Unread) -> io::Error {
    match error {
        Unread::Failed(error) => error,
        Unread::OutOfRange(start, end) => io::Error::other(format!("offsets {start} to {end}")),
        Unread::Lost(lost) => io::Error::other(format!("offsets {lost:?} are lost")),
        Unread::Closed => io::Error::other("the directory is closed"),
    }
}

#[cfg(test)]
mod tests;
