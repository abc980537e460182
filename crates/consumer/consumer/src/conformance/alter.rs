//! A log that is not what it was: the operations of the world on a log, crossed with [`Reset`], and with members that run
//! or start again.
//!
//! The test of an engine implements [`AlterLog`] for a topic with two partitions, and calls [`check_case`] with a new topic for
//! each of [`Case::all`].
//!
//! An oracle knows which records exist. Nothing that exists is skipped, and nothing is repeated that was committed, unless this
//! table says why. No consumer ends but one with [`Reset::Fail`], where the table says so.
//!
//! | what has happened | why records may be skipped, or repeated, or the consumer ends |
//! |---|---|
//! | The log begins later, at or below the place of the group | nothing may |
//! | It begins later, above the place of the group | `Latest` skips what was there when it began, by its words; `Fail` ends, by its words, and must |
//! | It is shorter (or an older copy), and still has the place of the group | nothing may |
//! | It is shorter (or an older copy) than the place of the group | which of the records that are left the group has handled, nobody knows: `Earliest` repeats them; `Latest` repeats them if the engine says that it is another log, or skips what was there when it began; `Fail` ends. Nothing may where the engine gives no offset twice, so that the place of the group is still in the log |
//! | It was made again | for an engine that forgets the commits, or cannot tell logs apart, the group is new in it: `Latest` skips what was there when it began; `Fail` ends |
//! | Records in its middle, or its last ones, were deleted, and their offsets are not given again | nothing may |
//! | There are offsets behind its last record that no record has | nothing may |
//! | One bit of what is stored is another one | the engine refuses to open, or the consumer says which partition it cannot read: then nothing of it is handled from there on |

use super::{Fixture, LONG};
use crate::consumer::{Consumer, ConsumerError, Reset};
use colored::time::{Duration, Instant, sleep, timeout};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// The records that are handled before the log is altered, and those that come behind them while no member runs.
const HANDLED: u32 = 10;
const UNREAD: u32 = 5;

/// The numbers of records that come afterwards.
const NEW: std::ops::Range<u32> = 100..120;

/// What happens to the log of partition 0, while its group has handled and committed 10 records; 5 more are behind them if no
/// member runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alteration {
    /// Its first records, so many or some fewer, are deleted, as by retention.
    BeginLater(u32),
    /// Its last records, so many, are gone, and their offsets are given again: a power failure, without a wait for the device.
    Shorten(u32),
    /// It is replaced by a copy that was made when it had so many records.
    Restore(u32),
    /// The topic is deleted and made again, without records.
    MakeAgain,
    /// The second record and the last but one are deleted.
    Holes,
    /// Its last records, so many, are deleted, and their offsets are not given again.
    DeleteLast(u32),
    /// It gets offsets behind its last record that no record has, as markers of transactions are.
    Mark,
    /// A bit of what is stored flips. The number chooses the file and the place, from all that the engine has.
    FlipBit(u32),
}

/// What has become of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Altered {
    /// It has these values now.
    Has(Vec<String>),
    /// The engine refuses to open it, with an error: an answer to a bit that has flipped.
    Refused,
    /// The engine has no such state, or not while members run.
    Unsupported,
}

/// A new topic with two partitions and no groups, of which the log of partition 0 can be altered.
pub trait AlterLog: Fixture {
    /// Carries an alteration out. If no member runs, the engine may be closed, and opened again. Cancel safe: it is never dropped
    /// before its end.
    fn alter(
        &self,
        alteration: Alteration,
        is_running: bool,
    ) -> impl Future<Output = Altered> + Send;
}

/// An alteration, and when it happens to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// What happens.
    pub alteration: Alteration,
    /// What the consumer was told.
    pub reset: Reset,
    /// Whether a consumer runs meanwhile. Otherwise one starts afterwards.
    pub is_running: bool,
    /// Whether new records come before the consumer that starts, so that the log may be longer than it was.
    pub is_grown: bool,
}

impl Case {
    /// All cases; with bits that flip at so many places.
    #[must_use]
    pub fn all(bits: u32) -> Vec<Case> {
        use Alteration::{BeginLater, DeleteLast, Holes, MakeAgain, Mark, Restore, Shorten};
        let mut alterations = vec![BeginLater(5), BeginLater(10), BeginLater(12), Shorten(3)];
        alterations.extend([Shorten(8), Restore(12), Restore(7), MakeAgain, Holes]);
        alterations.extend([DeleteLast(2), DeleteLast(7), Mark]);
        alterations.extend((0..bits).map(Alteration::FlipBit));
        let mut cases = Vec::new();
        for alteration in alterations {
            for reset in [Reset::Earliest, Reset::Latest, Reset::Fail] {
                for (is_running, is_grown) in [(true, false), (false, false), (false, true)] {
                    cases.push(Case { alteration, reset, is_running, is_grown });
                }
            }
        }
        cases
    }

