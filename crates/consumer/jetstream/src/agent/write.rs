//! What is written over a known revision.

use crate::lease::{Known, Lease, lease_key};
use async_nats::jetstream::kv::{Store, UpdateErrorKind};
use bytes::Bytes;
use colored_consumer::{Committed, Owned};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::timeout;

/// A lease of this member.
#[derive(Clone)]
pub(super) struct Held {
    pub(super) generation: u64,
    pub(super) revision: u64,
    pub(super) committed: Option<Committed>,
    /// Its reader changes it.
    pub(super) known: Shared,
    pub(super) is_revoked: bool,
    /// The consumer has given it up, and the write of that has failed.
    pub(super) is_released: bool,
}

/// What is known of a log, by the agent and by a reader.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared(Arc<Mutex<Known>>);

impl Shared {
    pub(crate) fn new(known: Known) -> Shared {
        Shared(Arc::new(Mutex::new(known)))
    }

    /// Nobody may wait while it is locked.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a write failed.
pub(super) enum Fault {
    Fenced,
    Failed(String),
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
    let known = held.known.lock().clone();
    let value: Bytes = Lease { owner, generation, committed, known }.encode();
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
