//! Checks that every [`Source`] passes, for the tests of an engine.
//!
//! A test makes a topic with two partitions and implements [`Fixture`]; [`check_all`] panics where the engine breaks a
//! promise. [`alter`] has the checks of a log that is not what it was.

pub mod alter;

use crate::source::{
    Assignment, Commit, CommitError, Committed, Control, Event, Extent, Owned, Record, Room, Source,
};
use bytes::Bytes;
use colored::time::{Duration, timeout};
use std::collections::BTreeMap;

/// How long an engine may take for an event. A rebalance of Kafka's classic protocol takes 3 s, and a busy machine many times that.
const LONG: Duration = Duration::from_secs(60);

/// How long nothing has to happen. Longer than an engine takes for what it must not do.
const SHORT: Duration = Duration::from_millis(300);

const ALL: Room = Room { records: 1_000, bytes: 1 << 20 };

/// A topic with two partitions, of an engine.
pub trait Fixture: Send + Sync {
    /// A member.
    type Source: Source;

    /// A new member of the group, which reads the topic. Cancel safe: it is never dropped before its end.
    fn join(&self, group: &str) -> impl Future<Output = Self::Source> + Send;

    /// Appends a record with this value to a partition, without one a tombstone. Cancel safe: it is never dropped before its end.
    fn send(&self, partition: u32, value: Option<&str>) -> impl Future<Output = ()> + Send;
}

/// All checks, one after the other, each with a group of its own. Not cancel safe: members stay.
///
/// # Panics
///
/// Where a promise is broken.
pub async fn check_all<F: Fixture>(fixture: &F) {
    for partition in 0..2 {
        for number in 0..10 {
            fixture.send(partition, Some(&number.to_string())).await;
        }
    }
    check_records(fixture).await;
    check_pauses(fixture).await;
    check_commits(fixture).await;
    check_hand_over(fixture).await;
    check_values(fixture).await;
    check_ends(fixture).await;
    check_times(fixture).await;
}

/// A member with what it has been told.
struct Told<S> {
    source: S,
    assigned: BTreeMap<u32, Assignment>,
    revoked: Vec<Owned>,
    lost: Vec<Owned>,
    records: Vec<Record>,
    /// Where each partition goes on.
    next: BTreeMap<u32, u64>,
}

impl<S: Source> Told<S> {
    async fn join<F: Fixture<Source = S>>(fixture: &F, group: &str) -> Told<S> {
        let source = fixture.join(group).await;
        let (assigned, revoked, lost, records, next) = Default::default();
        Told { source, assigned, revoked, lost, records, next }
    }

    /// Takes events until something holds.
    async fn until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let waits = async {
            while !holds(self) {
                self.take(ALL).await;
            }
        };
        timeout(LONG, waits).await.unwrap_or_else(|_| panic!("{what} did not come"));
    }

    /// Takes events for a while.
    async fn listen(&mut self, room: Room) {
        // The time is over: that is all.
        let _ = timeout(SHORT, async {
            loop {
                self.take(room).await;
            }
        })
        .await;
    }

    async fn take(&mut self, room: Room) {
        match self.source.poll(room).await.expect("the engine works") {
            Event::Assigned(assignments) => {
                for assignment in assignments {
                    self.assigned.insert(assignment.owned.partition.partition, assignment);
                }
            }
            Event::Records { owned, records, next, end } => {
                assert!(records.len() <= room.records, "{} records for {room:?}", records.len());
                let number = owned.partition.partition;
                let assigned = self.assigned.get(&number).expect("only owned partitions are read");
                assert_eq!(assigned.owned, owned, "records of another generation");
                assert!(records.iter().all(|record| record.partition == number));
                assert!(records.last().is_none_or(|last| last.offset < end.min(next)));
                self.next.insert(number, next);
                self.records.extend(records);
            }
            Event::Revoked(revoked) => self.revoked.extend(revoked),
            Event::Lost(lost) => {
                lost.iter()
                    .for_each(|owned| drop(self.assigned.remove(&owned.partition.partition)));
                self.lost.extend(lost);
            }
            Event::OutOfRange { owned, log } => panic!("{}: {log}", owned.partition),
            Event::Failed { owned, error } => panic!("{}: {error}", owned.partition),
        }
    }

    /// Owns both partitions, and begins each at its first record.
    async fn begin_all(&mut self) {
        self.until("both partitions", |told| told.assigned.len() == 2).await;
        for assignment in self.assigned.values() {
            self.source.begin(&assignment.owned, assignment.log.start);
        }
    }

    fn values(&self, partition: u32) -> Vec<&[u8]> {
        let of = self.records.iter().filter(|record| record.partition == partition);
        of.map(|record| record.value.as_deref().unwrap_or_default()).collect()
    }

    fn commit(&self, partition: u32, offset: u64, metadata: &[u8]) -> Vec<Commit> {
        let assigned = &self.assigned[&partition];
        let log = assigned.log.identity;
        let committed = Committed { offset, metadata: metadata.to_vec(), log };
        vec![Commit { owned: assigned.owned.clone(), committed }]
    }
}

