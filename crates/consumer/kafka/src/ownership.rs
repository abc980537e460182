//! Which partitions a member owns. Data only: the client and the broker are elsewhere.
//!
//! Invariants:
//!
//! * A partition has one generation at a time, and a commit counts only in that generation.
//! * A revocation is complete when each of its partitions was released, or was never told to the consumer.
//! * What is assigned again during its revocation is claimed when that is finished. Until then the client fetches the partition,
//!   and refuses to begin it.

use colored_consumer::{Owned, TopicPartition};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
struct Claim {
    generation: u64,
    /// Which log it is, if that is known.
    log: Option<u128>,
    /// Whether it may be another log than that: a broker did not know its topic.
    is_doubtful: bool,
    /// Whether the consumer has heard of it.
    is_told: bool,
    /// Whether the client fetches it.
    is_begun: bool,
    /// Whether the consumer has given it up.
    is_released: bool,
}

/// A revocation that the group waits for.
#[derive(Debug, Default)]
struct Revocation {
    all: BTreeSet<TopicPartition>,
    left: BTreeSet<TopicPartition>,
    /// What the group has assigned again meanwhile. The client waits for the answer to a revocation, but not where a topic
    /// is made again: then it joins anew at once.
    again: Vec<Owned>,
}

/// What the consumer is to be told of a revocation.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Gone {
    pub(crate) owned: Vec<Owned>,
    /// Whether nothing is to be waited for.
    pub(crate) is_complete: bool,
}

/// What the end of a revocation brings.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Finished {
    /// What the client fetches still, and is not to.
    pub(crate) fetched: Vec<TopicPartition>,
    /// What the member has again.
    pub(crate) again: Vec<Owned>,
}

/// Which partitions a member owns.
#[derive(Debug, Default)]
pub(crate) struct Ownership {
    claims: BTreeMap<TopicPartition, Claim>,
    revocation: Option<Revocation>,
}

impl Ownership {
    /// The group assigns partitions. Returns those that the member has now: not what is being revoked.
    pub(crate) fn assign(&mut self, owned: Vec<Owned>) -> Vec<Owned> {
        let (again, now) = owned.into_iter().partition(|of| self.is_revoked(&of.partition));
        if let Some(revocation) = &mut self.revocation {
            revocation.again.extend::<Vec<_>>(again);
        }
        self.claim_all(&now);
        now
    }

    fn claim_all(&mut self, owned: &[Owned]) {
        for Owned { partition, generation } in owned {
            let (is_told, is_begun, is_released) = (false, false, false);
            let (generation, log, is_doubtful) = (*generation, None, false);
            let claim = Claim { generation, log, is_doubtful, is_told, is_begun, is_released };
            self.claims.insert(partition.clone(), claim);
        }
    }

    fn claim(&mut self, of: &Owned) -> Option<&mut Claim> {
        let claim = self.claims.get_mut(&of.partition)?;
        (claim.generation == of.generation).then_some(claim)
    }

    /// Whether the group waits for partitions of this member.
    pub(crate) fn is_revoking(&self) -> bool {
        self.revocation.is_some()
    }

    fn is_revoked(&self, partition: &TopicPartition) -> bool {
        self.revocation.as_ref().is_some_and(|revocation| revocation.all.contains(partition))
    }

    /// The consumer is about to be told of the partition; returns whether it still may.
    pub(crate) fn tell(&mut self, of: &Owned) -> bool {
        let is_revoked = self.is_revoked(&of.partition);
        match self.claim(of) {
            Some(claim) if !is_revoked => {
                claim.is_told = true;
                true
            }
            _ => false,
        }
    }

    /// The partition has this log now.
    pub(crate) fn set_log(&mut self, of: &Owned, log: Option<u128>) {
        if let Some(claim) = self.claim(of) {
            (claim.log, claim.is_doubtful) = (log, false);
        }
    }

    /// A broker did not know the topic: it may be made again, and the next commit would be of the one before.
    pub(crate) fn doubt_log(&mut self, of: &Owned) {
        if let Some(claim) = self.claim(of) {
            claim.is_doubtful = true;
        }
    }

    /// Whether nobody has looked at the partition's log since it was in doubt.
    pub(crate) fn is_doubtful(&mut self, of: &Owned) -> bool {
        self.claim(of).is_some_and(|claim| claim.is_doubtful)
    }

    /// Whether an offset of that log is a place in the partition's log, as far as both are known.
    pub(crate) fn is_log(&mut self, of: &Owned, log: Option<u128>) -> bool {
        let now = self.claim(of).and_then(|claim| claim.log);
        now.zip(log).is_none_or(|(now, log)| now == log)
    }

