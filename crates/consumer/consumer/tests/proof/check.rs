//! What must hold over all effects.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Killed,
    /// It was asked to, and ended in time.
    Left,
    /// As `Left`, and before it was stopped for longer than its sessions.
    Slept,
}

/// How much may be repeated after a kill in a run of 100,000 records: what four members had in flight, and what they had done
/// since their last commits. A commit every 20 ms, and a busy machine that does not run for a second. A run of more records
/// takes no longer, so its members do more in a second.
const MOST_REPEATS: usize = 4 * 2_000;

#[derive(Debug)]
struct Effect {
    key: String,
    number: u64,
    member: String,
    generation: u64,
    start: u128,
    end: u128,
    partition: usize,
    offset: u64,
}

/// All effects, in the order of the file.
pub(crate) struct Effects(Vec<Effect>);

impl Effects {
    pub(crate) fn read(lines: &[Arc<str>]) -> Effects {
        Effects(lines.iter().map(|line| parse(line)).collect())
    }

    pub(crate) fn has_key(&self, key: &str) -> bool {
        self.0.iter().any(|effect| effect.key == key)
    }

    /// (1) Every number appears.
    pub(crate) fn check_all_appear(&self, sent: &[(String, u64)]) {
        let seen: HashSet<_> =
            self.0.iter().map(|effect| (effect.key.as_str(), effect.number)).collect();
        let is_lost = |(key, number): &&(String, u64)| !seen.contains(&(key.as_str(), *number));
        let lost: Vec<_> = sent.iter().filter(is_lost).collect();
        assert!(lost.is_empty(), "{} records are lost: {:?}", lost.len(), lost.first());
    }

    /// (2) Within a key and a generation numbers rise by one; a generation begins at or before the number after the last.
    ///
    /// What was done above the committed offset is skipped by a later generation, so there numbers may be left out that
    /// have appeared before.
    pub(crate) fn check_order(&self, sent: &[(String, u64)]) {
        let keys: HashSet<_> = sent.iter().map(|(key, _)| key.as_str()).collect();
        let mut next: HashMap<&str, u64> = HashMap::new();
        let mut last: HashMap<&str, &Effect> = HashMap::new();
        for effect in &self.0 {
            let key = effect.key.as_str();
            assert!(keys.contains(key), "{effect:?}");
            if let Some(before) = last.insert(key, effect) {
                let is_later = before.generation <= effect.generation;
                assert!(is_later, "an earlier generation: {effect:?} after {before:?}");
                let is_next =
                    before.generation < effect.generation || before.number < effect.number;
                assert!(is_next, "out of order: {effect:?} after {before:?}");
            }
            // All numbers below it have appeared.
            let next = next.entry(key).or_default();
            assert!(effect.number <= *next, "before {next} had an effect: {effect:?}");
            *next = (*next).max(effect.number + 1);
        }
    }

    /// (3) No two members are in a key at the same time.
    pub(crate) fn check_no_overlap(&self) {
        let mut by_key: HashMap<&str, Vec<&Effect>> = HashMap::new();
        for effect in &self.0 {
            by_key.entry(&effect.key).or_default().push(effect);
        }
        for effects in by_key.values_mut() {
            effects.sort_by_key(|effect| effect.start);
            for pair in effects.windows(2) {
                let is_apart = pair[0].end <= pair[1].start || pair[0].member == pair[1].member;
                assert!(is_apart, "at the same time: {pair:?}");
            }
        }
    }

    /// (4, 5) What comes again of the effects of a process: nothing after an end in time, and nothing that was committed when
    /// the file had so many effects.
    pub(crate) fn check_repeats(
        &self,
        process: &str,
        ended: Ended,
        (length, committed): (usize, &[u64]),
    ) {
        let is_own =
            |effect: &Effect| effect.member.split('.').next().is_some_and(|of| of == process);
        let place = |effect: &Effect| (effect.partition, effect.offset);
        let (mut own, mut inside, mut repeats) = (HashMap::new(), 0, HashSet::new());
        for (at, effect) in self.0.iter().enumerate() {
            let (partition, offset) = place(effect);
            if is_own(effect) {
                inside += usize::from(own.insert((partition, offset), at).is_some());
            } else if own.contains_key(&(partition, offset)) {
                let was_committed =
                    at >= length && committed.get(partition).is_some_and(|end| offset < *end);
                assert!(!was_committed, "{partition}:{offset} was committed, and comes again");
                repeats.insert((partition, offset));
            }
        }
        let after_a_kill = MOST_REPEATS * (self.0.len() / 100_000).max(1);
        // Hand-overs inside the process are planned, unless it slept.
        let most = if ended == Ended::Slept { after_a_kill } else { 0 };
        assert!(inside <= most, "{inside} repeats in a process that {ended:?}");
        // What a sleeper had done when it had lost its partitions comes again, perhaps only after its end.
        let most = if ended == Ended::Left { 0 } else { after_a_kill };
        let repeats = repeats.len();
        assert!(repeats <= most, "{repeats} repeats after a process that {ended:?}");
    }

    /// (6) What is below the committed offsets had an effect when the file had so many effects. `all` are the partitions and
    /// offsets of all records.
    pub(crate) fn check_commits(
        &self,
        until: usize,
        committed: &[u64],
        all: impl IntoIterator<Item = (usize, u64)>,
    ) {
        let place = |effect: &Effect| (effect.partition, effect.offset);
        let done: HashSet<_> = self.0[..until].iter().map(place).collect();
        for (partition, offset) in all {
            let end = committed[partition];
            let is_done = offset >= end || done.contains(&(partition, offset));
            assert!(is_done, "{end} is committed in partition {partition}, without {offset}");
        }
    }
}

fn parse(line: &str) -> Effect {
    let words: Vec<_> = line.split(' ').collect();
    let [key, number, member, generation, start, end, partition, offset] = words[..] else {
        panic!("{line:?} is no effect")
    };
    Effect {
        key: key.to_owned(),
        number: number.parse().unwrap(),
        member: member.to_owned(),
        generation: generation.parse().unwrap(),
        start: start.parse().unwrap(),
        end: end.parse().unwrap(),
        partition: partition.parse().unwrap(),
        offset: offset.parse().unwrap(),
    }
}
