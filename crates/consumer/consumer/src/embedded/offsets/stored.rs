//! What is stored for a group and a partition, as a record of a log.

use crate::log::{Entry, New, now_in_millis};
use crate::source::{Committed, TopicPartition};
use bytes::{BufMut, Bytes};

/// A group, and a partition of it; `None` for the group's generation.
pub(crate) type Key = (String, Option<TopicPartition>);

/// What is stored for a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stored {
    /// Of a group without a partition, the generation is the offset.
    pub(crate) committed: Committed,
    /// The end of the partition's log.
    pub(crate) end: u64,
}

/// The record that says what is stored for a key.
pub(crate) fn encode((group, partition): &Key, value: &Stored) -> New {
    let mut key = Vec::new();
    key.put_u32(group.len() as u32);
    key.put_slice(group.as_bytes());
    if let Some(TopicPartition { topic, partition }) = partition {
        key.put_u32(*partition);
        key.put_slice(topic.as_bytes());
    }
    let Stored { committed, end } = value;
    let mut bytes = [committed.offset.to_be_bytes(), end.to_be_bytes()].concat();
    bytes.extend_from_slice(&committed.log.unwrap_or(0).to_be_bytes());
    bytes.extend_from_slice(&committed.metadata);
    New {
        timestamp: now_in_millis(),
        key: Some(key.into()),
        value: Some(bytes.into()),
        headers: Vec::new(),
    }
}

/// A key, with what is committed; with nothing if it was forgotten.
pub(crate) fn decode(entry: &Entry) -> Option<(Key, Option<Stored>)> {
    let key: &Bytes = entry.key.as_ref()?;
    let (length, rest) = key.split_first_chunk()?;
    let (group, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    let group = String::from_utf8(group.to_vec()).ok()?;
    let partition = match rest.split_first_chunk() {
        None if rest.is_empty() => None,
        None => return None,
        Some((partition, topic)) => Some(TopicPartition {
            topic: std::str::from_utf8(topic).ok()?.into(),
            partition: u32::from_be_bytes(*partition),
        }),
    };
    let value = entry.value.as_deref().unwrap_or_default();
    if value.is_empty() {
        return Some(((group, partition), None));
    }
    let (offset, rest) = value.split_first_chunk()?;
    let (end, rest) = rest.split_first_chunk()?;
    let (log, metadata) = rest.split_first_chunk()?;
    let log = Some(u128::from_be_bytes(*log)).filter(|log| *log != 0);
    let offset = u64::from_be_bytes(*offset);
    let committed = Committed { offset, metadata: metadata.to_vec(), log };
    let stored = Stored { committed, end: u64::from_be_bytes(*end) };
    Some(((group, partition), Some(stored)))
}
