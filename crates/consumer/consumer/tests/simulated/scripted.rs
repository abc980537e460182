//! A hand-over under hundreds of schedules, in a time of its own: a consumer loses its partition, planned or not, at any
//! moment, while commits are slow and fail.

use colored::sim::{Builder, random};
use colored::sync::{Notify, mpsc};
use colored::time::{Duration, sleep};
use colored_consumer::{
    Assignment, Commit, CommitError, Committed, Consumer, Control, Error, Event, Extent, Failure,
    Owned, Place, Record, Room, Source, TopicPartition,
};
use std::future::pending;
use std::sync::{Arc, Mutex};

const KEYS: u64 = 3;
const RECORDS: u64 = 24;

fn owned(generation: u64) -> Owned {
    Owned { partition: TopicPartition { topic: "t".into(), partition: 0 }, generation }
}

/// The time of a record is how many places were sought before that from which it is read.
fn record(offset: u64, place: usize) -> Record {
    Record {
        topic: "t".into(),
        partition: 0,
        offset,
        timestamp: place as i64,
        key: Some(format!("k{}", offset % KEYS).into()),
        value: Some("v".into()),
        headers: Vec::new(),
    }
}

/// What a handler has done.
#[derive(Clone, Copy, Debug)]
struct Effect {
    generation: u64,
    offset: u64,
    /// How many places were sought before that from which the record was read.
    place: usize,
}

/// A place that was sought.
#[derive(Clone, Copy, Debug)]
struct Sought {
    offset: u64,
    /// Whether the partition was read from there on.
    is_begun: bool,
}

/// One partition, its owner, and what its handlers have done.
#[derive(Default)]
struct Broker {
    generation: u64,
    committed: Option<Committed>,
    effects: Vec<Effect>,
    is_released: bool,
    /// The places that were sought.
    sought: Vec<Sought>,
    /// So many of them the consumer has gone to for sure: it has said so.
    settled: usize,
    /// Commits and releases that failed in a row.
    failures: u32,
    /// The first commit that was not to come.
    wrong: Option<String>,
}

#[derive(Clone, Default)]
struct Shared {
    broker: Arc<Mutex<Broker>>,
    changed: Arc<Notify>,
}

impl Shared {
    /// Whether every record has an effect.
    fn has_all(&self) -> bool {
        let broker = self.broker.lock().unwrap();
        let is_done = |offset| broker.effects.iter().any(|of| of.offset == offset);
        (0..RECORDS).all(is_done)
    }

    /// Lets the consumer seek a place below this, where it was not sent before. Returns the place, if the consumer has a partition
    /// that goes there.
    async fn seek(&self, consumer: &Consumer, most: u64) -> Option<u64> {
        let place = {
            let sought = &mut self.broker.lock().unwrap().sought;
            let is_new = |place: &u64| !sought.iter().any(|of| of.offset == *place);
            let offset = std::iter::repeat_with(|| random() % most).find(is_new)?;
            sought.push(Sought { offset, is_begun: false });
            offset
        };
        let moved = consumer.seek("t", Place::Offset(place)).await;
        let broker = &mut *self.broker.lock().unwrap();
        match moved {
            Ok(_) => broker.settled = broker.sought.len(),
            Err(_) => drop(broker.sought.pop()),
        }
        moved.ok().map(|_| place)
    }
}

impl Broker {
    /// The partition is read from a sought place on. Returns how many places were sought before the next.
    fn begin(&mut self, offset: u64) -> usize {
        let at = self.sought.iter().position(|of| of.offset == offset && !of.is_begun);
        let at = at.unwrap_or_else(|| panic!("{offset} is begun: {:?}", self.sought));
        assert!(!self.sought[at..].iter().any(|of| of.is_begun), "{:?}", self.sought);
        self.sought[at].is_begun = true;
        at + 1
    }

    /// Whether a commit of this offset may come, of the place that was settled when it began or of a later one.
    fn is_whole(&self, offset: u64, settled: usize) -> bool {
        (settled..=self.sought.len()).any(|place| {
            let from = place.checked_sub(1).map_or(0, |at| self.sought[at].offset);
            let is_done = |at| self.effects.iter().any(|of| (of.offset, of.place) == (at, place));
            from <= offset && (from..offset).all(is_done)
        })
    }
}

/// A member that is told what the test says.
struct Script {
    events: mpsc::UnboundedReceiver<Event>,
    shared: Shared,
    /// The next offset, and how many places were sought before that from which it is read.
    reading: Option<(Owned, u64, usize)>,
    has_begun: bool,
    is_paused: bool,
}

