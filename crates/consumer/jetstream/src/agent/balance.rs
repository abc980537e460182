//! Which leases a member takes, and which it asks its consumer to give up.

use super::write::{Held, Shared, write};
use super::{Agent, Told};
use crate::engine::partitions_of;
use crate::lease::{Lease, lease_key};
use crate::log::{judge, now};
use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::context::{GetStreamError, GetStreamErrorKind};
use colored_consumer::{Assignment, Event, Owned, TopicPartition};
use std::time::Instant;
use tokio::time::timeout;

impl Agent {
    /// Loses the partitions of topics that were deleted, and those that a topic no longer has: another one of its name was
    /// made. A topic that is not there has no partitions, and may come again.
    pub(super) async fn look_for_topics(&mut self) {
        for (topic, known) in self.settings.topics.clone() {
            let partitions = match timeout(self.limit(), self.context.get_stream(&topic)).await {
                Ok(Ok(stream)) => partitions_of(stream.cached_info()).unwrap_or(0),
                Ok(Err(error)) if is_not_found(&error) => 0,
                _ => continue,
            };
            if partitions == known {
                continue;
            }
            self.settings.topics.insert(topic.clone(), partitions);
            let is_gone = |of: &&TopicPartition| of.topic == topic && of.partition >= partitions;
            let gone: Vec<_> = self.held.keys().filter(is_gone).cloned().collect();
            let mut lost = Vec::new();
            for partition in gone {
                let Some(held) = self.held.remove(&partition) else { continue };
                self.readings.remove(&partition);
                let owned = Owned { partition, generation: held.generation };
                // If it fails, the lease is free when the member is dead.
                let _ = write(&self.store, &owned, None, &held, self.limit()).await;
                lost.push(owned);
            }
            if !lost.is_empty() {
                self.tell(Told::Event(Event::Lost(lost)));
            }
        }
    }

    /// Takes what is free, up to the share of this member, or asks for what is above it.
    pub(super) async fn balance(&mut self) {
        // Without its own entry, it has not seen the others' either.
        let is_new = self.beaten.is_none() || self.seen < self.beat.since;
        if is_new || self.is_replaced || self.is_stopping {
            return;
        }
        let (session, now) = (self.settings.session, Instant::now());
        let me = self.settings.name.clone();
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
            let free: Vec<_> = free.filter(|(of, ..)| !self.held.contains_key(of)).collect();
            let mut assigned = Vec::new();
            for (partition, lease, revision) in free {
                if count + assigned.len() >= share {
                    break;
                }
                assigned.extend(self.take(partition, lease, revision).await);
            }
            if !assigned.is_empty() {
                self.tell(Told::Event(Event::Assigned(assigned)));
            }
        }
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

    /// Takes a lease; `None` if another member was faster, or the server does not answer.
    async fn take(
        &mut self,
        partition: TopicPartition,
        before: Lease,
        revision: u64,
    ) -> Option<Assignment> {
        let partitions = *self.settings.topics.get(&partition.topic)?;
        let Lease { generation, committed, known, .. } = before;
        let place = committed.as_ref().map(|committed| committed.offset);
        let seen = self.table.furthest(&partition.topic);
        let judged = judge(&self.context, &partition, partitions, &known, place, seen);
        let (log, known) = timeout(self.limit(), judged).await.ok()?.ok()?;
        // It rises, too, if the bucket has lost the lease.
        let generation = (generation + 1).max((now() / 1_000_000) as u64);
        let owner = Some(self.settings.name.clone());
        let lease = Lease { owner, generation, committed: committed.clone(), known: known.clone() };
        let write = self.store.update(lease_key(&partition), lease.encode(), revision);
        // If only the answer is lost, the watch shows the lease as free for its owner.
        let revision = timeout(self.limit(), write).await.ok()?.ok()?;
        let known = Shared::new(known);
        let held = Held {
            generation,
            revision,
            committed: committed.clone(),
            known,
            is_revoked: false,
            is_released: false,
        };
        let has_other_commits = self.table.has_other_commits(&partition);
        self.held.insert(partition.clone(), held);
        let owned = Owned { partition, generation };
        Some(Assignment { owned, committed, log, has_other_commits })
    }
}

fn is_not_found(error: &GetStreamError) -> bool {
    match error.kind() {
        GetStreamErrorKind::JetStream(error) => error.error_code() == ErrorCode::STREAM_NOT_FOUND,
        _ => false,
    }
}
