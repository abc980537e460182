//! What a consumer needs of an engine: [`Source`] and [`Control`].
//!
//! A source is a member of a group. It is told which partitions are its own ([`Event::Assigned`]), returns their
//! records, and gives them up ([`Event::Revoked`]) or loses them ([`Event::Lost`]).
//!
//! What an engine promises, and [`conformance`](crate::conformance) checks:
//!
//! * The records of a partition come with ascending offsets, from the place on that [`Source::begin`] names, while the
//!   partition is the member's own, and not while it is paused. None is left out that the log has.
//! * The ends of a log are facts of the engine, an [`Extent`]: they are told with an assignment, when a place is not in the log, and
//!   when they are asked for. What to do about them is the consumer's to decide.
//! * A partition has one owner. After [`Event::Revoked`] nobody else gets it before [`Control::release`], or before the
//!   group takes the member for dead; then the member gets [`Event::Lost`].
//! * The generation of a partition rises with each owner, also over restarts of the engine, and where the engine's own count of
//!   the group begins anew. What that takes, the engine's page says: on Kafka, clocks.
//! * A commit of an owner that has lost the partition fails with [`CommitError::Fenced`] and changes nothing.
//! * A commit that succeeded is what the next owner is told, with its metadata, byte by byte.

use bytes::Bytes;
use std::fmt;
use std::sync::Arc;

/// A partition of a topic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicPartition {
    /// The topic.
    pub topic: Arc<str>,
    /// From 0.
    pub partition: u32,
}

impl fmt::Display for TopicPartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.topic, self.partition)
    }
}

/// A partition in the hands of one owner: the generation is the fencing token.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owned {
    /// The partition.
    pub partition: TopicPartition,
    /// Rises with each owner.
    pub generation: u64,
}

/// A record of a log.
#[derive(Debug, PartialEq, Eq)]
pub struct Record {
    /// The topic.
    pub topic: Arc<str>,
    /// The partition of the topic.
    pub partition: u32,
    /// The place in the partition.
    pub offset: u64,
    /// Milliseconds since 1970.
    pub timestamp: i64,
    /// The key, if there is one. Key and value may share their memory with other records: a clone that is kept for long keeps that
    /// memory, and a copy by [`Bytes::copy_from_slice`] does not.
    pub key: Option<Bytes>,
    /// The value. `None` is a tombstone: the record says that its key has no value any more. An empty value is another thing.
    pub value: Option<Bytes>,
    /// Names with values, in the order of the producer. A header may have no value.
    pub headers: Vec<(String, Option<Bytes>)>,
}

impl Clone for Record {
    #[inline]
    fn clone(&self) -> Record {
        let Record { topic, partition, offset, timestamp, key, value, headers } = self;
        let (topic, key, value) = (Arc::clone(topic), key.clone(), value.clone());
        let (partition, offset, timestamp) = (*partition, *offset, *timestamp);
        // Most have none.
        let headers = if headers.is_empty() { Vec::new() } else { headers.clone() };
        Record { topic, partition, offset, timestamp, key, value, headers }
    }
}

impl Record {
    /// The bytes that count against a bound: key, value and headers, and 128 for the record itself.
    #[must_use]
    #[inline]
    pub fn size(&self) -> usize {
        size(&self.key, &self.value, &self.headers)
    }
}

/// As [`Record::size`].
#[inline]
pub(crate) fn size(
    key: &Option<Bytes>,
    value: &Option<Bytes>,
    headers: &[(String, Option<Bytes>)],
) -> usize {
    let length = |bytes: &Option<Bytes>| bytes.as_ref().map_or(0, Bytes::len);
    let headers = headers.iter().map(|(name, value)| name.len() + length(value) + 64);
    128 + length(key) + length(value) + headers.sum::<usize>()
}