impl Script {
    fn take(&mut self, event: Event) -> Event {
        if matches!(event, Event::Revoked(_) | Event::Lost(_)) {
            self.reading = None;
        }
        event
    }
}

impl Source for Script {
    type Control = Shared;

    fn control(&self) -> Shared {
        self.shared.clone()
    }

    async fn poll(&mut self, room: Room) -> Result<Event, Error> {
        if let Ok(event) = self.events.try_recv() {
            return Ok(self.take(event));
        }
        if let Some((owned, next, place)) = self.reading.as_mut().filter(|_| !self.is_paused)
            && room.records > 0
            && *next < RECORDS
        {
            let count = (1 + random() % 3).min(RECORDS - *next).min(room.records as u64);
            let records = (*next..*next + count).map(|offset| record(offset, *place)).collect();
            *next += count;
            return Ok(Event::Records { owned: owned.clone(), records, next: *next, end: RECORDS });
        }
        match self.events.recv().await {
            Some(event) => Ok(self.take(event)),
            None => pending().await,
        }
    }

    fn begin(&mut self, owned: &Owned, offset: u64) {
        // The first begin is that of the place which was assigned.
        let broker = &mut *self.shared.broker.lock().unwrap();
        let place = if self.has_begun { broker.begin(offset) } else { 0 };
        self.has_begun = true;
        self.reading = Some((owned.clone(), offset, place));
    }

    fn pause(&mut self, _: &TopicPartition) {
        self.is_paused = true;
    }

    fn resume(&mut self, _: &TopicPartition) {
        self.is_paused = false;
    }

    async fn close(self) -> Result<(), Error> {
        Ok(())
    }
}

impl Control for Shared {
    async fn commit(&self, commits: Vec<Commit>) -> Result<(), CommitError> {
        // What was under way when the consumer went elsewhere may come late.
        let settled = self.broker.lock().unwrap().settled;
        sleep(Duration::from_millis(random() % 4)).await;
        let mut broker = self.broker.lock().unwrap();
        // After five in a row a partition is released without its last commit.
        if random().is_multiple_of(4) && broker.failures < 3 {
            broker.failures += 1;
            return Err(CommitError::Failed(Error::new("a bad day")));
        }
        // A refusal that no loss follows.
        if random().is_multiple_of(8) && broker.failures < 3 {
            broker.failures += 1;
            return Err(CommitError::Fenced(commits.into_iter().map(|of| of.owned).collect()));
        }
        broker.failures = 0;
        for Commit { owned, committed } in commits {
            if owned.generation != broker.generation {
                return Err(CommitError::Fenced(vec![owned]));
            }
            let offset = committed.offset;
            if !broker.is_whole(offset, settled) {
                let Broker { sought, effects, .. } = &*broker;
                let text = format!("{offset} is committed of {sought:?}: {effects:?}");
                broker.wrong.get_or_insert(text);
            }
            broker.committed = Some(committed);
        }
        Ok(())
    }

    async fn release(&self, _: Vec<Owned>) -> Result<(), Error> {
        let mut broker = self.broker.lock().unwrap();
        if random().is_multiple_of(4) && broker.failures < 3 {
            broker.failures += 1;
            return Err(Error::new("a bad day"));
        }
        broker.is_released = true;
        // Before the wake: a turn that gives way there would hold it.
        drop(broker);
        self.changed.notify_one();
        Ok(())
    }

    async fn extents(&self, owned: Vec<Owned>) -> Result<Vec<Option<Extent>>, Error> {
        let log = Extent { end: RECORDS, limit: RECORDS, ..Extent::default() };
        Ok(vec![Some(log); owned.len()])
    }
}

/// A consumer in this generation, and how to tell it something.
fn start(shared: &Shared, generation: u64) -> (Consumer, mpsc::UnboundedSender<Event>) {
    let (sender, events) = mpsc::unbounded_channel();
    let committed = {
        let mut broker = shared.broker.lock().unwrap();
        broker.generation = generation;
        broker.committed.clone()
    };
    let log = Extent { end: RECORDS, limit: RECORDS, ..Extent::default() };
    let owned = owned(generation);
    let assignment = Assignment { owned, committed, log, has_other_commits: false };
    sender.send(Event::Assigned(vec![assignment])).unwrap();
    let (shared, done) = (shared.clone(), shared.clone());
    let script = Script { events, shared, reading: None, has_begun: false, is_paused: false };
    let mut builder = Consumer::builder(script);
    if random().is_multiple_of(2) {
        builder = builder.rate(2, Duration::from_millis(2));
    }
    let consumer = builder
        .strict(true)
        .concurrency(2)
        .records(6)
        .commit_every(Duration::from_millis(5))
        .drain(Duration::from_secs(60))
        .retry(Duration::from_millis(1), Duration::from_millis(8))
        .start(move |record, context| {
            let done = done.clone();
            async move {
                sleep(Duration::from_millis(random() % 8)).await;
                if random().is_multiple_of(8) {
                    return Err(Failure::retry("a bad day"));
                }
                if random().is_multiple_of(8) {
                    return Err(Failure::later(Duration::from_millis(random() % 4)));
                }
                let (generation, place) = (context.generation(), record.timestamp as usize);
                let effect = Effect { generation, offset: record.offset, place };
                done.broker.lock().unwrap().effects.push(effect);
                done.changed.notify_one();
                Ok(())
            }
        });
    (consumer.unwrap(), sender)
}

