//! What a bucket says, as one member sees it, and what that member is to own. The caller gives the time.
//!
//! Invariants:
//!
//! * A member is dead when its entry has not changed for a session and a quarter, by the clock of the one who looks. An entry
//!   that is shown again, or behind a later one or its deletion, says nothing new.
//! * The shares of the living members are as equal as can be; those that are longer there have one more.

use crate::lease::{Beat, Lease, Subject, subject};
use colored_consumer::TopicPartition;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

#[derive(Debug)]
struct Seen {
    beat: Beat,
    since: u64,
    at: Instant,
}

/// A partition with its lease, and the revision of that.
pub(crate) type Free = (TopicPartition, Lease, u64);

/// What a bucket says.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// With the revisions of their last entries, also of those that are gone.
    members: BTreeMap<String, (u64, Option<Seen>)>,
    leases: BTreeMap<TopicPartition, (Lease, u64)>,
}

impl Table {
    /// Takes an entry; `None` is a deleted one. Returns whether something may have to move.
    pub(crate) fn apply(
        &mut self,
        key: &str,
        value: Option<&[u8]>,
        revision: u64,
        now: Instant,
    ) -> bool {
        match subject(key) {
            Some(Subject::Member(name)) => {
                let known = self.members.get(&name);
                if known.is_some_and(|(known, _)| *known >= revision) {
                    return false;
                }
                let was_there = known.is_some_and(|(_, seen)| seen.is_some());
                let seen = value.and_then(Beat::decode).map(|beat| {
                    let since = if beat.since == 0 { revision } else { beat.since };
                    Seen { beat, since, at: now }
                });
                let is_there = seen.is_some();
                self.members.insert(name, (revision, seen));
                was_there != is_there
            }
            Some(Subject::Lease(of)) => {
                // What is somebody else's counts as free, in its revision.
                let lease = value.and_then(Lease::decode).unwrap_or_default();
                let owner = lease.owner.clone();
                let known = self.leases.get(&of);
                if known.is_some_and(|(_, known)| *known >= revision) {
                    return false;
                }
                let before = self.leases.insert(of, (lease, revision));
                before.and_then(|(before, _)| before.owner) != owner
            }
            None => false,
        }
    }

    pub(crate) fn is_alive(&self, name: &str, session: Duration, now: Instant) -> bool {
        let most = session + session / 4;
        let seen = self.members.get(name).and_then(|(_, seen)| seen.as_ref());
        seen.is_some_and(|seen| now.saturating_duration_since(seen.at) < most)
    }

    /// The members that have been silent for ten sessions, whose entries nobody needs, and the revisions of these.
    pub(crate) fn forgotten(&self, session: Duration, now: Instant) -> Vec<(String, u64)> {
        let is_old = |seen: &Seen| now.saturating_duration_since(seen.at) > 10 * session;
        let old = self.members.iter().filter(|(_, (_, seen))| seen.as_ref().is_some_and(is_old));
        old.map(|(name, (revision, _))| (name.clone(), *revision)).collect()
    }

    /// Whether the group has a commit in another partition of the topic.
    pub(crate) fn has_other_commits(&self, of: &TopicPartition) -> bool {
        let mut others = self.leases.iter().filter(|(other, _)| *other != of);
        others.any(|(other, (lease, _))| other.topic == of.topic && lease.committed.is_some())
    }

    /// The highest offset that the group has committed in a topic, 0 if there is none.
    pub(crate) fn furthest(&self, topic: &str) -> u64 {
        let all = self.leases.iter().filter(|(of, _)| *of.topic == *topic);
        let committed = all.filter_map(|(_, (lease, _))| lease.committed.as_ref());
        committed.map(|committed| committed.offset).max().unwrap_or(0)
    }

