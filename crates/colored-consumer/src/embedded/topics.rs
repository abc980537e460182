//! The topics in the directory: a folder for each, with a file that says how many partitions it has.
//!
//! Invariants:
//!
//! * A topic exists from the moment on when that file does. The file is replaced as a whole.
//! * When a topic is open, its names are on the device: an earlier call may have failed, or a crash may have come, between
//!   a file and the sync of its name.

use crate::log::{Keep, Lock, Partition, sync_directory};
use crate::source::{Error, TopicPartition};
use colored::fs::File;
use std::collections::BTreeMap;
use std::io;
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

/// Whether a topic may be called so: its name is a folder's name on every system.
pub(crate) fn check_name(name: &str) -> Result<(), Error> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let is_name = (1..=200).contains(&name.len()) && name.chars().all(is_allowed);
    if is_name && !name.starts_with('.') && !name.ends_with('.') {
        return Ok(());
    }
    Err(Error::new(format!(
        "a topic named {name:?}: allowed are 1 to 200 of A-Z, a-z, 0-9, `.`, `_` and `-`, with no `.` at either end"
    )))
}

/// Opens all topics below a folder.
pub(crate) async fn open_all(folder: &Path, keep: Keep, lock: &Lock) -> Result<Topics, Error> {
    let mut topics = Topics::new();
    let mut entries = colored::fs::read_dir(folder).await.map_err(|error| failed(folder, error))?;
    while let Some(entry) = entries.next_entry().await.map_err(|error| failed(folder, error))? {
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| check_name(name).is_ok()) else { continue };
        let path = count_file(&folder.join(name));
        let text = match colored::fs::read_to_string(&path).await {
            Ok(text) => text,
            // It was not yet made, or is half deleted.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(failed(&path, error)),
        };
        let count = text.trim().parse().ok().filter(|count| (1..=MOST_PARTITIONS).contains(count));
        let count = count.ok_or_else(|| {
            let what = format!("{text:?} is no number from 1 to {MOST_PARTITIONS}");
            Error::new(format!("{}: {what}", path.display()))
        })?;
        let topic = open(folder, name, count, keep, lock).await?;
        let synced = sync_names(folder, name, keep).await;
        synced.map_err(|error| failed(&path, error))?;
        topics.insert(Arc::clone(&topic.name), topic);
    }
    Ok(topics)
}

/// Opens a topic of so many partitions, and makes what is missing.
pub(crate) async fn open(
    folder: &Path,
    name: &str,
    count: u32,
    keep: Keep,
    lock: &Lock,
) -> Result<Topic, Error> {
    let folder = folder.join(name);
    let mut partitions = Vec::new();
    for number in 0..count {
        let path = folder.join(number.to_string());
        let partition = Partition::open(&path, keep, lock.clone()).await;
        partitions.push(partition.map_err(|error| failed(&path, error))?);
    }
    Ok(Topic { name: name.into(), partitions: partitions.into() })
}

/// Makes a topic exist with so many partitions, which are there.
pub(crate) async fn write_count(folder: &Path, topic: &Topic, keep: Keep) -> Result<(), Error> {
    let path = count_file(&folder.join(&*topic.name));
    let text = format!("{}\n", topic.partitions.len());
    let written = async {
        let new = path.with_extension("new");
        let file = File::create(&new).await?;
        file.write_all_at(text.as_bytes(), 0).await?;
        if keep.sync {
            file.sync_all().await?;
        }
        colored::fs::rename(&new, &path).await?;
        sync_names(folder, &topic.name, keep).await
    };
    written.await.map_err(|error| failed(&path, error))
}

/// Brings the names in a topic's folder, and that of the folder itself, to the device.
async fn sync_names(folder: &Path, name: &str, keep: Keep) -> io::Result<()> {
    if keep.sync {
        sync_directory(&folder.join(name)).await?;
        sync_directory(folder).await?;
    }
    Ok(())
}

/// Deletes a topic with its records: first the file by which it exists.
pub(crate) async fn delete(folder: &Path, name: &str) -> Result<(), Error> {
    let path = folder.join(name);
    let deleted = async {
        colored::fs::remove_file(count_file(&path)).await?;
        sync_directory(&path).await?;
        colored::fs::remove_dir_all(&path).await
    };
    deleted.await.map_err(|error| failed(&path, error))
}

fn count_file(topic: &Path) -> PathBuf {
    topic.join("partitions")
}

/// An error of the system, with the path unless it is in the text already.
pub(crate) fn failed(path: &Path, error: impl std::fmt::Display) -> Error {
    let (text, path) = (error.to_string(), path.display().to_string());
    Error::new(if text.contains(&path) { text } else { format!("{path}: {text}") })
}
