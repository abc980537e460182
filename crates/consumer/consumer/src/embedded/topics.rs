//! The topics in the directory: a folder for each, with a file that says how many partitions it has. Its name is an
//! encoding of the topic's.
//!
//! Invariants:
//!
//! * A topic exists from the moment on when that file does. The file is replaced as a whole.
//! * When a topic is open, its names are on the device: an earlier call may have failed, or a crash may have come, between
//!   a file and the sync of its name.

use super::folder;
use crate::log::{Begin, Commons, Keep, Partition, sync_directory};
use crate::source::{Error, TopicPartition};
use colored::fs::File;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// No topic has more partitions.
pub(crate) const MOST_PARTITIONS: u32 = 10_000;

/// A topic with its partitions.
#[derive(Clone, Debug)]
pub(crate) struct Topic {
    pub(crate) name: Arc<str>,
    pub(crate) partitions: Arc<[Arc<Partition>]>,
}

impl Topic {
    /// The partition of a key: always the same, as long as the topic has as many partitions.
    pub(crate) fn partition_of(&self, key: &[u8]) -> usize {
        // FNV-1a, whose low bits are good enough for a remainder after one more mixing.
        let hash = key.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mixed = hash ^ (hash >> 32);
        (mixed % self.partitions.len() as u64) as usize
    }
}

/// All topics, by name.
pub(crate) type Topics = BTreeMap<Arc<str>, Topic>;

/// How many partitions each topic has.
pub(crate) fn counts(topics: &Topics) -> BTreeMap<Arc<str>, u32> {
    let count = |topic: &Topic| (Arc::clone(&topic.name), topic.partitions.len() as u32);
    topics.values().map(count).collect()
}

/// The log of a partition.
pub(crate) fn find(topics: &Topics, of: &TopicPartition) -> Option<Arc<Partition>> {
    topics.get(&of.topic)?.partitions.get(of.partition as usize).cloned()
}

/// The offset that the log of a partition has reached for sure.
pub(crate) type Known = BTreeMap<TopicPartition, u64>;

/// Where the topics are, and how they are kept.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    pub(crate) keep: Keep,
    pub(crate) commons: Commons,
}

/// Whether a topic may be called so.
pub(crate) fn check_name(name: &str) -> Result<(), Error> {
    if folder::is_allowed(name) {
        return Ok(());
    }
    Err(Error::new(format!(
        "a topic named {name:?}: allowed are 1 to 200 of A-Z, a-z, 0-9, `.`, `_` and `-`, with no `.` at either end"
    )))
}

impl Folder {
    /// The names of the topics, with their numbers of partitions.
    pub(crate) async fn list(&self) -> Result<BTreeMap<String, u32>, Error> {
        let (path, mut list) = (&self.path, BTreeMap::new());
        let mut entries = colored::fs::read_dir(path).await.map_err(|error| failed(path, error))?;
        while let Some(entry) = entries.next_entry().await.map_err(|error| failed(path, error))? {
            let name = entry.file_name();
            if let Some(name) = name.to_str().and_then(folder::decode)
                && let Some(count) = self.read_count(&name).await?
            {
                list.insert(name, count);
            }
        }
        Ok(list)
    }

    /// The folder of a topic.
    fn of(&self, topic: &str) -> PathBuf {
        self.path.join(folder::encode(topic))
    }

    /// Opens the topics of a list.
    pub(crate) async fn open_all(
        &self,
        list: BTreeMap<String, u32>,
        known: &Known,
    ) -> Result<Topics, Error> {
        let mut topics = Topics::new();
        for (name, count) in list {
            let topic = self.open(&name, 0..count, known, false).await?;
            let synced = self.sync_names(&name).await;
            synced.map_err(|error| failed(&self.of(&name), error))?;
            topics.insert(Arc::clone(&topic.name), topic);
        }
        Ok(topics)
    }

    /// How many partitions a topic has. `None` if there is none of this name.
    async fn read_count(&self, name: &str) -> Result<Option<u32>, Error> {
        let path = count_file(&self.of(name));
        let text = match colored::fs::read_to_string(&path).await {
            Ok(text) => text,
            // It was not yet made, is half deleted, or is a file that somebody has put there.
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(failed(&path, error)),
        };
        let count = text.trim().parse().ok().filter(|count| (1..=MOST_PARTITIONS).contains(count));
        let count = count.ok_or_else(|| {
            let what = format!("{text:?} is no number from 1 to {MOST_PARTITIONS}");
            Error::new(format!("{}: {what}", path.display()))
        })?;
        Ok(Some(count))
    }

    /// Opens partitions of a topic, and makes what is missing.
    pub(crate) async fn open(
        &self,
        name: &str,
        numbers: Range<u32>,
        known: &Known,
        is_new: bool,
    ) -> Result<Topic, Error> {
        let (folder, name): (_, Arc<str>) = (self.of(name), name.into());
        let mut partitions = Vec::new();
        for partition in numbers {
            let path = folder.join(partition.to_string());
            let of = TopicPartition { topic: Arc::clone(&name), partition };
            let begin = Begin { is_new, known: known.get(&of).copied().unwrap_or(0) };
            let opened = Partition::open(&path, self.keep, self.commons.clone(), begin).await;
            partitions.push(opened.map_err(|error| failed(&path, error))?);
        }
        Ok(Topic { name, partitions: partitions.into() })
    }

    /// Makes a topic exist with so many partitions, which are there.
    pub(crate) async fn write_count(&self, topic: &Topic) -> Result<(), Error> {
        let path = count_file(&self.of(&topic.name));
        let text = format!("{}\n", topic.partitions.len());
        let written = async {
            let new = path.with_extension("new");
            let file = File::create(&new).await?;
            file.write_all_at(text.as_bytes(), 0).await?;
            if self.keep.sync {
                file.sync_all().await?;
            }
            // A crash may leave the new name on the device, and not the older ones of the partitions.
            self.sync_names(&topic.name).await?;
            colored::fs::rename(&new, &path).await?;
            self.sync_names(&topic.name).await
        };
        written.await.map_err(|error| failed(&path, error))
    }

    /// Brings the names in a topic's folder, and that of the folder itself, to the device.
    async fn sync_names(&self, name: &str) -> io::Result<()> {
        if self.keep.sync {
            sync_directory(&self.of(name)).await?;
            sync_directory(&self.path).await?;
        }
        Ok(())
    }

    /// Deletes a topic with its records: first the file by which it exists.
    pub(crate) async fn delete(&self, name: &str) -> Result<(), Error> {
        let path = self.of(name);
        let deleted = async {
            colored::fs::remove_file(count_file(&path)).await?;
            sync_directory(&path).await?;
            colored::fs::remove_dir_all(&path).await
        };
        deleted.await.map_err(|error| failed(&path, error))
    }
}

/// Whether there is no such file, or a part of its path is no directory.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn count_file(topic: &Path) -> PathBuf {
    topic.join("partitions")
}

/// An error of the system, with the path unless it is in the text already.
pub(crate) fn failed(path: &Path, error: impl std::fmt::Display) -> Error {
    let (text, path) = (error.to_string(), path.display().to_string());
    Error::new(if text.contains(&path) { text } else { format!("{path}: {text}") })
}