    /// How many partitions of a topic the member is to own.
    pub(crate) fn share(
        &self,
        me: &str,
        (topic, partitions): (&str, u32),
        session: Duration,
        now: Instant,
    ) -> usize {
        let reads = |seen: &&Seen| seen.beat.topics.iter().any(|own| own == topic);
        let is_there = |name: &str| name == me || self.is_alive(name, session, now);
        let mut all: Vec<_> = self
            .members
            .iter()
            .filter_map(|(name, (_, seen))| Some((name, seen.as_ref()?)))
            .filter(|(name, seen)| is_there(name) && reads(seen))
            .map(|(name, seen)| (seen.since, name.as_str()))
            .collect();
        all.sort_unstable();
        let Some(rank) = all.iter().position(|(_, name)| *name == me) else { return 0 };
        let (count, partitions) = (all.len(), partitions as usize);
        partitions / count + usize::from(rank < partitions % count)
    }

    /// The leases in the name of a member that are meant.
    pub(crate) fn leases_of(
        &self,
        name: &str,
        is_meant: impl Fn(&TopicPartition) -> bool,
    ) -> Vec<Free> {
        let own = self
            .leases
            .iter()
            .filter(|(of, (lease, _))| lease.owner.as_deref() == Some(name) && is_meant(of));
        own.map(|(of, (lease, revision))| (of.clone(), lease.clone(), *revision)).collect()
    }

