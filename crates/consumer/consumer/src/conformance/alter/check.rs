//! A case of a log that is altered: what happens to it, and what its groups have handled.

use super::super::LONG;
use super::{AlterLog, Alteration, Altered, Case, HANDLED, HANDLED_BEHIND, UNREAD};
use crate::consumer::{Consumer, ConsumerError, Metrics, Reset};
use colored::time::{Duration, Instant, sleep, timeout};
use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};

/// The numbers of records that come afterwards.
const NEW: std::ops::Range<u32> = 100..120;

/// What handlers have done, in their order.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<(u32, u64, String)>>>);

impl Seen {
    fn all(&self) -> Vec<(u32, u64, String)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn values(&self, partition: u32) -> Vec<String> {
        let all = self.all().into_iter().filter(|(of, ..)| *of == partition);
        all.map(|(_, _, value)| value).collect()
    }

    fn has(&self, partition: u32, numbers: impl IntoIterator<Item = u32>) -> bool {
        let values = self.values(partition);
        numbers.into_iter().all(|number| values.contains(&number.to_string()))
    }
}

/// How far a consumer has come.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Settled {
    CaughtUp,
    /// It has ended, or cannot read a partition.
    Not(String),
}

/// Whether the consumer has the partition that is altered.
fn has_first(metrics: &Metrics) -> bool {
    metrics.partitions.iter().any(|of| of.partition.partition == 0)
}

/// A group of a case.
struct Run<'a, F> {
    fixture: &'a F,
    case: Case,
    group: &'static str,
    seen: Seen,
}

/// Checks a case with a new topic. Returns whether the engine has the state. Not cancel safe: members stay.
///
/// # Panics
///
/// Where a record is skipped or repeated, or the consumer ends, and the table does not say why.
pub async fn check_case<F: AlterLog>(fixture: &F, case: Case) -> bool {
    let [run, behind] = ["alter", "alter-behind"].map(|group| {
        let seen = Seen::default();
        Run { fixture, case, group, seen }
    });
    // The groups get a place, so that `Fail` has one too.
    for first in [&run, &behind] {
        let consumer = first.start(Reset::Earliest).await;
        first.settle(&consumer).await;
        if first.group == behind.group {
            first.send(0, 0..HANDLED_BEHIND).await;
            first.wait_for_commit(&consumer, HANDLED_BEHIND).await;
        }
        consumer.stop().await.expect("the log is as it was");
    }
    let consumer = run.start(case.reset).await;
    run.send(0, HANDLED_BEHIND..HANDLED).await;
    run.wait_for_commit(&consumer, HANDLED).await;
    let running = if case.is_running {
        Some(consumer)
    } else {
        consumer.stop().await.expect("the log is as it was");
        run.send(0, HANDLED..HANDLED + UNREAD).await;
        None
    };
    let before = run.seen.values(0).len();
    let left = match fixture.alter(case.alteration, case.is_running).await {
        Altered::Has(left) => left,
        Altered::Refused => {
            let is_damage = matches!(case.alteration, Alteration::FlipBit(_));
            assert!(is_damage, "{case:?}: the engine refuses a log that is whole");
            return true;
        }
        Altered::Unsupported => {
            if let Some(consumer) = running {
                consumer.stop().await.expect("the log is as it was");
            }
            return false;
        }
    };
    let (settled, ended) = run.go_on(running).await;
    run.judge((before, HANDLED), &left, &settled, ended);
    // All is there now that the world has had to say.
    let consumer = behind.start(case.reset).await;
    let settled = behind.settle(&consumer).await;
    let ended = consumer.stop().await;
    behind.judge((HANDLED_BEHIND as usize, HANDLED_BEHIND), &left, &settled, ended);
    true
}

