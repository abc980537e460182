//! The entry of a member, which it writes again and again while it lives.

use super::Agent;
use crate::lease::{Beat, member_key};
use crate::table::Table;
use async_nats::jetstream::kv::{Operation, UpdateErrorKind};
use std::time::Instant;
use tokio::time::timeout;

impl Agent {
    /// Writes the own entry for the first time.
    pub(super) async fn enter(&mut self) -> Result<(), String> {
        let key = member_key(&self.settings.name);
        let before = self.store.entry(&key).await.map_err(|error| error.to_string())?;
        let (revision, known) = match &before {
            Some(entry) if entry.operation == Operation::Put => (
                entry.revision,
                Beat::decode(&entry.value).map_or(0, |beat| match beat.since {
                    0 => entry.revision,
                    since => since,
                }),
            ),
            Some(entry) => (entry.revision, 0),
            None => (0, 0),
        };
        let token = self.context.client().new_inbox();
        let topics = self.settings.topics.keys().map(ToString::to_string).collect();
        self.beat = Beat { since: known, token, topics };
        let start = Instant::now();
        let written = self.store.update(&key, self.beat.encode(), revision).await;
        let revision = written.map_err(|error| error.to_string())?;
        self.revisions = (revision, revision);
        // The bucket may be another one, which counts from the beginning: only what it shows from now on counts.
        (self.seen, self.watch) = (0, None);
        if known == 0 {
            self.beat.since = revision;
        }
        self.table = Table::default();
        self.beaten = Some(start);
        Ok(())
    }

    /// Writes the own entry again.
    pub(super) async fn write_beat(&mut self) {
        let (key, start) = (member_key(&self.settings.name), Instant::now());
        let write = self.store.update(&key, self.beat.encode(), self.revisions.0);
        // A server that does not answer must not keep the agent from noticing the end of its session.
        match timeout(self.limit(), write).await {
            Ok(Ok(revision)) => {
                self.revisions = (revision, self.revisions.0);
                self.beaten = Some(start);
            }
            Ok(Err(error)) if matches!(error.kind(), UpdateErrorKind::WrongLastRevision) => {
                self.look_at_own_entry(&key, start).await;
            }
            _ => {}
        }
    }

    /// The own entry is another one: an earlier write came late, somebody has removed it, or another member has the name.
    async fn look_at_own_entry(&mut self, key: &str, start: Instant) {
        let Ok(Ok(entry)) = timeout(self.limit(), self.store.entry(key)).await else { return };
        let put = entry.filter(|entry| entry.operation == Operation::Put);
        let Some(entry) = put else { return self.lose_all() };
        match Beat::decode(&entry.value) {
            // An older copy of the bucket was brought back.
            Some(_) if entry.revision < self.revisions.0 => self.lose_all(),
            Some(beat) if beat.token == self.beat.token => {
                self.revisions.0 = entry.revision;
                self.beaten = Some(start);
            }
            _ => {
                self.lose_all();
                self.is_replaced = true;
            }
        }
    }
}