    /// The partitions of a topic that the member may take, with what their leases say and in which revision; those first that
    /// are in its name.
    pub(crate) fn free(
        &self,
        me: &str,
        (topic, partitions): (&str, u32),
        session: Duration,
        now: Instant,
    ) -> Vec<Free> {
        let all =
            (0..partitions).map(|partition| TopicPartition { topic: topic.into(), partition });
        let with_lease = all.map(|of| {
            let (lease, revision) = self.leases.get(&of).cloned().unwrap_or_default();
            (of, lease, revision)
        });
        let is_free = |(_, lease, _): &Free| match &lease.owner {
            None => true,
            // An earlier member of the same name.
            Some(owner) => owner == me || !self.is_alive(owner, session, now),
        };
        let mut free: Vec<_> = with_lease.filter(is_free).collect();
        free.sort_by_key(|(_, lease, _)| lease.owner.as_deref() != Some(me));
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use colored_consumer::Committed;

    const SESSION: Duration = Duration::from_secs(4);

    fn beat(table: &mut Table, name: &str, (since, revision): (u64, u64), now: Instant) {
        let beat = Beat { since, token: name.into(), topics: vec!["t".into()] };
        table.apply(&format!("member.{name}"), Some(&beat.encode()), revision, now);
    }

    fn lease(table: &mut Table, partition: u32, owner: &str, revision: u64, now: Instant) -> bool {
        let lease = Lease { owner: Some(owner.into()), generation: 1, ..Lease::default() };
        table.apply(&format!("lease.t.{partition}"), Some(&lease.encode()), revision, now)
    }

    #[test]
    fn the_older_members_have_one_more() {
        let (mut table, now) = (Table::default(), Instant::now());
        for (name, since) in [("z", 1), ("a", 2), ("m", 3)] {
            beat(&mut table, name, (since, since), now);
        }
        let shares =
            |table: &Table, now| ["z", "a", "m"].map(|me| table.share(me, ("t", 11), SESSION, now));
        assert_eq!(shares(&table, now), [4, 4, 3]);
        let later = now + SESSION;
        beat(&mut table, "z", (1, 4), later);
        beat(&mut table, "m", (3, 5), later);
        assert_eq!(table.share("z", ("t", 11), SESSION, later + SESSION / 2), 6, "a is dead");
        assert_eq!(table.share("z", ("u", 11), SESSION, now), 0, "it does not read u");
    }

    #[test]
    fn what_the_dead_have_is_free() {
        let (mut table, now) = (Table::default(), Instant::now());
        beat(&mut table, "a", (1, 1), now);
        assert!(lease(&mut table, 0, "a", 5, now));
        assert!(!lease(&mut table, 0, "b", 4, now), "an old entry");
        assert!(!lease(&mut table, 0, "a", 6, now), "a commit moves nothing");
        let free = |now| {
            let free = table.free("b", ("t", 2), SESSION, now);
            free.into_iter().map(|(of, _, revision)| (of.partition, revision)).collect::<Vec<_>>()
        };
        assert_eq!(free(now), [(1, 0)]);
        assert_eq!(free(now + SESSION), [(1, 0)], "it may not know of its death");
        assert_eq!(free(now + 2 * SESSION), [(0, 6), (1, 0)]);
        assert_eq!(table.free("a", ("t", 1), SESSION, now).len(), 1, "its own, of an earlier time");
    }

    #[test]
    fn what_is_in_the_name_of_a_member_comes_first() {
        let (mut table, now) = (Table::default(), Instant::now());
        lease(&mut table, 2, "a", 5, now);
        lease(&mut table, 3, "b", 6, now);
        let partitions = |all: Vec<Free>| -> Vec<_> {
            all.into_iter().map(|(of, _, revision)| (of.partition, revision)).collect()
        };
        let free = table.free("a", ("t", 4), SESSION, now);
        assert_eq!(partitions(free), [(2, 5), (0, 0), (1, 0), (3, 6)]);
        assert_eq!(partitions(table.leases_of("a", |_| true)), [(2, 5)]);
        assert!(table.leases_of("a", |of| of.partition != 2).is_empty());
    }

    /// The server answers with what its watch shows later.
    #[test]
    fn an_entry_that_is_shown_late_changes_nothing() {
        let (mut table, now) = (Table::default(), Instant::now());
        beat(&mut table, "a", (5, 5), now);
        beat(&mut table, "a", (5, 7), now);
        assert!(!table.apply("member.a", None, 6, now) && table.is_alive("a", SESSION, now));
        assert!(table.apply("member.a", None, 8, now) && !table.is_alive("a", SESSION, now));
        beat(&mut table, "a", (5, 7), now);
        assert!(!table.is_alive("a", SESSION, now), "it has left since");
        assert!(lease(&mut table, 0, "a", 9, now));
        assert!(table.apply("lease.t.0", None, 11, now));
        assert!(!lease(&mut table, 0, "a", 10, now), "it is deleted since");
        assert_eq!(table.free("b", ("t", 1), SESSION, now)[0].2, 11);
    }

    /// As when a watch begins anew, or is behind what the server has answered.
    #[test]
    fn an_entry_that_is_shown_again_wakes_no_dead() {
        let (mut table, now) = (Table::default(), Instant::now());
        beat(&mut table, "a", (5, 7), now);
        let later = now + 2 * SESSION;
        for revision in [7, 6] {
            beat(&mut table, "a", (5, revision), later);
            assert!(!table.is_alive("a", SESSION, later));
        }
        assert_eq!(table.forgotten(SESSION, now + 11 * SESSION), [("a".to_owned(), 7)]);
        beat(&mut table, "a", (5, 8), later);
        assert!(
            table.is_alive("a", SESSION, later) && table.is_alive("a", SESSION, later + SESSION)
        );
    }

    #[test]
    fn the_commits_of_a_topic_are_known() {
        let (mut table, now) = (Table::default(), Instant::now());
        let of = |topic: &str, partition| TopicPartition { topic: topic.into(), partition };
        let mut lease = Lease::default();
        table.apply("lease.t.0", Some(&lease.encode()), 1, now);
        assert!(!table.has_other_commits(&of("t", 1)) && table.furthest("t") == 0);
        for (partition, offset) in [(0, 7), (1, 5)] {
            lease.committed = Some(Committed { offset, ..Committed::default() });
            table.apply(&format!("lease.t.{partition}"), Some(&lease.encode()), 2, now);
            assert_eq!(table.furthest("t"), 7);
            assert_eq!(
                table.has_other_commits(&of("t", 0)),
                partition == 1,
                "its own does not count"
            );
        }
        assert!(!table.has_other_commits(&of("u", 0)) && table.furthest("u") == 0);
    }
}
