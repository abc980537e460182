//! The entries of a bucket. A lease is a line with the owner, the generation and the committed offset, and behind it the
//! metadata of the commit as it is.

use bytes::Bytes;
use colored_consumer::{Committed, TopicPartition};

/// Who owns a partition, and how far the group is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lease {
    /// The name of a member.
    pub(crate) owner: Option<String>,
    pub(crate) generation: u64,
    pub(crate) committed: Option<Committed>,
}

impl Lease {
    pub(crate) fn encode(&self) -> Bytes {
        let owner = self.owner.as_deref().unwrap_or("");
        let offset = self.committed.as_ref().map_or_else(String::new, |of| of.offset.to_string());
        let mut text = format!("{owner},{},{offset}\n", self.generation).into_bytes();
        text.extend(self.committed.iter().flat_map(|committed| &committed.metadata));
        text.into()
    }

    /// `None` if it is somebody else's.
    pub(crate) fn decode(text: &[u8]) -> Option<Lease> {
        let end = text.iter().position(|byte| *byte == b'\n')?;
        let words: Vec<_> = std::str::from_utf8(&text[..end]).ok()?.split(',').collect();
        let [owner, generation, offset] = words[..] else { return None };
        let committed = match offset {
            "" => None,
            offset => {
                let metadata = text[end + 1..].to_vec();
                Some(Committed { offset: offset.parse().ok()?, metadata, log: None })
            }
        };
        let owner = (!owner.is_empty()).then(|| owner.to_owned());
        Some(Lease { owner, generation: generation.parse().ok()?, committed })
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
        for committed in [None, Some(Committed { offset: 7, metadata, log: None })] {
            for owner in [None, Some("m".to_owned())] {
                let lease = Lease { owner, generation: 3, committed: committed.clone() };
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
