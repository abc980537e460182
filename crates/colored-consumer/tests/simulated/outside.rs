//! What is known outside of the simulated host, and outlives its crashes: what was confirmed, and what handlers did.

use colored_consumer::{Assignment, Commit, Record};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) const PARTITIONS: u32 = 2;
pub(crate) const KEYS: u64 = 5;
pub(crate) const RECORDS: u64 = 24;

/// An effect of a handler.
#[derive(Clone, Debug)]
struct Effect {
    partition: u32,
    offset: u64,
    key: String,
    number: String,
    generation: u64,
}

#[derive(Default)]
struct Seen {
    /// Partition, offset and number of each record whose append was confirmed.
    confirmed: Vec<(u32, u64, u64)>,
    effects: Vec<Effect>,
    /// The end of each partition, as last heard.
    ends: BTreeMap<u32, u64>,
    /// The newest generation of each partition.
    newest: BTreeMap<u32, u64>,
    /// The highest offset of a partition whose commit was confirmed.
    committed: BTreeMap<u32, u64>,
}

#[derive(Clone, Default)]
pub(crate) struct Outside {
    seen: Arc<Mutex<Seen>>,
    /// Whether members come and go by plan only.
    is_planned: bool,
}

impl Outside {
    pub(crate) fn new(is_planned: bool) -> Outside {
        Outside { is_planned, ..Outside::default() }
    }

    pub(crate) fn is_planned(&self) -> bool {
        self.is_planned
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        // A check that fails holds the lock.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets everything: a new run begins.
    pub(crate) fn reset(&self) {
        *self.seen() = Seen::default();
    }

    /// The number of the next record to be sent. A record whose append was not confirmed is sent again.
    pub(crate) fn next_number(&self) -> Option<u64> {
        let sent = self.seen().confirmed.len() as u64;
        (sent < RECORDS).then_some(sent)
    }

    pub(crate) fn note_sent(&self, (partition, offset): (u32, u64), number: u64) {
        let mut seen = self.seen();
        seen.confirmed.push((partition, offset, number));
        // The host may crash before it asks for the end.
        seen.ends.insert(partition, offset + 1);
    }

    pub(crate) fn note_end(&self, partition: u32, end: u64) {
        self.seen().ends.insert(partition, end);
    }

    pub(crate) fn note_owner(&self, assignment: &Assignment) {
        let (of, generation) = (&assignment.owned.partition, assignment.owned.generation);
        let mut seen = self.seen();
        let before = seen.newest.insert(of.partition, generation);
        assert!(before < Some(generation), "{of}: generation {generation} after {before:?}");
        let offset = assignment.committed.as_ref().map_or(0, |committed| committed.offset);
        let confirmed = seen.committed.get(&of.partition).copied().unwrap_or(0);
        assert!(offset >= confirmed, "{of}: a commit of {confirmed} is lost: {offset}");
    }

    pub(crate) fn note_commit(&self, commit: &Commit) {
        let (partition, offset) = (commit.owned.partition.partition, commit.committed.offset);
        let mut seen = self.seen();
        let highest = seen.committed.entry(partition).or_default();
        *highest = offset.max(*highest);
    }

    /// Notes the effect of a handler. An owner that has not been followed by another one repeats nothing that was
    /// committed.
    pub(crate) fn note_effect(&self, record: &Record, generation: u64) {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let effect = Effect {
            partition: record.partition,
            offset: record.offset,
            key: text(record.key.as_ref().unwrap()),
            number: text(&record.value),
            generation,
        };
        let mut seen = self.seen();
        let committed = seen.committed.get(&effect.partition).copied().unwrap_or(0);
        let is_stale = seen.newest.get(&effect.partition) > Some(&generation);
        assert!(is_stale || effect.offset >= committed, "{effect:?} below the commit {committed}");
        seen.effects.push(effect);
    }

    /// Whether all records were sent, and every record of the log has an effect.
    pub(crate) fn is_complete(&self) -> bool {
        let seen = self.seen();
        let is_done = |partition: u32, offset: u64| {
            let mut of = seen.effects.iter();
            of.any(|effect| (effect.partition, effect.offset) == (partition, offset))
        };
        let all_done = |(partition, end): (&u32, &u64)| (0..*end).all(|at| is_done(*partition, at));
        seen.confirmed.len() as u64 == RECORDS && seen.ends.iter().all(all_done)
    }

    /// Everything that holds for every run.
    pub(crate) fn check(&self) {
        let seen = self.seen();
        for (partition, offset, number) in &seen.confirmed {
            let mut effects = seen.effects.iter();
            let effect =
                effects.find(|effect| (effect.partition, effect.offset) == (*partition, *offset));
            let found = effect.map(|effect| effect.number.clone());
            assert_eq!(found, Some(number.to_string()), "record {offset} of partition {partition}");
        }
        let mut first: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        let mut owners: BTreeMap<(&str, u64), Vec<u64>> = BTreeMap::new();
        for Effect { offset, key, generation, .. } in &seen.effects {
            let of_key = first.entry(key).or_default();
            if !of_key.contains(offset) {
                of_key.push(*offset);
            }
            owners.entry((key, *generation)).or_default().push(*offset);
        }
        for (key, offsets) in first {
            assert!(offsets.is_sorted(), "key {key} skips a record: {offsets:?}");
        }
        for (of, offsets) in owners {
            let is_right = offsets.is_sorted_by(|before, after| before < after);
            assert!(is_right, "key and generation {of:?}: {offsets:?}");
        }
        if self.is_planned {
            Self::check_planned(&seen);
        }
    }

    /// Whether a record has more than one effect.
    pub(crate) fn repeats(&self) -> bool {
        self.seen().effects.len() as u64 > RECORDS
    }

    /// What holds beside if nothing fails: each record has one effect, and owners do not overlap.
    fn check_planned(seen: &Seen) {
        assert_eq!(seen.effects.len() as u64, RECORDS, "each once: {:?}", seen.effects);
        for partition in 0..PARTITIONS {
            let effects = seen.effects.iter().filter(|effect| effect.partition == partition);
            assert!(effects.map(|effect| effect.generation).is_sorted(), "partition {partition}");
        }
    }
}
