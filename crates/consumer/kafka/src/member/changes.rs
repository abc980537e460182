//! What the group, and the brokers, say of partitions.

use super::{LOOK, Member};
use crate::context::{Change, Client, lock};
use crate::lookups::{look_at_topics, look_up, prepare};
use crate::reader::Reader;
use crate::sys;
use colored::time::Instant;
use colored_consumer::{Event, TopicPartition};
use rdkafka::consumer::Consumer;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Member {
    pub(super) fn apply(&mut self, change: Change) {
        let context = Arc::clone(&self.calls.context);
        match change {
            Change::Assigned(owned) => {
                let owned = lock(&context.ownership).assign(owned);
                if !owned.is_empty() {
                    let _detached = colored::spawn_unique(prepare(self.calls.clone(), owned));
                }
            }
            Change::Prepared(mut prepared) => {
                let mut ownership = lock(&context.ownership);
                prepared.retain(|(owned, assignment)| {
                    ownership.set_log(owned, assignment.log.identity);
                    ownership.tell(owned)
                });
                drop(ownership);
                let readers =
                    prepared.iter().map(|(owned, of)| Reader::new(owned.clone(), of.log.identity));
                self.readers.extend(readers);
                if !prepared.is_empty() {
                    let assignments = prepared.into_iter().map(|(_, assignment)| assignment);
                    self.events.push_back(Event::Assigned(assignments.collect()));
                }
            }
            Change::Revoked(partitions, is_lost) => self.revoke(partitions, is_lost),
            Change::Extents(extents) => {
                for (owned, log) in extents {
                    let mut waiting = self.readers.iter_mut().filter(|of| !of.is_begun());
                    if let Some(reader) = waiting.find(|reader| reader.owned == owned) {
                        lock(&context.ownership).set_log(&owned, log.identity);
                        reader.leave_range(log);
                    }
                }
            }
            Change::Topics(topics) => {
                self.next_look = Some(Instant::now() + LOOK);
                self.compare(&topics.unwrap_or_default());
            }
        }
    }

    /// Finds the partitions whose topics were made again.
    fn compare(&mut self, topics: &BTreeMap<String, sys::Described>) {
        let mut other = Vec::new();
        for reader in &mut self.readers {
            let log = topics.get(&*reader.owned.partition.topic).and_then(|topic| topic.id);
            if reader.is_other(log) && reader.is_begun() {
                lock(&self.calls.context.ownership).set_log(&reader.owned, log);
                reader.stop(true);
                other.push(reader.owned.clone());
            }
        }
        if !other.is_empty() {
            let _detached = colored::spawn_unique(look_up(self.calls.clone(), other));
        }
    }

    /// Begins to look at the topics, if it is time.
    pub(super) fn look(&mut self) {
        let is_time = self.next_look.is_some_and(|at| at <= Instant::now());
        if is_time && !self.readers.is_empty() {
            self.next_look = None;
            let topics =
                self.readers.iter().map(|of| Arc::clone(&of.owned.partition.topic)).collect();
            let _detached = colored::spawn_unique(look_at_topics(self.calls.clone(), topics));
        }
    }

    fn revoke(&mut self, partitions: Vec<TopicPartition>, is_lost: bool) {
        let gone = lock(&self.calls.context.ownership).revoke(partitions, is_lost);
        self.readers.retain(|reader| !gone.owned.contains(&reader.owned));
        if !gone.owned.is_empty() {
            let event = if is_lost { Event::Lost } else { Event::Revoked };
            self.events.push_back(event(gone.owned));
        }
        if gone.is_complete {
            let calls = self.calls.clone();
            let _detached = colored::spawn_unique(async move { calls.finish().await });
        }
    }

    /// A session that ends during a hand-over is not told by the client: it waits for the end of the hand-over.
    pub(super) fn check_hand_over(&mut self, client: &Client) {
        if !client.assignment_lost() {
            return;
        }
        let lost = lock(&self.calls.context.ownership).lose_revoked();
        if !lost.is_empty() {
            self.events.push_back(Event::Lost(lost));
            let calls = self.calls.clone();
            let _detached = colored::spawn_unique(async move { calls.finish().await });
        }
    }
}