/// What was committed is told as it was. An engine that knows its logs apart may say in which it was.
#[track_caller]
fn assert_committed(told: &Assignment, offset: u64, metadata: &[u8]) {
    let committed = told.committed.as_ref().expect("there was a commit");
    assert_eq!((committed.offset, &committed.metadata[..]), (offset, metadata));
    assert!(!told.log.is_other(committed.log), "it is the same log: {told:?}");
}

fn numbers(range: std::ops::Range<u32>) -> Vec<Vec<u8>> {
    range.map(|number| number.to_string().into_bytes()).collect()
}

/// Nothing before the begin; then the records in order, from where it was told; none without room.
async fn check_records<F: Fixture>(fixture: &F) {
    let mut told = Told::join(fixture, "conformance-records").await;
    told.until("both partitions", |told| told.assigned.len() == 2).await;
    told.listen(ALL).await;
    assert!(told.records.is_empty(), "records before the begin");
    let first = told.assigned[&0].clone();
    assert_eq!((first.committed, first.log.end - first.log.start), (None, 10));
    told.source.begin(&first.owned, first.log.start);
    told.listen(Room { records: 0, bytes: 0 }).await;
    assert!(told.records.is_empty(), "records without room");
    told.until("ten records", |told| told.records.len() == 10).await;
    assert_eq!(told.values(0), numbers(0..10));
    told.records.clear();
    told.source.begin(&first.owned, first.log.start + 7);
    told.until("three records", |told| told.records.len() == 3).await;
    assert_eq!(told.values(0), numbers(7..10));
    assert!(told.records.windows(2).all(|pair| pair[0].offset < pair[1].offset));
    told.source.close().await.expect("the engine works");
}

/// A paused partition returns nothing, and goes on where it stopped.
async fn check_pauses<F: Fixture>(fixture: &F) {
    let mut told = Told::join(fixture, "conformance-pauses").await;
    told.begin_all().await;
    told.until("all records", |told| told.records.len() == 20).await;
    let partition = told.assigned[&0].owned.partition.clone();
    told.source.pause(&partition);
    fixture.send(0, Some("10")).await;
    fixture.send(1, Some("10")).await;
    told.until("the open partition", |told| told.values(1).len() == 11).await;
    told.listen(ALL).await;
    assert_eq!(told.values(0), numbers(0..10), "a paused partition returned records");
    told.source.resume(&partition);
    told.until("the resumed partition", |told| told.values(0).len() == 11).await;
    assert_eq!(told.values(0), numbers(0..11));
    told.source.close().await.expect("the engine works");
}

/// The next owner is told what was committed, with its metadata; its generation is higher.
async fn check_commits<F: Fixture>(fixture: &F) {
    const GROUP: &str = "conformance-commits";
    let mut told = Told::join(fixture, GROUP).await;
    told.begin_all().await;
    let control = told.source.control();
    let place = told.assigned[&0].log.start + 4;
    let metadata = vec![b'a'; 4096];
    control.commit(told.commit(0, place - 1, b"")).await.expect("an owner commits");
    control.commit(told.commit(0, place, &metadata)).await.expect("an owner commits");
    let before = told.assigned.clone();
    told.source.close().await.expect("the engine works");
    let mut next = Told::join(fixture, GROUP).await;
    next.begin_all().await;
    assert_committed(&next.assigned[&0], place, &metadata);
    assert_eq!(next.assigned[&1].committed, None);
    assert!(!next.assigned[&0].has_other_commits && next.assigned[&1].has_other_commits);
    for (partition, assignment) in &next.assigned {
        assert!(assignment.owned.generation > before[partition].owned.generation);
    }
    next.source.close().await.expect("the engine works");
}