    /// What the table says of a log that has these values: whether records may be skipped, whether they may be repeated, and whether
    /// the consumer may end.
    fn allows(self, left: &[String]) -> Allowed {
        let is_replaced = match self.alteration {
            Alteration::BeginLater(_) => !self.is_running && !left.contains(&HANDLED.to_string()),
            Alteration::Shorten(_) | Alteration::Restore(_) => left.len() < HANDLED as usize,
            Alteration::MakeAgain => true,
            Alteration::Holes | Alteration::DeleteLast(_) | Alteration::Mark => false,
            Alteration::FlipBit(_) => false,
        };
        let may_repeat = matches!(self.alteration, Alteration::Shorten(_) | Alteration::Restore(_));
        Allowed {
            skip: is_replaced && self.reset == Reset::Latest,
            repeat: is_replaced && may_repeat && self.reset != Reset::Fail,
            end: is_replaced && self.reset == Reset::Fail,
            must_end: is_replaced
                && self.reset == Reset::Fail
                && matches!(self.alteration, Alteration::BeginLater(_)),
        }
    }
}

struct Allowed {
    skip: bool,
    repeat: bool,
    end: bool,
    must_end: bool,
}

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

struct Run<'a, F> {
    fixture: &'a F,
    case: Case,
    seen: Seen,
}

/// Checks a case with a new topic. Returns whether the engine has the state. Not cancel safe: members stay.
///
/// # Panics
///
/// Where a record is skipped or repeated, or the consumer ends, and the table does not say why.
pub async fn check_case<F: AlterLog>(fixture: &F, case: Case) -> bool {
    let run = Run { fixture, case, seen: Seen::default() };
    // The group gets a place, so that `Fail` has one too.
    let first = run.start(Reset::Earliest).await;
    run.settle(&first).await;
    first.stop().await.expect("the log is as it was");
    let consumer = run.start(case.reset).await;
    run.send(0, 0..HANDLED).await;
    run.wait_for_commit(&consumer).await;
    let running = if case.is_running {
        Some(consumer)
    } else {
        consumer.stop().await.expect("the log is as it was");
        run.send(0, HANDLED..HANDLED + UNREAD).await;
        None
    };
    let before = run.seen.values(0);
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
    run.judge(&before, &left, &settled, ended);
    true
}

impl<F: AlterLog> Run<'_, F> {
    async fn start(&self, reset: Reset) -> Consumer {
        let seen = self.seen.clone();
        let source = self.fixture.join("alter").await;
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
    async fn wait_for_commit(&self, consumer: &Consumer) {
        let is_committed = async || {
            let last = self.seen.all().into_iter().rfind(|(of, ..)| *of == 0);
            let metrics = consumer.metrics().await;
            let mut partitions = metrics.partitions.iter();
            let committed = partitions.find(|of| of.partition.partition == 0);
            let committed = committed.map_or(0, |of| of.committed);
            self.seen.has(0, 0..HANDLED) && last.is_some_and(|(_, last, _)| committed > last)
        };
        let end = Instant::now() + LONG;
        while !is_committed().await {
            assert!(Instant::now() < end, "{:?}: nothing is committed", self.case);
            sleep(Duration::from_millis(2)).await;
        }
    }

    /// Waits until the consumer has caught up, or cannot.
    async fn settle(&self, consumer: &Consumer) -> Settled {
        let end = Instant::now() + LONG;
        loop {
            let caught_up = timeout(Duration::from_millis(50), consumer.caught_up()).await;
            let metrics = consumer.metrics().await;
            let error = metrics.partitions.iter().find_map(|of| of.error.clone());
            match (caught_up, error) {
                (_, Some(error)) => return Settled::Not(error),
                (Ok(true), _) => return Settled::CaughtUp,
                (Ok(false), _) => return Settled::Not("the consumer has ended".to_owned()),
                (Err(_), None) => {}
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
        if !self.case.is_running && !self.case.is_grown && settled == Settled::CaughtUp {
            self.send(0, NEW).await;
            settled = self.settle(&consumer).await;
        }
        // The other partition goes on, whatever has become of this one.
        self.send(1, NEW).await;
        let end = Instant::now() + LONG;
        while !self.seen.has(1, NEW) && !consumer.is_ended() {
            assert!(Instant::now() < end, "{:?}: the other partition stands", self.case);
            sleep(Duration::from_millis(2)).await;
        }
        (settled, consumer.stop().await)
    }

    fn judge(
        &self,
        before: &[String],
        left: &[String],
        settled: &Settled,
        ended: Result<(), ConsumerError>,
    ) {
        let (case, allowed) = (self.case, self.case.allows(left));
        let after = self.seen.values(0).split_off(before.len());
        let committed: BTreeSet<_> = before.iter().collect();
        let repeated: Vec<_> = after.iter().filter(|value| committed.contains(value)).collect();
        assert!(allowed.repeat || repeated.is_empty(), "{case:?}: {repeated:?} are repeated");
        let mut once = BTreeSet::new();
        let twice: Vec<_> = after.iter().filter(|value| !once.insert(*value)).collect();
        assert!(twice.is_empty(), "{case:?}: {twice:?} come twice");
        if let Err(error) = ended {
            let is_damage = matches!(case.alteration, Alteration::FlipBit(_));
            assert!(allowed.end || is_damage, "{case:?}: it ends: {error}");
            return;
        }
        assert!(!allowed.must_end, "{case:?}: it goes on, and was told to fail");
        assert_eq!(settled, &Settled::CaughtUp, "{case:?}");
        if allowed.skip {
            return;
        }
        let exists = left.iter().cloned().chain(NEW.map(|number| number.to_string()));
        let is_skipped = |value: &String| !committed.contains(value) && !after.contains(value);
        let skipped: Vec<_> = exists.filter(is_skipped).collect();
        assert!(skipped.is_empty(), "{case:?}: {skipped:?} are skipped");
    }
}
