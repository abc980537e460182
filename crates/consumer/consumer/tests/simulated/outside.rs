//! What is known outside of the simulated host, and outlives its crashes: what was confirmed, and what handlers did.

use colored::sim::shared;
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
    /// Where the owner of a partition, with this generation, has begun.
    begun: BTreeMap<(u32, u64), u64>,
    /// The highest offset of a partition whose commit was confirmed.
    committed: BTreeMap<u32, u64>,
    /// What was wrong first. A panic of a handler would be a failure that is tried again. The text has no numbers, so that
    /// the failure is shrunk to a run with others.
    wrong: Option<&'static str>,
}

impl Seen {
    fn expect(&mut self, is_right: bool, wrong: &'static str) {
        if !is_right {
            self.wrong.get_or_insert(wrong);
        }
    }

    fn has_effect(&self, partition: u32, offset: u64) -> bool {
        let mut of = self.effects.iter();
        of.any(|effect| (effect.partition, effect.offset) == (partition, offset))
    }
}

#[derive(Clone)]
pub(crate) struct Outside {
    /// Of the run.
    seen: Arc<Mutex<Seen>>,
    /// Whether members come and go by plan only.
    is_planned: bool,
}

impl Outside {
    pub(crate) fn new(is_planned: bool) -> Outside {
        Outside { seen: shared(), is_planned }
    }

    pub(crate) fn is_planned(&self) -> bool {
        self.is_planned
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        // A check that fails holds the lock.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Notes the owner of a partition. What is committed by then is not read any more, so it has its effect.
    pub(crate) fn note_owner(&self, assignment: &Assignment) {
        let (of, generation) = (&assignment.owned.partition, assignment.owned.generation);
        let offset = assignment.committed.as_ref().map_or(0, |committed| committed.offset);
        let mut seen = self.seen();
        let before = seen.begun.insert((of.partition, generation), offset);
        seen.expect(before.is_none(), "a generation has two owners");
        let newest = seen.newest.entry(of.partition).or_default();
        // It hears so late that it was taken for dead.
        let is_late = generation < *newest;
        *newest = generation.max(*newest);
        seen.expect(!(is_late && self.is_planned), "an older generation follows");
        let confirmed = seen.committed.get(&of.partition).copied().unwrap_or(0);
        seen.expect(is_late || offset >= confirmed, "a confirmed commit is lost");
        let are_done = (0..offset).all(|at| seen.has_effect(of.partition, at));
        seen.expect(are_done, "a committed record has no effect");
    }

    pub(crate) fn note_commit(&self, commit: &Commit) {
        let (partition, offset) = (commit.owned.partition.partition, commit.committed.offset);
        let mut seen = self.seen();
        let highest = seen.committed.entry(partition).or_default();
        *highest = offset.max(*highest);
    }

    /// Notes the effect of a handler. Nothing comes again that was committed when its owner began.
    pub(crate) fn note_effect(&self, record: &Record, generation: u64) {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let effect = Effect {
            partition: record.partition,
            offset: record.offset,
            key: text(record.key.as_ref().unwrap()),
            number: text(record.value.as_ref().unwrap()),
            generation,
        };
        let mut seen = self.seen();
        let begun = seen.begun.get(&(effect.partition, generation)).copied();
        seen.expect(Some(effect.offset) >= begun, "a record comes again that was committed");
        let is_second = seen.has_effect(effect.partition, effect.offset);
        seen.expect(!(self.is_planned && is_second), "a record has a second effect");
        seen.effects.push(effect);
    }

    /// What was wrong first.
    pub(crate) fn wrong(&self) -> Option<&'static str> {
        self.seen().wrong
    }

    /// Whether all records were sent, and every record of the log has an effect.
    pub(crate) fn is_complete(&self) -> bool {
        let seen = self.seen();
        let all_done = |(partition, end): (&u32, &u64)| {
            (0..*end).all(|offset| seen.has_effect(*partition, offset))
        };
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

    /// What holds beside if nothing fails: each record has one effect, and owners do not overlap.
    fn check_planned(seen: &Seen) {
        assert_eq!(seen.effects.len() as u64, RECORDS, "each once: {:?}", seen.effects);
        for partition in 0..PARTITIONS {
            let effects = seen.effects.iter().filter(|effect| effect.partition == partition);
            assert!(effects.map(|effect| effect.generation).is_sorted(), "partition {partition}");
        }
    }
}