    /// Whether the member owns the partition in this generation.
    pub(crate) fn is_owned(&mut self, of: &Owned) -> bool {
        self.claim(of).is_some_and(|claim| !claim.is_released)
    }

    /// Whether the partition may be read; then whether the client fetches it already.
    pub(crate) fn begin(&mut self, of: &Owned) -> Option<bool> {
        let is_revoked = self.is_revoked(&of.partition);
        let claim = self.claim(of).filter(|claim| !claim.is_released && !is_revoked)?;
        Some(std::mem::replace(&mut claim.is_begun, true))
    }

    /// The group wants partitions back, or has taken them (`is_lost`). Another revocation may be under way.
    pub(crate) fn revoke(&mut self, partitions: Vec<TopicPartition>, is_lost: bool) -> Gone {
        let mut gone = Gone::default();
        let Revocation { all, left, again } = self.revocation.get_or_insert_default();
        again.retain(|of| !partitions.contains(&of.partition));
        for partition in partitions {
            let is_new = all.insert(partition.clone());
            let Some(claim) = self.claims.get_mut(&partition) else { continue };
            if claim.is_told && !claim.is_released && (is_new || is_lost) {
                let generation = claim.generation;
                left.insert(partition.clone());
                gone.owned.push(Owned { partition: partition.clone(), generation });
            }
            if is_lost {
                claim.is_released = true;
                left.remove(&partition);
            }
        }
        gone.is_complete = left.is_empty();
        gone
    }

    /// What is being revoked is lost before the consumer has given it up: the session has ended.
    pub(crate) fn lose_revoked(&mut self) -> Vec<Owned> {
        let Some(revocation) = &mut self.revocation else { return Vec::new() };
        let mut lost = Vec::new();
        for partition in std::mem::take(&mut revocation.left) {
            if let Some(claim) = self.claims.get_mut(&partition) {
                claim.is_released = true;
                lost.push(Owned { partition, generation: claim.generation });
            }
        }
        lost
    }

    /// The consumer gives partitions up; returns whether that completes a revocation.
    pub(crate) fn release(&mut self, owned: &[Owned]) -> bool {
        for of in owned {
            let Some(claim) = self.claim(of) else { continue };
            claim.is_released = true;
            if let Some(revocation) = &mut self.revocation {
                revocation.left.remove(&of.partition);
            }
        }
        self.revocation.as_ref().is_some_and(|revocation| revocation.left.is_empty())
    }

