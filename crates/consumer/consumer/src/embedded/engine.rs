//! [`Engine`]: the directory with its topics and groups.

use super::group::Group;
use super::lock;
use super::member::MemberOptions;
use super::offsets::{Offsets, Stored};
use super::options::Options;
use super::topics::{self, Folder, MOST_PARTITIONS, Topic, Topics, failed};
use crate::log::{Commons, Files, Keep, New, create_directories, now_in_millis};
use crate::source::{Committed, Error, TopicPartition};
use bytes::Bytes;
use colored::sync::{Mutex, Notify};
use colored::time::{Duration, Instant};
use colored::{Color, ColorCell};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

/// No record is larger, with its headers. As Kafka's largest with usual settings, and 16 times that.
const MOST_BYTES: usize = 16 << 20;

/// No record has more headers.
const MOST_HEADERS: usize = 1_000;

/// No name of a header is longer.
const MOST_BYTES_OF_A_NAME: usize = 1_000;

/// A partitioned log in a directory, with its groups. Clones are the same engine; the last one gives the directory
/// free, when what was being written is written.
#[derive(Clone, Debug)]
pub struct Engine(pub(crate) Arc<Shared>);

/// What the clones of an engine share.
#[derive(Debug)]
pub(crate) struct Shared {
    folder: Folder,
    /// Held while a topic is made, grows or is deleted.
    changing: Mutex<()>,
    pub(crate) topics: ColorCell<Topics>,
    pub(crate) offsets: Offsets,
    pub(crate) groups: ColorCell<BTreeMap<String, Members>>,
    start: Instant,
    /// Counts the records without a key.
    unkeyed: AtomicUsize,
}

/// A group, and how to wake its members.
#[derive(Debug)]
pub(crate) struct Members {
    pub(crate) group: Group,
    pub(crate) wakes: BTreeMap<u64, Weak<Notify>>,
}

impl Members {
    /// Wakes those that have something to hear.
    pub(crate) fn wake(&mut self) {
        self.wakes.retain(|_, wake| wake.strong_count() > 0);
        for (id, wake) in &self.wakes {
            if self.group.has_changes(*id) {
                wake.upgrade().inspect(|wake| wake.notify_one());
            }
        }
    }
}

impl Shared {
    /// The time of the groups.
    pub(crate) fn now(&self) -> Duration {
        self.start.elapsed()
    }

    /// Another number at each call.
    fn next_unkeyed(&self) -> usize {
        // Ordering: only the numbers count.
        self.unkeyed.fetch_add(1, Ordering::Relaxed)
    }

    async fn topic(&self, name: &str) -> Result<Topic, Error> {
        let wanted: Arc<str> = name.into();
        let found = self.topics.call(move |topics| topics.get(&wanted).cloned()).await;
        found.ok_or_else(|| unknown(name))
    }

    /// Tells all groups which topics there are.
    async fn tell_groups(&self) {
        let counts = self.topics.call(|topics| topics::counts(topics)).await;
        let now = self.now();
        let told = self.groups.call(move |groups| {
            for members in groups.values_mut() {
                members.group.set_topics(&counts, now);
                members.wake();
            }
        });
        told.await;
    }
}

pub(crate) fn unknown(topic: &str) -> Error {
    Error::new(format!("there is no topic {topic:?}: `Engine::create_topic` makes one"))
}

/// A record that is to be sent.
#[derive(Clone, Debug, Default)]
pub struct NewRecord {
    /// Decides the partition. Records without a key go to all partitions in turn.
    pub key: Option<Bytes>,
    /// The value. Without one the record is a tombstone, which says that its key has no value any more.
    pub value: Option<Bytes>,
    /// Names with values. A header may have no value.
    pub headers: Vec<(String, Option<Bytes>)>,
}

