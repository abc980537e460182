//! The entries of a bucket. A lease is a line with the owner, the generation, the commit and what is known of the log, and
//! behind it the metadata of the commit as it is.

use bytes::Bytes;
use colored_consumer::{Committed, TopicPartition};
use std::str::FromStr;

/// A message of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Witness {
    pub(crate) sequence: u64,
    /// When the server took it: nanoseconds since 1970.
    pub(crate) time: i128,
}

/// What the owners of a partition know of its log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    /// When a member first saw this log: nanoseconds since 1970. Two logs have different ones.
    pub(crate) identity: Option<u128>,
    /// A message that the log had, and no place of the group is above the one behind it. It may be deleted.
    pub(crate) witness: Option<Witness>,
    /// The offset after the last record of the partition, 0 if there was none.
    pub(crate) end: u64,
}

/// Who owns a partition, and how far the group is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lease {
    /// The name of a member.
    pub(crate) owner: Option<String>,
    pub(crate) generation: u64,
    pub(crate) committed: Option<Committed>,
    pub(crate) known: Known,
}

fn text(number: Option<impl ToString>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

/// The number that [`text`] wrote, if it is one.
fn number<T: FromStr>(word: &str) -> Option<Option<T>> {
    if word.is_empty() { Some(None) } else { word.parse().ok().map(Some) }
}

impl Lease {
    pub(crate) fn encode(&self) -> Bytes {
        let Lease { owner, generation, committed, known } = self;
        let words = [
            owner.clone().unwrap_or_default(),
            generation.to_string(),
            text(committed.as_ref().map(|committed| committed.offset)),
            text(committed.as_ref().and_then(|committed| committed.log)),
            text(known.identity),
            text(known.witness.map(|witness| witness.sequence)),
            text(known.witness.map(|witness| witness.time)),
            known.end.to_string(),
        ];
        let mut text = words.join(",").into_bytes();
        text.push(b'\n');
        text.extend(committed.iter().flat_map(|committed| &committed.metadata));
        text.into()
    }

    /// `None` if it is somebody else's.
    pub(crate) fn decode(text: &[u8]) -> Option<Lease> {
        let line = text.iter().position(|byte| *byte == b'\n')?;
        let words: Vec<_> = std::str::from_utf8(&text[..line]).ok()?.split(',').collect();
        let [owner, generation, offset, log, identity, sequence, time, end] = words[..] else {
            return None;
        };
        let (log, metadata) = (number(log)?, &text[line + 1..]);
        let committed =
            number(offset)?.map(|offset| Committed { offset, metadata: metadata.to_vec(), log });
        let witness = number(sequence)?.zip(number(time)?);
        let known = Known {
            identity: number(identity)?,
            witness: witness.map(|(sequence, time)| Witness { sequence, time }),
            end: end.parse().ok()?,
        };
        let owner = (!owner.is_empty()).then(|| owner.to_owned());
        Some(Lease { owner, generation: generation.parse().ok()?, committed, known })
    }
}

/// A member as its entry has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Beat {
    /// The revision of its first entry: the order of the members. 0 in that entry.
    pub(crate) since: u64,
    /// Differs between two members of the same name.
    pub(crate) token: String,
    pub(crate) topics: Vec<String>,
}

impl Beat {
    pub(crate) fn encode(&self) -> Bytes {
        format!("{},{},{}", self.since, self.token, self.topics.join(",")).into()
    }

    pub(crate) fn decode(text: &[u8]) -> Option<Beat> {
        let mut words = std::str::from_utf8(text).ok()?.split(',').map(str::to_owned);
        let (since, token) = (words.next()?.parse().ok()?, words.next()?);
        Some(Beat { since, token, topics: words.collect() })
    }
}

pub(crate) fn member_key(name: &str) -> String {
    format!("member.{name}")
}

pub(crate) fn lease_key(of: &TopicPartition) -> String {
    format!("lease.{}.{}", of.topic, of.partition)
}

/// What an entry is about.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    Member(String),
    Lease(TopicPartition),
}

pub(crate) fn subject(key: &str) -> Option<Subject> {
    if let Some(name) = key.strip_prefix("member.") {
        return Some(Subject::Member(name.to_owned()));
    }
    let (topic, partition) = key.strip_prefix("lease.")?.rsplit_once('.')?;
    let partition = partition.parse().ok()?;
    Some(Subject::Lease(TopicPartition { topic: topic.into(), partition }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back() {
        let metadata = b"any\n,bytes\xff".to_vec();
        let witness = Some(Witness { sequence: 8, time: 1_795_821_790_750_166_486 });
        let known = Known { identity: Some(5), witness, end: 9 };
        for committed in [None, Some(Committed { offset: 7, metadata, log: Some(5) })] {
            for owner in [None, Some("m".to_owned())] {
                let known = owner.as_ref().map_or_else(Known::default, |_| known.clone());
                let lease = Lease { owner, generation: 3, committed: committed.clone(), known };
                assert_eq!(Lease::decode(&lease.encode()), Some(lease));
            }
        }
        assert_eq!(Lease::decode(b"somebody's"), None);
        let beat = Beat { since: 9, token: "x".into(), topics: vec!["a".into(), "b".into()] };
        assert_eq!(Beat::decode(&beat.encode()), Some(beat));
        let partition = TopicPartition { topic: "t".into(), partition: 4 };
        assert_eq!(subject(&lease_key(&partition)), Some(Subject::Lease(partition)));
        assert_eq!(subject(&member_key("m")), Some(Subject::Member("m".into())));
    }
}
