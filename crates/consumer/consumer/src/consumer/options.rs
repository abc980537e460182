//! What a consumer is told: order, bounds, retries, commits.

use super::failure::{Cause, ConsumerError};
use super::rate::Rate;
use super::seek::millis;
use crate::source::Record;
use bytes::Bytes;
use colored::time::{Duration, system_time};
use std::fmt;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;

/// The records that are handled in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The records of a key in a partition. Records without a key have no order.
    #[default]
    Key,
    /// The records of a partition.
    Partition,
    /// None.
    None,
}

/// Where a partition begins if the group has no place that its log has: it has committed none; records behind its place were
/// deleted; its place is beyond the end of the log, which has lost its end or is an older copy; or the log is another one, of a
/// topic that was made again. The group may be at work, or may have just come.
///
/// The place that is chosen is committed. If it is not the first of the group in the partition, [`Metrics::resets`](crate::Metrics)
/// counts it, and a line on the standard error says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reset {
    /// At the first record. Records may come again, and none is skipped that the log has.
    #[default]
    Earliest,
    /// Behind the last record: what the log has is skipped. But at the first record, where all that the log has was written since
    /// the group came: in a partition that was added to a topic in which the group has a commit, and in a log of which the engine
    /// says that it was made again.
    Latest,
    /// Nowhere: the consumer ends with an error.
    Fail,
}

/// A record that is given up.
#[derive(Debug)]
pub struct DeadLetter {
    /// The record.
    pub record: Record,
    /// What the handler said at last.
    pub cause: String,
    /// How often the handler was called.
    pub attempts: u32,
}

/// A build that breaks a promise on purpose, for the tests of the sentinels and of the proof.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Broken {
    #[default]
    Nothing,
    CommitOnReceipt,
    NoDrain,
}

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Takes what is given up.
pub(crate) type DeadLetters = Arc<dyn Fn(DeadLetter) -> Boxed<Result<(), Cause>> + Send + Sync>;

/// The key of a record.
pub(crate) type KeyOf = Arc<dyn Fn(&Record) -> Option<Bytes> + Send + Sync>;

/// All settings. Each has its method of [`Builder`](crate::Builder).
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) order: Order,
    pub(crate) key_of: Option<KeyOf>,
    pub(crate) concurrency: usize,
    pub(crate) records: usize,
    pub(crate) bytes: usize,
    pub(crate) partition_records: usize,
    pub(crate) distance: usize,
    pub(crate) commit_every: Duration,
    pub(crate) commit_after: usize,
    pub(crate) drain: Duration,
    pub(crate) deadline: Option<Duration>,
    pub(crate) slow: Duration,
    pub(crate) first_delay: Duration,
    pub(crate) longest_delay: Duration,
    pub(crate) attempts: Option<u32>,
    /// The start of the consumer takes it out: it goes with the handler.
    pub(crate) dead_letters: Option<DeadLetters>,
    pub(crate) reset: Reset,
    pub(crate) strict: bool,
    /// Records of a key that a call gets at most, and how long it waits for them.
    pub(crate) batch: (usize, Duration),
    /// Only records of these times, in milliseconds since 1970.
    pub(crate) replay: Option<Range<i64>>,
    /// How many records of a key may begin at a time.
    pub(crate) rate: Option<Rate>,
    pub(crate) broken: Broken,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("order", &self.order).finish_non_exhaustive()
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            order: Order::Key,
            key_of: None,
            concurrency: 256,
            records: 20_000,
            bytes: 64 << 20,
            partition_records: 10_000,
            distance: 1_000_000,
            commit_every: Duration::from_millis(500),
            commit_after: 10_000,
            drain: Duration::from_secs(5),
            deadline: None,
            slow: Duration::from_secs(30),
            first_delay: Duration::from_millis(100),
            longest_delay: Duration::from_secs(30),
            attempts: None,
            dead_letters: None,
            reset: Reset::Earliest,
            strict: false,
            batch: (1, Duration::ZERO),
            replay: None,
            rate: None,
            broken: Broken::Nothing,
        }
    }
}

impl Settings {
    /// Refuses what cannot be.
    pub(crate) fn check(&self) -> Result<(), ConsumerError> {
        let numbers = [
            ("concurrency", self.concurrency as u64, u64::MAX),
            ("records", self.records as u64, u64::MAX),
            ("bytes", self.bytes as u64, u64::MAX),
            ("partition_records", self.partition_records as u64, u64::MAX),
            ("distance", self.distance as u64, 1 << 30),
            ("commit_after", self.commit_after as u64, u64::MAX),
            ("attempts", self.attempts.unwrap_or(1).into(), u64::MAX),
            ("the records of a batch", self.batch.0 as u64, u64::MAX),
        ];
        for (name, number, most) in numbers {
            if !(1..=most).contains(&number) {
                let text = format!("{name} is {number}: 1 to {most} are allowed");
                return Err(ConsumerError::Setting(text));
            }
        }
        let times = [
            ("commit_every", self.commit_every),
            ("the first delay of a retry", self.first_delay),
            ("deadline", self.deadline.unwrap_or(Duration::MAX)),
        ];
        for (name, time) in times {
            if time < Duration::from_millis(1) {
                let text = format!("{name} is {time:?}: at least 1 ms is allowed");
                return Err(ConsumerError::Setting(text));
            }
        }
        let now = millis(system_time());
        if let Some(times) = self.replay.clone().filter(|of| of.start >= of.end || of.end > now) {
            return Err(ConsumerError::Setting(format!(
                "a replay of the milliseconds from {} to {}: the end must be behind the start, and not in the future, {now} is now",
                times.start, times.end
            )));
        }
        if let Some(rate) = self.rate {
            rate.check()?;
        }
        if self.first_delay > self.longest_delay {
            return Err(ConsumerError::Setting(format!(
                "the first delay of a retry is {:?}: at most the longest, {:?}, is allowed",
                self.first_delay, self.longest_delay
            )));
        }
        if self.batch.0 > self.partition_records.min(self.records) {
            return Err(ConsumerError::Setting(format!(
                "a batch of {} records: at most as many as may be in flight, {}, are allowed",
                self.batch.0,
                self.partition_records.min(self.records)
            )));
        }
        Ok(())
    }

    /// How long to wait after this attempt: twice as long each time.
    pub(crate) fn delay(&self, attempt: u32) -> Duration {
        let doubled = 2_u32.saturating_pow(attempt.saturating_sub(1));
        self.first_delay.saturating_mul(doubled).min(self.longest_delay)
    }
}
