//! A group: who owns which partition. It is data only: the engine gives it the time, and carries its messages.
//!
//! Invariants:
//!
//! * A partition has one owner at most, and another one only after the first has released it, has left, or was not
//!   heard of for the length of its session.
//! * Each owner of a partition has a higher generation than the owners before it.
//! * With a member more or less, only the partitions that change their owner are revoked; all others go on.

use crate::source::TopicPartition;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// A member of a group. A member that comes again is another one.
pub(crate) type MemberId = u64;

/// What a member has to know, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Assigned(TopicPartition, u64),
    Revoked(TopicPartition, u64),
    Lost(TopicPartition, u64),
}

/// What a member says of itself when it joins.
#[derive(Clone, Debug)]
pub(crate) struct Joining {
    pub(crate) topics: BTreeSet<Arc<str>>,
    /// The name of a static member.
    pub(crate) instance: Option<String>,
    pub(crate) session: Duration,
}

#[derive(Debug)]
struct Member {
    joining: Joining,
    /// When it is taken for dead.
    expires: Duration,
    changes: Vec<Change>,
}

#[derive(Debug)]
struct Owner {
    member: MemberId,
    generation: u64,
    /// Whether the member was told to release it.
    is_revoked: bool,
}

/// The members of a group, and what they own.
#[derive(Debug, Default)]
pub(crate) struct Group {
    generation: u64,
    last_id: MemberId,
    members: BTreeMap<MemberId, Member>,
    /// All partitions of all topics that some member reads.
    partitions: BTreeMap<TopicPartition, Option<Owner>>,
}

impl Group {
    /// An empty group whose next generation is higher than this one.
    pub(crate) fn new(generation: u64) -> Group {
        Group { generation, ..Group::default() }
    }

    /// Takes a member in. A static member takes over what the member of the same name had, with a new generation.
    pub(crate) fn join(&mut self, joining: Joining, now: Duration) -> MemberId {
        self.last_id += 1;
        let id = self.last_id;
        let expires = now.saturating_add(joining.session);
        let before = self.members.iter().find(|(_, other)| {
            other.joining.instance.is_some() && other.joining.instance == joining.instance
        });
        let before = before.map(|(before, _)| *before);
        self.members.insert(id, Member { joining, expires, changes: Vec::new() });
        if let Some(before) = before {
            self.hand_over(before, id);
        }
        self.balance(now);
        id
    }

    /// The partitions of a static member go to its successor as they are.
    fn hand_over(&mut self, before: MemberId, to: MemberId) {
        self.members.remove(&before);
        self.generation += 1;
        let generation = self.generation;
        for (partition, owner) in &mut self.partitions {
            if owner.as_ref().is_some_and(|owner| owner.member == before) {
                *owner = Some(Owner { member: to, generation, is_revoked: false });
                let change = Change::Assigned(partition.clone(), generation);
                self.members.get_mut(&to).expect("it has joined").changes.push(change);
            }
        }
    }

    /// Hears of a member.
    pub(crate) fn renew(&mut self, id: MemberId, now: Duration) {
        // It may have been asleep for as long as its session, and still be first to be heard.
        if let Some(member) = self.members.get_mut(&id).filter(|member| member.expires > now) {
            member.expires = now.saturating_add(member.joining.session);
        }
    }

    /// Hears of a member, and returns what is new for it. `None` if it is no member any more: it has lost everything.
    pub(crate) fn poll(&mut self, id: MemberId, now: Duration) -> Option<Vec<Change>> {
        self.renew(id, now);
        if self.members.values().any(|member| member.expires <= now) {
            self.balance(now);
        }
        self.members.get_mut(&id).map(|member| std::mem::take(&mut member.changes))
    }

    /// Whether the partition is owned in this generation. A generation of a partition has one owner.
    pub(crate) fn is_owned(&self, of: &TopicPartition, generation: u64) -> bool {
        let owner = self.partitions.get(of).and_then(Option::as_ref);
        owner.is_some_and(|owner| owner.generation == generation)
    }

    /// Whether there is a static member of this name.
    pub(crate) fn has_instance(&self, of: &Joining) -> bool {
        let instances = self.members.values().map(|member| &member.joining.instance);
        of.instance.is_some() && instances.into_iter().any(|instance| *instance == of.instance)
    }

    /// The members that a change waits for.
    pub(crate) fn has_changes(&self, id: MemberId) -> bool {
        self.members.get(&id).is_none_or(|member| !member.changes.is_empty())
    }