/// A newcomer gets a revoked partition after the release, and not before; then the old owner cannot commit.
async fn check_hand_over<F: Fixture>(fixture: &F) {
    const GROUP: &str = "conformance-hand-over";
    let mut old = Told::join(fixture, GROUP).await;
    old.begin_all().await;
    let mut new = Told::join(fixture, GROUP).await;
    for _ in 0..100 {
        if !old.revoked.is_empty() {
            break;
        }
        old.listen(ALL).await;
        new.listen(ALL).await;
    }
    let [revoked] = &old.revoked[..] else { panic!("{:?} were revoked", old.revoked) };
    let (revoked, number) = (revoked.clone(), revoked.partition.partition);
    new.listen(ALL).await;
    assert!(new.assigned.is_empty(), "two owners at once");
    let control = old.source.control();
    let place = old.assigned[&number].log.start + 2;
    control.commit(old.commit(number, place, b"last")).await.expect("it owns it still");
    control.release(vec![revoked.clone()]).await.expect("the engine works");
    for _ in 0..100 {
        if !new.assigned.is_empty() {
            break;
        }
        new.listen(ALL).await;
        old.listen(ALL).await;
    }
    let assignment = new.assigned.get(&number).expect("the newcomer has what was released");
    assert_committed(assignment, place, b"last");
    assert!(assignment.owned.generation > revoked.generation);
    match control.commit(old.commit(number, place + 1, b"late")).await {
        Err(CommitError::Fenced(fenced)) => assert_eq!(fenced, [revoked]),
        other => panic!("a commit of the old owner: {other:?}"),
    }
    old.source.close().await.expect("the engine works");
    new.source.close().await.expect("the engine works");
    let mut last = Told::join(fixture, GROUP).await;
    last.begin_all().await;
    // A late commit changed nothing.
    assert_committed(&last.assigned[&number], place, b"last");
    last.source.close().await.expect("the engine works");
}

/// A tombstone is another thing than an empty value.
async fn check_values<F: Fixture>(fixture: &F) {
    let mut told = Told::join(fixture, "conformance-values").await;
    told.begin_all().await;
    let end = told.assigned[&0].log.end;
    fixture.send(0, Some("")).await;
    fixture.send(0, None).await;
    let is_new = |record: &&Record| record.partition == 0 && record.offset >= end;
    told.until("both", |told| told.records.iter().filter(is_new).count() == 2).await;
    let values: Vec<_> = told.records.iter().filter(is_new).map(|of| of.value.clone()).collect();
    assert_eq!(values, [Some(Bytes::new()), None]);
    told.source.close().await.expect("the engine works");
}

/// The ends of a log are told when they are asked for, and a reader that has read all gets to them; nobody is told those of a
/// partition that it does not own.
async fn check_ends<F: Fixture>(fixture: &F) {
    let mut told = Told::join(fixture, "conformance-ends").await;
    told.begin_all().await;
    let control = told.source.control();
    let owned: Vec<_> = told.assigned.values().map(|assigned| assigned.owned.clone()).collect();
    for partition in [0, 1] {
        fixture.send(partition, Some("the last")).await;
    }
    let extents = control.extents(owned.clone()).await.expect("the engine works");
    for (partition, extent) in (0..).zip(extents) {
        let extent = extent.expect("the member owns it");
        let Extent { doubt, floor, start, end, limit, .. } = extent;
        assert!(doubt <= floor && floor <= start && end <= limit, "{extent:?}");
        let is_there = move |told: &Told<F::Source>| {
            told.values(partition).last().is_some_and(|last| *last == b"the last")
                && told.next[&partition] == end
        };
        told.until("the end of the log", is_there).await;
    }
    told.source.close().await.expect("the engine works");
    let gone = control.extents(owned).await;
    assert!(gone.is_err() || gone.is_ok_and(|gone| gone == [None, None]), "it owns nothing");
}

/// The place of a time is at the first record that is not older, and at the end of the log for a time that none has.
async fn check_times<F: Fixture>(fixture: &F) {
    let mut told = Told::join(fixture, "conformance-times").await;
    // Between the records before it and itself there is time.
    colored::time::sleep(Duration::from_millis(20)).await;
    fixture.send(0, Some("new")).await;
    told.begin_all().await;
    let control = told.source.control();
    told.until("the new record", |told| told.values(0).last() == Some(&&b"new"[..])).await;
    let of_first = told.records.iter().filter(|record| record.partition == 0);
    let times: Vec<_> = of_first.map(|record| (record.offset, record.timestamp)).collect();
    let end = told.next[&0];
    let owned = told.assigned[&0].owned.clone();
    let find = async |time: i64| {
        let found = control.find(vec![owned.clone()], time).await.expect("the engine works");
        let [Some(found)] = found[..] else { panic!("{found:?}: the member owns it") };
        found
    };
    let (last, newest) = times[times.len() - 1];
    let before = |time: i64| times.iter().find(|(_, of)| *of >= time).map(|(at, _)| *at);
    assert_eq!(find(newest).await, last);
    assert!(find(newest + 1).await > last, "nothing is as new");
    assert!(find(newest + 1).await <= end);
    let oldest = told.assigned[&0].log.start;
    assert_eq!(find(0).await, before(0).unwrap_or(oldest));
    // The time of one in the middle.
    let (_, middle) = times[times.len() / 2];
    assert_eq!(Some(find(middle).await), before(middle), "{times:?}");
    told.source.close().await.expect("the engine works");
    let gone = control.find(vec![owned], newest).await;
    assert!(gone.is_err() || gone.is_ok_and(|gone| gone == [None]), "it owns nothing");
}