/// How far a group is in a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Committed {
    /// The next offset to be read.
    pub offset: u64,
    /// What the committer wrote beside it. It may be anybody's.
    pub metadata: Vec<u8>,
    /// The [`identity`](Extent::identity) of the log in which the offset is a place. `None` if it is not known.
    pub log: Option<u128>,
}

/// The ends of a log, as its engine knows them now. All but the identity are offsets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// From here to `floor` nobody can tell whether a record was deleted. At most `floor`; equal to it if the engine can tell, or has
    /// to take what is missing for records.
    pub doubt: u64,
    /// The lowest place that a commit can rightly have: no record was deleted that had this offset or a higher one. It is `start`,
    /// unless the engine knows that no record was between the two. At most `start`.
    pub floor: u64,
    /// Reading can begin here. No record has a lower offset.
    pub start: u64,
    /// The offset after the last record that this member can read.
    pub end: u64,
    /// The highest place that a commit can rightly have. At least `end`: a log may end higher for other readers, or may have had
    /// records behind the last one.
    pub limit: u64,
    /// Two logs with different numbers are different logs: one was made again, or was replaced by a copy. `None` if the engine
    /// cannot tell.
    pub identity: Option<u128>,
}

impl Extent {
    /// Whether an offset is a place in this log.
    #[must_use]
    pub fn has_place(&self, offset: u64) -> bool {
        (self.floor..=self.limit).contains(&offset)
    }

    /// Whether an identity is that of another log. Not if one of the two is not known.
    #[must_use]
    pub fn is_other(&self, identity: Option<u128>) -> bool {
        self.identity.zip(identity).is_some_and(|(own, other)| own != other)
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the log has the offsets from {} to {}", self.start, self.limit)
    }
}

/// A partition that a member gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The partition and its generation.
    pub owned: Owned,
    /// How far the group is, if it has ever committed.
    pub committed: Option<Committed>,
    /// What the log has.
    pub log: Extent,
    /// Whether the group has a commit in another partition of the topic. If it has, and has none here, then the partition was
    /// added to the topic while the group was in it.
    pub has_other_commits: bool,
}

/// What a member is told.
#[derive(Debug)]
pub enum Event {
    /// The member has more partitions. Nothing is read from them before [`Source::begin`].
    Assigned(Vec<Assignment>),
    /// Records of one partition.
    Records {
        /// The partition.
        owned: Owned,
        /// Ascending by offset. Empty if only the two places below have moved.
        records: Vec<Record>,
        /// Where the member goes on, above the last record. Between the two the log has no record that the member could read:
        /// there are markers of transactions, deleted records, or records of others.
        next: u64,
        /// [`Extent::end`], as far as the engine knows.
        end: u64,
    },
    /// Others are to have these partitions: finish, commit, then [`Control::release`].
    Revoked(Vec<Owned>),
    /// These partitions are gone: commits fail.
    Lost(Vec<Owned>),
    /// The next place of the partition is not in its log, or was not when the engine tried to read it, or the log is another one
    /// now. Nothing is read from the partition until [`Source::begin`].
    OutOfRange {
        /// The partition.
        owned: Owned,
        /// What the log has.
        log: Extent,
    },
    /// The partition cannot be read now, and the others can. Nothing is read from it until [`Source::begin`], which the consumer
    /// calls after a pause.
    Failed {
        /// The partition.
        owned: Owned,
        /// Why.
        error: Error,
    },
}

/// How much a poll may return.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Records.
    pub records: usize,
    /// Bytes by [`Record::size`]. One record may exceed them.
    pub bytes: usize,
}

/// A commit of one partition.
#[derive(Clone, Debug)]
pub struct Commit {
    /// The partition and the generation of its owner.
    pub owned: Owned,
    /// What is committed.
    pub committed: Committed,
}

/// Why a commit failed. Nothing of it counts as done.
#[derive(Debug)]
pub enum CommitError {
    /// The committer no longer owns these partitions, or they have another log than the commit; the other partitions were
    /// committed. [`Event::Lost`] or [`Event::OutOfRange`] follows. Until then the committer goes on, and commits again.
    Fenced(Vec<Owned>),
    /// Try again.
    Failed(Error),
}