    /// The owner of this generation gives a partition up.
    pub(crate) fn release(&mut self, of: &TopicPartition, generation: u64, now: Duration) {
        if self.is_owned(of, generation) {
            self.partitions.insert(of.clone(), None);
            self.balance(now);
        }
    }

    /// The member leaves. A static member keeps its partitions until its session ends, for its successor.
    pub(crate) fn leave(&mut self, id: MemberId, now: Duration) {
        if self.members.get(&id).is_some_and(|member| member.joining.instance.is_none()) {
            self.members.remove(&id);
            self.balance(now);
        }
    }

    /// The topics have so many partitions from now on. One that is not named has none.
    pub(crate) fn set_topics(&mut self, topics: &BTreeMap<Arc<str>, u32>, now: Duration) {
        for (topic, count) in topics {
            for partition in 0..*count {
                let partition = TopicPartition { topic: Arc::clone(topic), partition };
                self.partitions.entry(partition).or_default();
            }
        }
        let is_gone =
            |of: &TopicPartition| topics.get(&of.topic).is_none_or(|count| of.partition >= *count);
        let gone: Vec<_> = self.partitions.keys().filter(|of| is_gone(of)).cloned().collect();
        for partition in gone {
            if let Some(Some(owner)) = self.partitions.remove(&partition)
                && let Some(member) = self.members.get_mut(&owner.member)
            {
                member.changes.push(Change::Lost(partition, owner.generation));
            }
        }
        self.balance(now);
    }

    /// Removes the members that are taken for dead, and gives each partition that nobody owns to a member. If one has
    /// too many, it is told to release some.
    fn balance(&mut self, now: Duration) {
        self.members.retain(|_, member| member.expires > now);
        let members = &self.members;
        for owner in self.partitions.values_mut() {
            owner.take_if(|owner| !members.contains_key(&owner.member));
        }
        let target = self.target();
        let has_free = |(of, to): &(&TopicPartition, &MemberId)| {
            self.partitions[*of].is_none() && members.contains_key(*to)
        };
        if target.iter().any(|pair| has_free(&pair)) {
            self.generation += 1;
        }
        for (partition, to) in target {
            let owner = self.partitions.get_mut(&partition).expect("the target has no others");
            match owner {
                None => {
                    let generation = self.generation;
                    *owner = Some(Owner { member: to, generation, is_revoked: false });
                    let member = self.members.get_mut(&to).expect("the target has members only");
                    member.changes.push(Change::Assigned(partition, generation));
                }
                Some(owner) if owner.member != to && !owner.is_revoked => {
                    owner.is_revoked = true;
                    let member = self.members.get_mut(&owner.member).expect("the dead are gone");
                    member.changes.push(Change::Revoked(partition, owner.generation));
                }
                Some(_) => {}
            }
        }
    }

    /// The owners that the partitions should have: the present ones, where that is fair.
    fn target(&self) -> BTreeMap<TopicPartition, MemberId> {
        let mut target = BTreeMap::new();
        let mut counts: BTreeMap<MemberId, usize> =
            self.members.keys().map(|id| (*id, 0)).collect();
        let mut open = Vec::new();
        for (partition, owner) in &self.partitions {
            match owner {
                Some(owner) if !owner.is_revoked => {
                    *counts.entry(owner.member).or_default() += 1;
                    target.insert(partition.clone(), owner.member);
                }
                _ => open.push(partition.clone()),
            }
        }
        for partition in open {
            if let Some(to) = self.least(&counts, &partition) {
                *counts.entry(to).or_default() += 1;
                target.insert(partition, to);
            }
        }
        while let Some((partition, to)) = self.improvement(&target, &counts) {
            let from = target.insert(partition, to).expect("it had an owner");
            *counts.entry(from).or_default() -= 1;
            *counts.entry(to).or_default() += 1;
        }
        target
    }

    /// The member with the fewest partitions among those that read the topic.
    fn least(&self, counts: &BTreeMap<MemberId, usize>, of: &TopicPartition) -> Option<MemberId> {
        let readers = self.members.iter();
        let readers = readers.filter(|(_, member)| member.joining.topics.contains(&of.topic));
        readers.map(|(id, _)| *id).min_by_key(|id| counts[id])
    }

    /// A partition whose owner has two more than a member that could have it.
    fn improvement(
        &self,
        target: &BTreeMap<TopicPartition, MemberId>,
        counts: &BTreeMap<MemberId, usize>,
    ) -> Option<(TopicPartition, MemberId)> {
        target.iter().rev().find_map(|(partition, owner)| {
            let to = self.least(counts, partition)?;
            (counts[owner] >= counts[&to] + 2).then(|| (partition.clone(), to))
        })
    }
}

#[cfg(test)]
mod tests;
