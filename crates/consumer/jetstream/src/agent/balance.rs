//! Which leases a member takes, and which it asks its consumer to give up.

use super::beat::Membership;
use super::write::{Held, Shared};
use super::{Agent, Settings, Told};
use crate::engine::partitions_of;
use crate::lease::{Lease, lease_key, member_key};
use crate::log::{Log, judge, now};
use crate::table::{Free, Table};
use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::context::{GetStreamError, GetStreamErrorKind};
use async_nats::jetstream::kv::Store;
use colored_consumer::{Assignment, Event, Owned, TopicPartition};
use futures_util::future::join_all;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// How many leases are taken side by side. Commands wait meanwhile, and the server works on its questions one by one. A guess.
const AT_ONCE: usize = 128;

impl Agent {
    /// Loses the partitions of topics that were deleted, and those that a topic no longer has: another one of its name was
    /// made. A topic that is not there has no partitions, and may come again. The next balance gives their leases up.
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
        let mut lost = Vec::new();
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
                lost.push(Owned { partition, generation: held.generation });
            }
        }
        if !lost.is_empty() {
            self.tell(Told::Event(Event::Lost(lost)));
        }
    }

    /// Takes what is free, up to the share of this member, or asks for what is above it. What it does not want of the leases in
    /// its name, of an earlier membership or of a write whose answer was lost, it gives up.
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
            let mut free = self.table.free(&me, of, session, now);
            free.retain(|(of, ..)| !self.held.contains_key(of));
            wanted.extend(some(free, self.failed, share - count));
        }
        let unwanted = {
            let wanted: BTreeSet<_> = wanted.iter().map(|(of, ..)| of).collect();
            let is_unwanted =
                |of: &TopicPartition| !self.held.contains_key(of) && !wanted.contains(of);
            self.table.leases_of(&me, is_unwanted)
        };
        self.give_up(some(unwanted, self.failed, AT_ONCE)).await;
        let wanted = some(wanted, self.failed, AT_ONCE);
        let count = wanted.len();
        let wanted = self.confirm_dead(wanted).await;
        let taken = self.take(wanted).await;
        // What fails for long keeps nothing else from being taken.
        self.failed = if taken == count { 0 } else { self.failed.wrapping_add(count - taken) };
    }

    /// Gives up leases in the name of this member that it does not hold. What fails is tried again.
    async fn give_up(&mut self, unwanted: Vec<Free>) {
        let (limit, store) = (self.limit(), &self.store);
        let one = async |(of, lease, revision): Free| {
            let lease = Lease { owner: None, ..lease };
            let update = store.update(lease_key(&of), lease.encode(), revision);
            let _ = timeout(limit, update).await;
        };
        join_all(unwanted.into_iter().map(one)).await;
    }

    /// Asks the server whether the owners of leases have written their entries since: the watch may be late, and a member that
    /// only seems dead keeps its leases. Returns the others. The next balance asks again for an owner of whom the server has not
    /// answered.
    async fn confirm_dead(&mut self, mut wanted: Vec<Free>) -> Vec<Free> {
        let (limit, store, me) = (self.limit(), &self.store, &self.settings.name);
        let owners = wanted.iter().filter_map(|(_, lease, _)| lease.owner.clone());
        let mut owners: BTreeSet<_> = owners.filter(|owner| owner != me).collect();
        let ask = async |owner: String| {
            let entry = timeout(limit, store.entry(member_key(&owner))).await;
            Some((owner, entry.ok()?.ok()?))
        };
        let entries = join_all(owners.clone().into_iter().map(ask)).await;
        for (owner, entry) in entries.into_iter().flatten() {
            self.apply(&member_key(&owner), entry.as_ref());
            if !self.table.is_alive(&owner, self.settings.session, Instant::now()) {
                owners.remove(&owner);
            }
        }
        wanted.retain(|(_, lease, _)| lease.owner.as_ref().is_none_or(|of| !owners.contains(of)));
        wanted
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

    /// Takes leases. Another member may be faster, and the server may not answer. Returns how many were taken.
    async fn take(&mut self, wanted: Vec<Free>) -> usize {
        let limit = self.limit();
        let Agent { context, store, settings, table, .. } = &*self;
        let topics: BTreeSet<_> = wanted.iter().map(|(of, ..)| of.topic.clone()).collect();
        let look = async |topic: Arc<str>| {
            let log = timeout(limit, Log::of(context, &topic)).await;
            Some((topic, log.ok()?.ok()?))
        };
        let logs = join_all(topics.into_iter().map(look)).await;
        let logs: BTreeMap<_, _> = logs.into_iter().flatten().collect();
        let one = |free| take(&logs, store, settings, table, free, limit);
        let taken = join_all(wanted.into_iter().map(one)).await;
        // After a stop of the process: they are in the name of this member, for the next membership.
        if self.membership.as_ref().is_none_or(Membership::is_over) {
            return 0;
        }
        let mut assigned = Vec::new();
        for (held, assignment) in taken.into_iter().flatten() {
            self.held.insert(assignment.owned.partition.clone(), held);
            assigned.push(assignment);
        }
        let count = assigned.len();
        if count > 0 {
            self.tell(Told::Event(Event::Assigned(assigned)));
        }
        count
    }
}

/// So many of what is free, from another place when something has failed.
fn some(mut free: Vec<Free>, failed: usize, count: usize) -> Vec<Free> {
    let first = failed % free.len().max(1);
    free.rotate_left(first);
    free.truncate(count);
    free
}

/// Takes a lease; `None` if another member was faster, or the server does not answer.
async fn take(
    logs: &BTreeMap<Arc<str>, Log>,
    store: &Store,
    settings: &Settings,
    table: &Table,
    (partition, before, revision): Free,
    limit: Duration,
) -> Option<(Held, Assignment)> {
    let (log, partitions) = (logs.get(&partition.topic)?, settings.topics.get(&partition.topic)?);
    let Lease { generation, committed, known, .. } = before;
    let place = committed.as_ref().map(|committed| committed.offset);
    let seen = table.furthest(&partition.topic);
    let judged = judge(log, &partition, *partitions, &known, place, seen);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_keeps_nothing_else_waiting() {
        let free = |count: u32| -> Vec<Free> {
            let of = |partition| TopicPartition { topic: "t".into(), partition };
            (0..count).map(|partition| (of(partition), Lease::default(), 0)).collect()
        };
        let chosen = |failed, count| -> Vec<_> {
            some(free(5), failed, count).into_iter().map(|(of, ..)| of.partition).collect()
        };
        assert_eq!(chosen(0, 2), [0, 1]);
        assert_eq!(chosen(2, 2), [2, 3]);
        assert_eq!(chosen(4, 2), [4, 0]);
        assert_eq!(chosen(7, 9), [2, 3, 4, 0, 1]);
        assert!(some(free(0), 3, 2).is_empty());
    }
}