    /// Ends the revocation, if it is complete, and forgets its partitions.
    pub(crate) fn finish(&mut self) -> Option<Finished> {
        let complete = self.revocation.take_if(|revocation| revocation.left.is_empty());
        let Revocation { all, again, .. } = complete?;
        let was_begun = |partition: &TopicPartition| {
            self.claims.remove(partition).is_some_and(|claim| claim.is_begun)
        };
        let fetched = all.into_iter().filter(was_begun).collect();
        self.claim_all(&again);
        Some(Finished { fetched, again })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partition(partition: u32) -> TopicPartition {
        TopicPartition { topic: "t".into(), partition }
    }

    fn owned(number: u32, generation: u64) -> Owned {
        Owned { partition: partition(number), generation }
    }

    fn two() -> Ownership {
        let mut ownership = Ownership::default();
        assert_eq!(ownership.assign(vec![owned(0, 7), owned(1, 7)]).len(), 2);
        for number in 0..2 {
            assert!(ownership.tell(&owned(number, 7)));
        }
        ownership
    }

    fn finished(fetched: &[u32], again: &[Owned]) -> Option<Finished> {
        let fetched = fetched.iter().map(|number| partition(*number)).collect();
        Some(Finished { fetched, again: again.to_vec() })
    }

    #[test]
    fn a_revocation_waits_for_each_release() {
        let mut ownership = two();
        assert_eq!(ownership.begin(&owned(0, 7)), Some(false));
        assert_eq!(ownership.begin(&owned(0, 7)), Some(true));
        let gone = ownership.revoke(vec![partition(0), partition(1)], false);
        assert_eq!(gone, Gone { owned: vec![owned(0, 7), owned(1, 7)], is_complete: false });
        assert_eq!(ownership.begin(&owned(1, 7)), None, "it is to go");
        assert!(!ownership.release(&[owned(0, 7)]));
        assert!(!ownership.is_owned(&owned(0, 7)));
        assert!(ownership.is_owned(&owned(1, 7)), "its last commit counts");
        assert_eq!(ownership.finish(), None, "it waits for that");
        assert!(ownership.release(&[owned(1, 7)]));
        assert_eq!(ownership.finish(), finished(&[0], &[]), "only that was fetched");
        assert_eq!(ownership.finish(), None);
    }

    #[test]
    fn what_is_lost_commits_nothing_and_is_not_waited_for() {
        let mut ownership = two();
        let gone = ownership.revoke(vec![partition(0), partition(1)], true);
        assert!(gone.is_complete && gone.owned.len() == 2);
        assert!(!ownership.is_owned(&owned(0, 7)));
        assert_eq!(ownership.finish(), finished(&[], &[]));
        ownership.assign(vec![owned(0, 8)]);
        assert!(ownership.tell(&owned(0, 8)) && ownership.is_owned(&owned(0, 8)));
        assert!(!ownership.is_owned(&owned(0, 7)), "an earlier time");
    }

    #[test]
    fn an_offset_of_another_log_is_no_place() {
        let mut ownership = two();
        assert!(ownership.is_log(&owned(0, 7), Some(1)), "not known yet");
        ownership.set_log(&owned(0, 7), Some(1));
        ownership.set_log(&owned(1, 6), Some(1));
        assert!(ownership.is_log(&owned(0, 7), Some(1)) && ownership.is_log(&owned(0, 7), None));
        assert!(!ownership.is_log(&owned(0, 7), Some(2)));
        assert!(ownership.is_log(&owned(1, 7), Some(2)), "an earlier time says nothing");
        ownership.doubt_log(&owned(0, 6));
        assert!(!ownership.is_doubtful(&owned(0, 7)), "an earlier time says nothing");
        ownership.doubt_log(&owned(0, 7));
        assert!(ownership.is_doubtful(&owned(0, 7)));
        ownership.set_log(&owned(0, 7), Some(1));
        assert!(!ownership.is_doubtful(&owned(0, 7)), "it was looked at");
    }

    #[test]
    fn what_the_consumer_never_heard_of_is_not_waited_for() {
        let mut ownership = Ownership::default();
        ownership.assign(vec![owned(0, 7)]);
        let gone = ownership.revoke(vec![partition(0)], false);
        assert_eq!(gone, Gone { owned: Vec::new(), is_complete: true });
        assert!(!ownership.tell(&owned(0, 7)), "too late");
    }

    /// The client still fetches them until the end of the revocation, which must not be forgotten.
    #[test]
    fn what_is_assigned_again_before_the_end_of_its_revocation_comes_behind_it() {
        for is_lost in [false, true] {
            let mut ownership = two();
            assert_eq!(ownership.begin(&owned(0, 7)), Some(false));
            let gone = ownership.revoke(vec![partition(0)], is_lost);
            assert_eq!(gone, Gone { owned: vec![owned(0, 7)], is_complete: is_lost });
            let assigned = ownership.assign(vec![owned(0, 8), owned(2, 8)]);
            assert_eq!(assigned, [owned(2, 8)]);
            assert!(!ownership.tell(&owned(0, 8)) && ownership.begin(&owned(0, 8)).is_none());
            assert!(ownership.release(&[owned(0, 7)]));
            assert_eq!(ownership.finish(), finished(&[0], &[owned(0, 8)]));
            assert!(ownership.tell(&owned(0, 8)));
            assert_eq!(ownership.begin(&owned(0, 8)), Some(false));
        }
    }

    #[test]
    fn a_second_revocation_waits_for_the_first() {
        let mut ownership = two();
        assert_eq!(ownership.begin(&owned(0, 7)), Some(false));
        ownership.revoke(vec![partition(0)], false);
        ownership.assign(vec![owned(0, 8)]);
        let gone = ownership.revoke(vec![partition(0), partition(1)], false);
        assert_eq!(gone, Gone { owned: vec![owned(1, 7)], is_complete: false });
        assert!(!ownership.release(&[owned(1, 7)]));
        assert_eq!(ownership.finish(), None);
        let gone = ownership.revoke(vec![partition(0)], true);
        assert_eq!(gone, Gone { owned: vec![owned(0, 7)], is_complete: true });
        assert_eq!(ownership.finish(), finished(&[0], &[]), "what came between has gone, too");
    }

    /// A consumer that stops releases what nobody has asked for.
    #[test]
    fn what_was_given_up_before_is_not_waited_for() {
        let mut ownership = two();
        assert!(!ownership.release(&[owned(0, 7)]));
        let gone = ownership.revoke(vec![partition(0)], false);
        assert_eq!(gone, Gone { owned: Vec::new(), is_complete: true });
    }
}
