//! What is written over a known revision, and what a stream has.

use crate::engine::failed;
use crate::lease::{Lease, lease_key};
use async_nats::jetstream::Context;
use async_nats::jetstream::kv::{Store, UpdateErrorKind};
use async_nats::jetstream::stream::LastRawMessageErrorKind;
use bytes::Bytes;
use colored_consumer::{Committed, Error, Extent, Owned, TopicPartition};
use std::time::Duration;
use tokio::time::timeout;

/// A lease of this member.
#[derive(Clone)]
pub(super) struct Held {
    pub(super) generation: u64,
    pub(super) revision: u64,
    pub(super) committed: Option<Committed>,
    pub(super) is_revoked: bool,
}

/// Why a write failed.
pub(super) enum Fault {
    Fenced,
    Failed(String),
}

/// The first sequence number that the stream has, and the one after the last record of the partition.
pub(crate) async fn range(context: &Context, of: &TopicPartition) -> Result<Extent, Error> {
    let stream = context.get_stream(&of.topic).await;
    let stream = stream.map_err(|error| failed(&format!("topic {:?}", of.topic), error))?;
    let start = stream.cached_info().state.first_sequence.max(1);
    let subject = format!("{}.p.{}.*", of.topic, of.partition);
    match stream.get_last_raw_message_by_subject(&subject).await {
        Ok(last) => Ok(extent(start, last.sequence + 1)),
        Err(error) if matches!(error.kind(), LastRawMessageErrorKind::NoMessageFound) => {
            Ok(extent(start, start))
        }
        Err(error) => Err(failed(&format!("the end of {of}"), error)),
    }
}

fn extent(start: u64, end: u64) -> Extent {
    Extent { doubt: start, floor: start, start, end, limit: end, identity: None }
}

/// Writes a lease over the revision that is known; returns the new one. A write without an answer may
/// have happened: the next one finds it.
pub(super) async fn write(
    store: &Store,
    owned: &Owned,
    owner: Option<String>,
    held: &Held,
    limit: Duration,
) -> Result<u64, Fault> {
    let written = timeout(limit, write_over(store, owned, owner, held)).await;
    written.unwrap_or_else(|_| Err(Fault::Failed("the server does not answer".to_owned())))
}

async fn write_over(
    store: &Store,
    owned: &Owned,
    owner: Option<String>,
    held: &Held,
) -> Result<u64, Fault> {
    let key = lease_key(&owned.partition);
    let (generation, committed) = (held.generation, held.committed.clone());
    let value: Bytes = Lease { owner: owner.clone(), generation, committed }.encode();
    let mut revision = held.revision;
    loop {
        let error = match store.update(&key, value.clone(), revision).await {
            Ok(revision) => return Ok(revision),
            Err(error) => error,
        };
        if !matches!(error.kind(), UpdateErrorKind::WrongLastRevision) {
            return Err(Fault::Failed(error.to_string()));
        }
        // An earlier write of this member whose answer was lost, or another owner's.
        let entry = store.entry(&key).await.map_err(|error| Fault::Failed(error.to_string()))?;
        let entry = entry.filter(|entry| entry.revision != revision).ok_or(Fault::Fenced)?;
        let lease = Lease::decode(&entry.value).ok_or(Fault::Fenced)?;
        if lease.generation != generation || lease.owner.is_none() {
            return Err(Fault::Fenced);
        }
        revision = entry.revision;
    }
}