/// Waits for a while, in which the topic is paused by hand, perhaps.
async fn wait(consumer: &Consumer) {
    for _ in 0..random() % 3 {
        sleep(Duration::from_millis(random() % 20)).await;
        consumer.pause("t").await;
        sleep(Duration::from_millis(random() % 20)).await;
        consumer.resume("t").await;
    }
    sleep(Duration::from_millis(random() % 20)).await;
}

/// Whatever was sought before: after the last seek each key has its records from there on, in order.
async fn seek() {
    let shared = Shared::default();
    let (consumer, _tell) = start(&shared, 1);
    for _ in 0..random() % 4 {
        wait(&consumer).await;
        // At first it may have no partition.
        shared.seek(&consumer, RECORDS + 1).await;
    }
    wait(&consumer).await;
    let sought = shared.seek(&consumer, RECORDS).await;
    if sought.is_some() {
        assert!(consumer.caught_up().await);
    }
    consumer.stop().await.unwrap();
    let broker = shared.broker.lock().unwrap();
    assert_eq!(broker.wrong, None);
    let Some(from) = sought else { return };
    assert_eq!(broker.committed.as_ref().map(|of| of.offset), Some(RECORDS));
    let last = broker.sought.len();
    for key in 0..KEYS {
        let is_of = |of: &&Effect| of.place == last && of.offset % KEYS == key;
        let offsets: Vec<_> = broker.effects.iter().filter(is_of).map(|of| of.offset).collect();
        let expected: Vec<_> = (from..RECORDS).filter(|offset| offset % KEYS == key).collect();
        assert_eq!(offsets, expected, "key {key} from {from}");
    }
    // Nothing of a place begins before the handlers of the one before have ended.
    assert!(broker.effects.is_sorted_by_key(|of| of.place), "{:?}", broker.effects);
}

#[test]
fn a_seek_repeats_and_skips_what_it_says_under_any_schedule() {
    Builder::new().seeds(crate::seeds(200, 1_000)).run(seek).assert_passed();
}

async fn hand_over(is_planned: bool) {
    let shared = Shared::default();
    let (first, tell) = start(&shared, 1);
    wait(&first).await;
    if is_planned {
        tell.send(Event::Revoked(vec![owned(1)])).unwrap();
        while !shared.broker.lock().unwrap().is_released {
            shared.changed.notified().await;
        }
    }
    let (second, _tell) = start(&shared, 2);
    if !is_planned {
        // The news comes late.
        sleep(Duration::from_millis(random() % 10)).await;
        tell.send(Event::Lost(vec![owned(1)])).unwrap();
    }
    while !shared.has_all() {
        shared.changed.notified().await;
    }
    second.stop().await.unwrap();
    first.stop().await.unwrap();
    let Broker { wrong, effects, .. } = &*shared.broker.lock().unwrap();
    assert_eq!(*wrong, None);
    if is_planned {
        assert_eq!(effects.len() as u64, RECORDS, "each once: {effects:?}");
    }
    for generation in [1, 2] {
        for key in 0..KEYS {
            let is_own = |of: &&Effect| of.generation == generation && of.offset % KEYS == key;
            let own: Vec<_> = effects.iter().filter(is_own).map(|of| of.offset).collect();
            assert!(own.is_sorted(), "key {key} of generation {generation}: {own:?}");
        }
    }
}

#[test]
fn a_planned_hand_over_repeats_nothing_under_any_schedule() {
    Builder::new().seeds(crate::seeds(200, 1_000)).run(|| hand_over(true)).assert_passed();
}

#[test]
fn a_lost_partition_loses_no_record_under_any_schedule() {
    Builder::new().seeds(crate::seeds(200, 1_000)).run(|| hand_over(false)).assert_passed();
}
