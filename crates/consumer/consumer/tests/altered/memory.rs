//! An engine in memory, whose logs can be whatever a log can be; and engines that lie about them.

use colored::sync::watch;
use colored_consumer::conformance::Fixture;
use colored_consumer::conformance::alter::{AlterLog, Alteration, Altered};
use colored_consumer::{
    Assignment, Commit, CommitError, Committed, Control, Error, Event, Extent, Owned, Record, Room,
    Source, TopicPartition,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What an engine says wrongly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Lie {
    #[default]
    Nothing,
    /// Every place is in every log.
    NoEnds,
    /// A log that was made again is the one before, whose last place it still has.
    OneLog,
    /// One record is passed as if it were none.
    Passes,
    /// The limit is the end of what can be read.
    LowLimit,
    /// What was committed of a log that was altered is forgotten.
    Forgets,
}

/// A log: the values of its records by offset, and what it had.
#[derive(Clone, Debug, Default)]
struct Log {
    values: BTreeMap<u64, Option<String>>,
    start: u64,
    limit: u64,
    identity: u128,
    /// Why it cannot be read.
    error: Option<&'static str>,
}

impl Log {
    fn append(&mut self, value: Option<String>) {
        self.values.insert(self.limit, value);
        self.limit += 1;
    }

    fn end(&self) -> u64 {
        self.values.last_key_value().map_or(self.start, |(last, _)| last + 1)
    }

    fn extent(&self, lie: Lie) -> Extent {
        let (start, end) = (self.start, self.end());
        let limit = if lie == Lie::LowLimit { end } else { self.limit };
        let (floor, limit) = if lie == Lie::NoEnds { (0, u64::MAX) } else { (start, limit) };
        let identity = (lie != Lie::OneLog).then_some(self.identity);
        Extent { doubt: floor, floor, start, end, limit, identity }
    }

    /// The log after its first so many records.
    fn copy(&self, records: u32) -> Log {
        let values = self.values.clone().into_iter().take(records as usize).collect();
        let mut log = Log { values, ..self.clone() };
        log.limit = log.end();
        log
    }
}

#[derive(Debug, Default)]
struct Group {
    generation: u64,
    committed: BTreeMap<u32, Committed>,
}

#[derive(Debug, Default)]
struct State {
    logs: Vec<Log>,
    groups: BTreeMap<String, Group>,
}

/// The engine. Its topic is `t`, and a member of a group takes all from the one before it.
#[derive(Clone)]
pub(crate) struct Memory {
    state: Arc<Mutex<State>>,
    changed: Arc<watch::Sender<u64>>,
    lie: Lie,
}

impl Memory {
    pub(crate) fn new(partitions: usize, lie: Lie) -> Memory {
        let state = State { logs: vec![Log::default(); partitions], groups: BTreeMap::new() };
        let changed = Arc::new(watch::channel(0).0);
        Memory { state: Arc::new(Mutex::new(state)), changed, lie }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let changed = change(&mut self.state());
        self.changed.send_modify(|version| *version += 1);
        changed
    }

    pub(crate) fn append(&self, partition: u32, value: Option<&str>) {
        self.change(|state| state.logs[partition as usize].append(value.map(str::to_owned)));
    }

    /// The topic gets another partition.
    pub(crate) fn add_partition(&self) {
        self.change(|state| state.logs.push(Log::default()));
    }

    /// From now on the partition cannot be read, or can.
    pub(crate) fn set_error(&self, partition: u32, error: Option<&'static str>) {
        self.change(|state| state.logs[partition as usize].error = error);
    }

    pub(crate) fn committed(&self, group: &str, partition: u32) -> Option<u64> {
        let state = self.state();
        let committed = state.groups.get(group)?.committed.get(&partition)?;
        Some(committed.offset)
    }

    pub(crate) fn member(&self, group: &str) -> Member {
        let generation = self.change(|state| {
            let group = state.groups.entry(group.to_owned()).or_default();
            group.generation += 1;
            group.generation
        });
        let changes = self.changed.subscribe();
        let control = MemoryControl { engine: self.clone(), group: group.to_owned() };
        Member { control, generation, changes, readers: BTreeMap::new(), is_lost: false }
    }

    fn alter_log(&self, log: &mut Log, alteration: Alteration) -> bool {
        let count = log.values.len();
        match alteration {
            Alteration::BeginLater(records) => {
                let start = log.values.keys().nth(records as usize).copied();
                log.start = start.unwrap_or(log.limit);
                log.values = log.values.split_off(&log.start);
            }
            Alteration::Shorten(records) => *log = log.copy(count as u32 - records),
            Alteration::Restore(records) => *log = log.copy(records),
            Alteration::MakeAgain => {
                *log = Log { identity: log.identity + 1, ..Log::default() };
            }
            Alteration::Holes => {
                let places: Vec<_> = log.values.keys().copied().collect();
                log.values.remove(&places[1]);
                log.values.remove(&places[count - 2]);
            }
            Alteration::DeleteLast(records) => {
                for _ in 0..records {
                    log.values.pop_last();
                }
            }
            Alteration::Mark => log.limit += 3,
            Alteration::FlipBit(_) => return false,
        }
        true
    }
}

impl Fixture for Memory {
    type Source = Member;

    async fn join(&self, group: &str) -> Member {
        self.member(group)
    }

    async fn send(&self, partition: u32, value: Option<&str>) {
        self.append(partition, value);
    }
}

impl AlterLog for Memory {
    async fn alter(&self, alteration: Alteration, is_running: bool) -> Altered {
        let has_place = match alteration {
            // A log whose end comes again, while somebody reads it, has another identity.
            Alteration::Shorten(_) | Alteration::Restore(_) => !is_running,
            _ => true,
        };
        self.change(|state| {
            let mut log = state.logs[0].clone();
            if !has_place || !self.alter_log(&mut log, alteration) {
                return Altered::Unsupported;
            }
            if matches!(alteration, Alteration::Shorten(_) | Alteration::Restore(_))
                && state.groups.values().any(|group| group.is_beyond(log.limit))
            {
                // What comes behind its end is not what has been there, for those that were there.
                log.identity += 1;
                for group in state.groups.values_mut().filter(|group| !group.is_beyond(log.limit)) {
                    if let Some(committed) = group.committed.get_mut(&0) {
                        committed.log = Some(log.identity);
                    }
                }
            }
            if self.lie == Lie::Forgets {
                state.groups.values_mut().for_each(|group| drop(group.committed.remove(&0)));
            }
            state.logs[0] = log;
            Altered::Has(state.logs[0].values.values().flatten().cloned().collect())
        })
    }
}

impl Group {
    fn is_beyond(&self, limit: u64) -> bool {
        self.committed.get(&0).is_some_and(|committed| committed.offset > limit)
    }
}

/// Where a member reads a partition. No place until it is begun.
#[derive(Debug, Default)]
struct Reader {
    next: Option<u64>,
    identity: u128,
    is_paused: bool,
    /// What was told last: the next place, and the end.
    told: (u64, u64),
}

/// A member: it owns all partitions until another one joins its group.
pub(crate) struct Member {
    control: MemoryControl,
    generation: u64,
    changes: watch::Receiver<u64>,
    readers: BTreeMap<u32, Reader>,
    is_lost: bool,
}

fn partition(partition: u32) -> TopicPartition {
    TopicPartition { topic: "t".into(), partition }
}

impl Member {
    fn owned(&self, number: u32) -> Owned {
        Owned { partition: partition(number), generation: self.generation }
    }

    /// What there is to tell now.
    fn next_event(&mut self, room: Room) -> Option<Event> {
        let MemoryControl { engine, group } = self.control.clone();
        let state = engine.state();
        let group = &state.groups[&group];
        if group.generation != self.generation {
            let lost: Vec<_> = self.readers.keys().map(|number| self.owned(*number)).collect();
            self.readers.clear();
            return (!std::mem::replace(&mut self.is_lost, true)).then_some(Event::Lost(lost));
        }
        let mut assigned = Vec::new();
        for (number, log) in (0..).zip(&state.logs).skip(self.readers.len()) {
            self.readers.insert(number, Reader::default());
            assigned.push(Assignment {
                owned: self.owned(number),
                committed: group.committed.get(&number).cloned(),
                log: log.extent(engine.lie),
                has_other_commits: group.committed.keys().any(|other| *other != number),
            });
        }
        if !assigned.is_empty() {
            return Some(Event::Assigned(assigned));
        }
        let owned = |number| Owned { partition: partition(number), generation: self.generation };
        let mut readers = self.readers.iter_mut();
        readers.find_map(|(number, reader)| {
            let log = &state.logs[*number as usize];
            read(log, reader, (room, engine.lie), owned(*number))
        })
    }
}

/// What a reader has to tell.
fn read(log: &Log, reader: &mut Reader, (room, lie): (Room, Lie), owned: Owned) -> Option<Event> {
    let next = reader.next.filter(|_| !reader.is_paused && room.records > 0)?;
    if let Some(error) = log.error {
        reader.next = None;
        return Some(Event::Failed { owned, error: Error::new(error) });
    }
    let is_other = reader.identity != log.identity && lie != Lie::OneLog;
    if is_other || !(log.start..=log.limit).contains(&next) {
        reader.next = None;
        return Some(Event::OutOfRange { owned, log: log.extent(lie) });
    }
    let mut found: Vec<_> = log.values.range(next..).take(room.records).collect();
    let (next, end) = match found.last() {
        Some((last, _)) if log.end() > **last + 1 => (**last + 1, log.end()),
        _ => (log.limit, log.end()),
    };
    if found.is_empty() && reader.told == (next, end) {
        return None;
    }
    reader.told = (next, end);
    reader.next = Some(next);
    if lie == Lie::Passes {
        found.retain(|(_, value)| value.as_deref() != Some("103"));
    }
    let records = found.into_iter().map(|(offset, value)| record(&owned, *offset, value));
    Some(Event::Records { records: records.collect(), owned, next, end })
}

fn record(owned: &Owned, offset: u64, value: &Option<String>) -> Record {
    let (topic, partition) = (Arc::clone(&owned.partition.topic), owned.partition.partition);
    let value = value.clone().map(Into::into);
    Record { topic, partition, offset, timestamp: 0, key: None, value, headers: Vec::new() }
}

impl Source for Member {
    type Control = MemoryControl;

    fn control(&self) -> MemoryControl {
        self.control.clone()
    }

    async fn poll(&mut self, room: Room) -> Result<Event, Error> {
        loop {
            self.changes.borrow_and_update();
            if let Some(event) = self.next_event(room) {
                return Ok(event);
            }
            self.changes.changed().await.map_err(|error| Error::new(error.to_string()))?;
        }
    }

    fn begin(&mut self, owned: &Owned, offset: u64) {
        let number = owned.partition.partition;
        if let Some(reader) = self.readers.get_mut(&number) {
            (reader.next, reader.told) = (Some(offset), (u64::MAX, 0));
            reader.identity = self.control.engine.state().logs[number as usize].identity;
        }
    }

    fn pause(&mut self, partition: &TopicPartition) {
        let reader = self.readers.get_mut(&partition.partition);
        reader.into_iter().for_each(|reader| reader.is_paused = true);
    }

    fn resume(&mut self, partition: &TopicPartition) {
        let reader = self.readers.get_mut(&partition.partition);
        reader.into_iter().for_each(|reader| reader.is_paused = false);
    }

    async fn close(self) -> Result<(), Error> {
        Ok(())
    }
}

#[derive(Clone)]
pub(crate) struct MemoryControl {
    engine: Memory,
    group: String,
}

impl Control for MemoryControl {
    async fn commit(&self, commits: Vec<Commit>) -> Result<(), CommitError> {
        let mut state = self.engine.state();
        let State { logs, groups } = &mut *state;
        let group = groups.get_mut(&self.group).expect("it has a member");
        let mut fenced = BTreeSet::new();
        for Commit { owned, committed } in commits {
            let number = owned.partition.partition;
            let log = logs[number as usize].extent(self.engine.lie);
            if owned.generation != group.generation || log.is_other(committed.log) {
                fenced.insert(owned);
            } else {
                group.committed.insert(number, committed);
            }
        }
        if fenced.is_empty() {
            return Ok(());
        }
        Err(CommitError::Fenced(fenced.into_iter().collect()))
    }

    async fn release(&self, _: Vec<Owned>) -> Result<(), Error> {
        Ok(())
    }

    async fn extents(&self, owned: Vec<Owned>) -> Result<Vec<Option<Extent>>, Error> {
        let state = self.engine.state();
        let generation = state.groups[&self.group].generation;
        let extent = |owned: &Owned| {
            let log = state.logs.get(owned.partition.partition as usize);
            let log = log.filter(|_| owned.generation == generation);
            log.map(|log| log.extent(self.engine.lie))
        };
        Ok(owned.iter().map(extent).collect())
    }
}