impl<F: AlterLog> Run<'_, F> {
    async fn start(&self, reset: Reset) -> Consumer {
        let seen = self.seen.clone();
        let source = self.fixture.join(self.group).await;
        let builder = Consumer::builder(source).reset(reset).strict(true);
        let builder = builder.commit_every(Duration::from_millis(5));
        let consumer = builder.start(move |record, _| {
            let value = String::from_utf8_lossy(record.value.as_deref().unwrap_or_default());
            let effect = (record.partition, record.offset, value.into_owned());
            seen.0.lock().unwrap_or_else(PoisonError::into_inner).push(effect);
            std::future::ready(Ok(()))
        });
        consumer.expect("the settings are good")
    }

    async fn send(&self, partition: u32, numbers: std::ops::Range<u32>) {
        for number in numbers {
            self.fixture.send(partition, Some(&number.to_string())).await;
        }
    }

    /// Waits until all that was sent is handled and committed.
    async fn wait_for_commit(&self, consumer: &Consumer, count: u32) {
        let is_committed = async || {
            let last = self.seen.all().into_iter().rfind(|(of, ..)| *of == 0);
            let metrics = consumer.metrics().await;
            let mut partitions = metrics.partitions.iter();
            let committed = partitions.find(|of| of.partition.partition == 0);
            let committed = committed.map_or(0, |of| of.committed);
            self.seen.has(0, 0..count) && last.is_some_and(|(_, last, _)| committed > last)
        };
        let end = Instant::now() + LONG;
        while !is_committed().await {
            if Instant::now() >= end {
                let (seen, metrics) = (self.seen.all(), consumer.metrics().await);
                panic!("{:?}: not all is committed: {seen:?} of {count}, {metrics:?}", self.case);
            }
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits until the consumer has caught up, or cannot. An engine may need some tries of what is not damaged.
    async fn settle(&self, consumer: &Consumer) -> Settled {
        let end = Instant::now() + LONG;
        // An engine may answer for the other partition first.
        while !consumer.is_ended() && !has_first(&consumer.metrics().await) {
            assert!(Instant::now() < end, "{:?}: it gets no partition", self.case);
            sleep(Duration::from_millis(10)).await;
        }
        let mut caught_up = pin!(consumer.caught_up());
        let is_damage = matches!(self.case.alteration, Alteration::FlipBit(_));
        loop {
            match timeout(Duration::from_millis(50), caught_up.as_mut()).await {
                Ok(true) => return Settled::CaughtUp,
                Ok(false) => return Settled::Not("the consumer has ended".to_owned()),
                // To ask takes turns of all partitions.
                Err(_) if !is_damage && Instant::now() < end => continue,
                Err(_) => {}
            }
            let metrics = consumer.metrics().await;
            let error = metrics.partitions.iter().find_map(|of| of.error.clone());
            if let Some(error) = error.filter(|_| is_damage) {
                return Settled::Not(error);
            }
            assert!(Instant::now() < end, "{:?}: it never catches up: {metrics:?}", self.case);
        }
    }

    /// The world goes on after the alteration. Returns how far the consumer came, and how it ended.
    async fn go_on(&self, running: Option<Consumer>) -> (Settled, Result<(), ConsumerError>) {
        if running.is_some() || self.case.is_grown {
            self.send(0, NEW).await;
        }
        let consumer = match running {
            Some(consumer) => consumer,
            None => self.start(self.case.reset).await,
        };
        let mut settled = self.settle(&consumer).await;
        if !self.case.is_running && !self.case.is_grown {
            // For the second group, too.
            self.send(0, NEW).await;
            if settled == Settled::CaughtUp {
                settled = self.settle(&consumer).await;
            }
        }
        // The other partition goes on, whatever has become of this one.
        self.send(1, NEW).await;
        let end = Instant::now() + LONG;
        while !self.seen.has(1, NEW) && !consumer.is_ended() {
            assert!(Instant::now() < end, "{:?}: the other partition stands", self.case);
            sleep(Duration::from_millis(10)).await;
        }
        (settled, consumer.stop().await)
    }

    /// Compares what a group has handled with the table. It had handled so many records before, and had this place.
    fn judge(
        &self,
        (before, place): (usize, u32),
        left: &[String],
        settled: &Settled,
        ended: Result<(), ConsumerError>,
    ) {
        let (case, group, allowed) = (self.case, self.group, self.case.allows(left, place));
        let mut before_it = self.seen.values(0);
        let after = before_it.split_off(before);
        let committed: BTreeSet<_> = before_it.iter().collect();
        let repeated: Vec<_> = after.iter().filter(|value| committed.contains(value)).collect();
        let is_allowed = allowed.repeat || repeated.is_empty();
        assert!(is_allowed, "{case:?}, {group}: {repeated:?} are repeated");
        let mut once = BTreeSet::new();
        let twice: Vec<_> = after.iter().filter(|value| !once.insert(*value)).collect();
        let is_running = case.is_running && place == HANDLED;
        let is_late = F::NOTICES_LATE && is_running && case.alteration == Alteration::MakeAgain;
        assert!(is_late || twice.is_empty(), "{case:?}, {group}: {twice:?} come twice");
        if let Err(error) = ended {
            let is_damage = matches!(case.alteration, Alteration::FlipBit(_));
            assert!(allowed.end || is_damage, "{case:?}, {group}: it ends: {error}");
            return;
        }
        assert!(!allowed.must_end, "{case:?}, {group}: it goes on, and was told to fail");
        assert_eq!(settled, &Settled::CaughtUp, "{case:?}, {group}");
        if allowed.skip {
            return;
        }
        let exists = left.iter().cloned().chain(NEW.map(|number| number.to_string()));
        let is_skipped = |value: &String| !committed.contains(value) && !after.contains(value);
        let skipped: Vec<_> = exists.filter(is_skipped).collect();
        assert!(skipped.is_empty(), "{case:?}, {group}: {skipped:?} are skipped");
    }
}
