//! Which leases a member takes, and which it asks its consumer to give up.

use super::write::{Held, Shared, write};
use super::{Agent, Settings, Told};
use crate::engine::partitions_of;
use crate::lease::{Lease, lease_key, member_key};
use crate::log::{judge, now};
use crate::table::{Free, Table};
use async_nats::jetstream::context::{GetStreamError, GetStreamErrorKind};
use async_nats::jetstream::kv::Store;
use async_nats::jetstream::{Context, ErrorCode};
use colored_consumer::{Assignment, Event, Owned, TopicPartition};
use futures_util::future::join_all;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// How many leases are taken side by side. Commands wait meanwhile, and the server works on its questions one by one. A guess.
const AT_ONCE: usize = 128;

impl Agent {
    /// Loses the partitions of topics that were deleted, and those that a topic no longer has: another one of its name was
    /// made. A topic that is not there has no partitions, and may come again.
    pub(super) async fn look_for_topics(&mut self) {
        let (limit, context) = (self.limit(), &self.context);
        let count = async |(topic, known): (Arc<str>, u32)| {
            let partitions = match timeout(limit, context.get_stream(&topic)).await {
                Ok(Ok(stream)) => partitions_of(stream.cached_info()).unwrap_or(0),
                Ok(Err(error)) if is_not_found(&error) => 0,
                _ => known,
            };
            (topic, known, partitions)
        };
        let (mut lost, mut writes) = (Vec::new(), Vec::new());
        for (topic, known, partitions) in
            join_all(self.settings.topics.clone().into_iter().map(count)).await
        {
            if partitions == known {
                continue;
            }
            self.settings.topics.insert(topic.clone(), partitions);
            let is_gone = |of: &&TopicPartition| of.topic == topic && of.partition >= partitions;
            let gone: Vec<_> = self.held.keys().filter(is_gone).cloned().collect();
            for partition in gone {
                let Some(held) = self.held.remove(&partition) else { continue };
                self.readings.remove(&partition);
                let owned = Owned { partition, generation: held.generation };
                lost.push(owned.clone());
                let store = self.store.clone();
                // If it fails, the lease is free when the member is dead.
                writes.push(async move { write(&store, &owned, None, &held, limit).await });
            }
        }
        if !lost.is_empty() {
            self.tell(Told::Event(Event::Lost(lost)));
        }
        join_all(writes).await;
    }

    /// Takes what is free, up to the share of this member, or asks for what is above it.
    pub(super) async fn balance(&mut self) {
        // Without its own entry, it has not seen the others' either.
        let is_new = self.membership.as_ref().is_none_or(|of| self.seen < of.since);
        if is_new || self.is_replaced || self.is_stopping {
            return;
        }
        let (session, now) = (self.settings.session, Instant::now());
        let (me, mut wanted) = (self.settings.name.clone(), Vec::new());
        for (topic, partitions) in self.settings.topics.clone() {
            let of = (&*topic, partitions);
            let share = self.table.share(&me, of, session, now);
            let own = |(partition, held): &(&TopicPartition, &Held)| {
                partition.topic == topic && !held.is_revoked
            };
            let count = self.held.iter().filter(own).count();
            if count > share {
                self.revoke(&topic, count - share);
                continue;
            }
            let free = self.table.free(&me, of, session, now).into_iter();
            wanted.extend(free.filter(|(of, ..)| !self.held.contains_key(of)).take(share - count));
        }
        wanted.truncate(AT_ONCE);
        if self.confirm_dead(&wanted).await {
            self.take(wanted).await;
        }
    }

    /// Asks the server whether the owners of leases have written their entries since: the watch may be late, and a member that
    /// only seems dead keeps its leases. `false` if one lives, or the server does not answer: the next balance knows more.
    async fn confirm_dead(&mut self, wanted: &[Free]) -> bool {
        let (limit, store, me) = (self.limit(), &self.store, &self.settings.name);
        let owners = wanted.iter().filter_map(|(_, lease, _)| lease.owner.clone());
        let owners: BTreeSet<_> = owners.filter(|owner| owner != me).collect();
        let ask = |owner: &String| timeout(limit, store.entry(member_key(owner)));
        let entries = join_all(owners.iter().map(ask)).await;
        for (owner, entry) in owners.iter().zip(entries) {
            let Ok(Ok(entry)) = entry else { return false };
            self.apply(&member_key(owner), entry.as_ref());
        }
        let (session, now) = (self.settings.session, Instant::now());
        !owners.iter().any(|owner| self.table.is_alive(owner, session, now))
    }

    fn revoke(&mut self, topic: &str, count: usize) {
        let mut revoked = Vec::new();
        for (partition, held) in self.held.iter_mut().rev() {
            if *partition.topic == *topic && !held.is_revoked && revoked.len() < count {
                held.is_revoked = true;
                self.readings.remove(partition);
                let generation = held.generation;
                revoked.push(Owned { partition: partition.clone(), generation });
            }
        }
        self.tell(Told::Event(Event::Revoked(revoked)));
    }

    /// Takes leases. Another member may be faster, and the server may not answer.
    async fn take(&mut self, wanted: Vec<Free>) {
        let limit = self.limit();
        let Agent { context, store, settings, table, .. } = &*self;
        let one = |free| take(context, store, settings, table, free, limit);
        let taken = join_all(wanted.into_iter().map(one)).await;
        let mut assigned = Vec::new();
        for (held, assignment) in taken.into_iter().flatten() {
            self.held.insert(assignment.owned.partition.clone(), held);
            assigned.push(assignment);
        }
        if !assigned.is_empty() {
            self.tell(Told::Event(Event::Assigned(assigned)));
        }
    }
}

/// Takes a lease; `None` if another member was faster, or the server does not answer.
async fn take(
    context: &Context,
    store: &Store,
    settings: &Settings,
    table: &Table,
    (partition, before, revision): Free,
    limit: Duration,
) -> Option<(Held, Assignment)> {
    let partitions = *settings.topics.get(&partition.topic)?;
    let Lease { generation, committed, known, .. } = before;
    let place = committed.as_ref().map(|committed| committed.offset);
    let seen = table.furthest(&partition.topic);
    let judged = judge(context, &partition, partitions, &known, place, seen);
    let (log, known) = timeout(limit, judged).await.ok()?.ok()?;
    // It rises, too, if the bucket has lost the lease.
    let generation = (generation + 1).max((now() / 1_000_000) as u64);
    let owner = Some(settings.name.clone());
    let lease = Lease { owner, generation, committed: committed.clone(), known: known.clone() };
    let write = store.update(lease_key(&partition), lease.encode(), revision);
    // If only the answer is lost, the watch shows the lease as free for its owner.
    let revision = timeout(limit, write).await.ok()?.ok()?;
    let known = Shared::new(known);
    let held = Held {
        generation,
        revision,
        committed: committed.clone(),
        known,
        is_revoked: false,
        is_released: false,
    };
    let has_other_commits = table.has_other_commits(&partition);
    let owned = Owned { partition, generation };
    Some((held, Assignment { owned, committed, log, has_other_commits }))
}

fn is_not_found(error: &GetStreamError) -> bool {
    match error.kind() {
        GetStreamErrorKind::JetStream(error) => error.error_code() == ErrorCode::STREAM_NOT_FOUND,
        _ => false,
    }
}