impl NewRecord {
    /// A record with a key, and no headers.
    pub fn new(key: impl Into<Bytes>, value: impl Into<Bytes>) -> NewRecord {
        NewRecord { key: Some(key.into()), value: Some(value.into()), headers: Vec::new() }
    }

    /// A tombstone: a record with a key, without a value, and without headers.
    pub fn tombstone(key: impl Into<Bytes>) -> NewRecord {
        NewRecord { key: Some(key.into()), ..NewRecord::default() }
    }
}

impl Engine {
    /// Opens the engine in a directory, with the default [`Options`]. Not cancel safe: a dropped call may leave an empty
    /// directory.
    ///
    /// # Errors
    ///
    /// If another engine has the directory, or the system refuses something.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    pub async fn open(directory: impl AsRef<Path>) -> Result<Engine, Error> {
        Options::new().open(directory).await
    }

    pub(crate) async fn open_with(
        directory: &Path,
        keep: Keep,
        files: usize,
    ) -> Result<Engine, Error> {
        let folder = directory.join("topics");
        let made = create_directories(&folder, keep.sync).await;
        made.map_err(|error| failed(&folder, error))?;
        let lock = lock::take(directory).await.map_err(|error| failed(directory, error))?;
        let commons = Commons { _lock: lock, files: Files::new(files) };
        let folder = Folder { path: folder, keep, commons };
        let (groups, list) = (directory.join("groups"), folder.list().await?);
        let opened = async {
            create_directories(&groups, keep.sync).await?;
            Offsets::open(&groups, keep, folder.commons.clone(), list.is_empty()).await
        };
        let offsets = opened.await.map_err(|error| failed(directory, error))?;
        let topics = folder.open_all(list, &offsets.ends().await).await?;
        Ok(Engine(Arc::new(Shared {
            folder,
            changing: Mutex::new(()),
            topics: ColorCell::new(Color::unique(), topics),
            offsets,
            groups: ColorCell::new(Color::unique(), BTreeMap::new()),
            start: Instant::now(),
            unkeyed: AtomicUsize::new(0),
        })))
    }

    /// Makes a topic, or gives it more partitions. Keys go to other partitions then. Nothing happens if it has as many.
    /// Not cancel safe: a dropped call may leave folders, which a later call uses.
    ///
    /// # Errors
    ///
    /// If the name cannot be a folder's, the topic has more partitions already, the number is not from 1 to 10,000, or
    /// the system refuses something.
    pub async fn create_topic(&self, name: &str, partitions: u32) -> Result<(), Error> {
        topics::check_name(name)?;
        if !(1..=MOST_PARTITIONS).contains(&partitions) {
            let text = format!("{partitions} partitions: 1 to {MOST_PARTITIONS} are allowed");
            return Err(Error::new(text));
        }
        let _guard = self.0.changing.lock().await;
        if let Ok(topic) = self.0.topic(name).await {
            let count = topic.partitions.len() as u32;
            if count == partitions {
                return Ok(());
            }
            if count > partitions {
                let text =
                    format!("topic {name:?} has {count} partitions, and cannot get {partitions}");
                return Err(Error::new(text));
            }
            return self.grow_topic(topic, partitions).await;
        }
        let known = self.0.offsets.ends().await;
        let topic = self.0.folder.open(name, 0..partitions, &known, true).await?;
        self.add_topic(topic).await
    }

    async fn grow_topic(&self, topic: Topic, partitions: u32) -> Result<(), Error> {
        let count = topic.partitions.len() as u32;
        let known = self.0.offsets.ends().await;
        let new = self.0.folder.open(&topic.name, count..partitions, &known, true).await?;
        let all: Vec<_> = topic.partitions.iter().chain(&*new.partitions).cloned().collect();
        self.add_topic(Topic { partitions: all.into(), ..topic }).await
    }

    async fn add_topic(&self, topic: Topic) -> Result<(), Error> {
        self.0.folder.write_count(&topic).await?;
        let add = move |topics: &mut Topics| drop(topics.insert(Arc::clone(&topic.name), topic));
        self.0.topics.call(add).await;
        self.0.tell_groups().await;
        Ok(())
    }

    /// Deletes a topic with its records and its commits. Its owners lose its partitions. Not cancel safe: a dropped call may have deleted a part.
    ///
    /// # Errors
    ///
    /// If there is no such topic, or the system refuses.
    pub async fn delete_topic(&self, name: &str) -> Result<(), Error> {
        let _guard = self.0.changing.lock().await;
        let topic = self.0.topic(name).await?;
        let own = Arc::clone(&topic.name);
        self.0.topics.call(move |topics| drop(topics.remove(&own))).await;
        self.0.tell_groups().await;
        for partition in topic.partitions.iter() {
            partition.close(&format!("topic {name:?} is deleted")).await;
        }
        self.0.offsets.forget(name).await.map_err(Error::new)?;
        self.0.folder.delete(name).await
    }

    /// Appends a record, and waits until it is on the device; returns its partition and its offset. Cancel safe, but a
    /// dropped call may still append.
    ///
    /// # Errors
    ///
    /// If there is no such topic, or the system refuses; the record is then not in the log, unless the error came from
    /// `fdatasync`.
    pub async fn send(&self, topic: &str, record: NewRecord) -> Result<(u32, u64), Error> {
        let record = new(record)?;
        let topic = self.0.topic(topic).await?;
        let at = match &record.key {
            Some(key) => topic.partition_of(key),
            None => self.0.next_unkeyed() % topic.partitions.len(),
        };
        let offset = topic.partitions[at].append(vec![record]).await.map_err(Error::new)?;
        Ok((at as u32, offset))
    }

    /// As [`send`](Self::send), to a partition that the caller chooses; returns the offset. Cancel safe, but a dropped call
    /// may still append.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send), and if there is no such partition.
    pub async fn send_to(
        &self,
        topic: &str,
        partition: u32,
        record: NewRecord,
    ) -> Result<u64, Error> {
        let record = new(record)?;
        let topic = self.0.topic(topic).await?;
        let Some(log) = topic.partitions.get(partition as usize) else {
            let count = topic.partitions.len();
            return Err(Error::new(format!(
                "partition {partition} of {}: it has {count}",
                topic.name
            )));
        };
        log.append(vec![record]).await.map_err(Error::new)
    }

    /// Appends records, and waits until all are on the device. The records of a key keep this order. Cancel safe, but a dropped
    /// call may still append some.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send). Some of the records may be in the log then.
    pub async fn send_all(
        &self,
        topic: &str,
        records: impl IntoIterator<Item = NewRecord>,
    ) -> Result<(), Error> {
        let topic = self.0.topic(topic).await?;
        let mut rows: Vec<Vec<New>> = topic.partitions.iter().map(|_| Vec::new()).collect();
        for (number, record) in records.into_iter().enumerate() {
            let at = match &record.key {
                Some(key) => topic.partition_of(key),
                None => number % rows.len(),
            };
            rows[at].push(new(record)?);
        }
        let mut confirmations = Vec::new();
        for (partition, row) in topic.partitions.iter().zip(rows) {
            if !row.is_empty() {
                let of = Arc::clone(partition);
                let append = partition.state.call(move |state| state.append(&of, row));
                confirmations.push(append.await);
            }
        }
        for confirmation in confirmations {
            let confirmed = confirmation.await;
            confirmed.unwrap_or_else(|_| Err("shut down".to_owned())).map_err(Error::new)?;
        }
        Ok(())
    }

    /// A member of a group that reads these topics: set its options, and let it join.
    pub fn member<T: Into<Arc<str>>>(
        &self,
        group: &str,
        topics: impl IntoIterator<Item = T>,
    ) -> MemberOptions {
        let topics = topics.into_iter().map(Into::into).collect();
        MemberOptions::new(Arc::clone(&self.0), group.to_owned(), topics)
    }

    /// How far a group is in a partition. Cancel safe.
    pub async fn committed(&self, group: &str, partition: &TopicPartition) -> Option<Committed> {
        self.0.offsets.committed(group, partition).await
    }

    /// Sets how far a group is in a partition, as an administrator does while the group has no members. Not cancel safe:
    /// a dropped call may still set it.
    ///
    /// # Errors
    ///
    /// The system's.
    pub async fn set_committed(
        &self,
        group: &str,
        partition: TopicPartition,
        committed: Committed,
    ) -> Result<(), Error> {
        let of = partition.clone();
        let log = self.0.topics.call(move |topics| topics::find(topics, &of)).await;
        let stored = Stored { committed, end: log.map_or(0, |log| log.end()) };
        self.0.offsets.set(group, partition, stored).await.map_err(Error::new)
    }

    /// The first offset that a partition has, and the offset after the last. Cancel safe.
    ///
    /// # Errors
    ///
    /// If there is no such partition.
    pub async fn range(&self, partition: &TopicPartition) -> Result<(u64, u64), Error> {
        let of = partition.clone();
        let found = self.0.topics.call(move |topics| topics::find(topics, &of)).await;
        match found {
            Some(log) => Ok(log.range().await),
            None => Err(Error::new(format!("there is no partition {partition}"))),
        }
    }

    /// How many bytes were cut off when the partitions were opened, in all: writes that were never confirmed. Cancel safe.
    pub async fn cut_bytes(&self) -> u64 {
        let sum = |topics: &mut Topics| {
            let partitions = topics.values().flat_map(|topic| topic.partitions.iter());
            partitions.map(|partition| partition.cut).sum()
        };
        self.0.topics.call(sum).await
    }

    /// Offsets of records that were confirmed and are lost, as far as the engine has met them: those of a log that was shorter at
    /// its opening than a commit says, and those that [`Damage::Skip`](super::Damage::Skip) has passed over. Cancel safe.
    pub async fn lost(&self) -> Vec<(TopicPartition, Range<u64>)> {
        let all = self.0.topics.call(|topics| topics.values().cloned().collect::<Vec<_>>()).await;
        let mut lost = Vec::new();
        for topic in all {
            for (number, log) in (0..).zip(&*topic.partitions) {
                let of = TopicPartition { topic: Arc::clone(&topic.name), partition: number };
                lost.extend(log.lost().await.into_iter().map(|range| (of.clone(), range)));
            }
        }
        lost
    }

    /// Deletes the segments that the options no longer retain. It also happens at each append. Cancel safe: a dropped
    /// call may leave files, which the next opening finds.
    pub async fn delete_old(&self) {
        let all = self.0.topics.call(|topics| topics.values().cloned().collect::<Vec<_>>()).await;
        for partition in all.iter().flat_map(|topic| topic.partitions.iter()) {
            let (keep, now) = (partition.keep, now_in_millis());
            partition.state.call(move |state| state.remove_old(keep, now)).await;
            partition.delete_removed().await;
        }
    }
}

/// A record with the time, if the log can take it.
fn new(record: NewRecord) -> Result<New, Error> {
    let NewRecord { key, value, headers } = record;
    let new = New { timestamp: now_in_millis(), key, value, headers };
    let (size, names) = (new.size(), new.headers.iter().map(|(name, _)| name.len()));
    if size > MOST_BYTES
        || new.headers.len() > MOST_HEADERS
        || names.max() > Some(MOST_BYTES_OF_A_NAME)
    {
        return Err(Error::new(format!(
            "a record of {size} bytes with {} headers: at most {MOST_BYTES} bytes, {MOST_HEADERS} headers, and \
             {MOST_BYTES_OF_A_NAME} bytes of a header's name are allowed",
            new.headers.len()
        )));
    }
    Ok(new)
}