/// What an engine says of a failure.
#[derive(Debug)]
pub struct Error {
    text: String,
}

impl Error {
    /// An error with this text.
    pub fn new(text: impl Into<String>) -> Error {
        Error { text: text.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {}

impl fmt::Display for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommitError::Fenced(owned) => {
                write!(f, "these partitions have another owner:")?;
                owned.iter().try_for_each(|owned| write!(f, " {}", owned.partition))
            }
            CommitError::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CommitError {}

/// A member of a group, as an engine has it.
pub trait Source: Send + 'static {
    /// Commits and releases while the source is polled.
    type Control: Control;

    /// The other half of the member.
    fn control(&self) -> Self::Control;

    /// Waits for the next event. It must be called again and again, also while everything is paused: a member that is
    /// not polled for the time-out of its session is taken for dead. With a room of no records it returns none.
    /// Cancel safe.
    ///
    /// # Errors
    ///
    /// Of the whole member. It may be polled again. What concerns one partition is [`Event::Failed`].
    fn poll(&mut self, room: Room) -> impl Future<Output = Result<Event, Error>> + Send;

    /// Reads an assigned partition from this offset on: from the first record that has it, or a higher one.
    fn begin(&mut self, owned: &Owned, offset: u64);

    /// Returns no records of the partition until it is resumed.
    fn pause(&mut self, partition: &TopicPartition);

    /// Returns records of the partition again, from the place where they stopped.
    fn resume(&mut self, partition: &TopicPartition);

    /// Takes the vector of an [`Event::Records`] back, empty, to use it again. By default it is dropped.
    fn take_back(&mut self, records: Vec<Record>) {
        drop(records);
    }

    /// Leaves the group. What the member still owns goes to others at once. Not cancel safe: the member may then stay
    /// until its session ends.
    ///
    /// # Errors
    ///
    /// The engine's.
    fn close(self) -> impl Future<Output = Result<(), Error>> + Send;
}

/// The half of a member that may be used while it is polled.
pub trait Control: Clone + Send + Sync + 'static {
    /// Commits. When this returns `Ok`, the commit survives a crash, as far as the engine promises that. Not cancel safe: a
    /// dropped call may still commit.
    ///
    /// # Errors
    ///
    /// See [`CommitError`].
    fn commit(&self, commits: Vec<Commit>) -> impl Future<Output = Result<(), CommitError>> + Send;

    /// Gives revoked partitions to others. Not cancel safe: a dropped call may still release.
    ///
    /// # Errors
    ///
    /// The engine's.
    fn release(&self, owned: Vec<Owned>) -> impl Future<Output = Result<(), Error>> + Send;

    /// The offset of the first record whose time is this or later, in each of these partitions and in this order, by
    /// [`Record::timestamp`]; behind the last record, [`Extent::end`], if there is none. `None` for a partition that the member no
    /// longer owns. Where times do not rise with the offsets, an engine may answer any place where they pass this one. Cancel safe.
    ///
    /// # Errors
    ///
    /// The engine's. An engine that cannot find records by their time need not implement it: then it always fails.
    fn find(
        &self,
        owned: Vec<Owned>,
        timestamp: i64,
    ) -> impl Future<Output = Result<Vec<Option<u64>>, Error>> + Send {
        let _ = (owned, timestamp);
        std::future::ready(Err(Error::new("this engine does not find records by their time")))
    }

    /// What the logs of these partitions have now, in this order; `None` for one that the member no longer owns. Cancel safe.
    ///
    /// # Errors
    ///
    /// The engine's.
    fn extents(
        &self,
        owned: Vec<Owned>,
    ) -> impl Future<Output = Result<Vec<Option<Extent>>, Error>> + Send;
}
