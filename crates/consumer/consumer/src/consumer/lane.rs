//! A lane: the records of a key that are in flight, in their order.

use super::run::Dead;
use super::waiting::Row;
use colored::time::Instant;
use colored::{Color, JoinHandle};

/// The bytes of a short key: with them, a [`LaneKey`] has 40.
const SHORT: usize = 38;

/// Which records belong together.
#[derive(Debug)]
pub(crate) enum LaneKey {
    /// A copy: the key of the record would keep all of the record in memory.
    Long(Box<[u8]>),
    /// A copy that needs no allocation, such as a UUID as text.
    Short(u8, [u8; SHORT]),
    Partition,
    /// A record without order, by its offset.
    Alone(u64),
}

impl LaneKey {
    pub(crate) fn copy(key: &[u8]) -> LaneKey {
        if key.len() > SHORT {
            return LaneKey::Long(key.into());
        }
        let mut bytes = [0; SHORT];
        bytes[..key.len()].copy_from_slice(key);
        LaneKey::Short(key.len() as u8, bytes)
    }

    /// By what later records find the lane.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        match self {
            LaneKey::Long(key) => Some(key),
            LaneKey::Short(length, bytes) => Some(&bytes[..usize::from(*length)]),
            LaneKey::Partition => Some(&[]),
            LaneKey::Alone(_) => None,
        }
    }
}

/// What a lane does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing yet: it is new.
    New,
    /// It waits until a batch is full, or the time of the batch is over.
    Filling,
    /// It waits for its turn.
    Ready,
    /// Its first record could make the map of the commit too large.
    Held,
    /// A run has its first records.
    Running,
    /// It waits until the first record is tried again.
    BackingOff,
    /// It waits until the time that its handler has named.
    Postponed,
    /// It waits because of the rate of its key.
    Slowed,
    /// It has no record, and stays because of the rate of its key.
    Idle,
}

/// The records of a key that are in flight.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) key: LaneKey,
    pub(crate) color: Color,
    pub(crate) phase: Phase,
    /// Not started, in order.
    pub(crate) pending: Row,
    /// The lowest offset that is not done, if there is one.
    pub(crate) first: u64,
    pub(crate) attempts: u32,
    pub(crate) dead: Option<Box<Dead>>,
    /// Whether the run gives a record to the dead letters.
    pub(crate) is_burying: bool,
    /// The run, or the timer.
    pub(crate) task: Option<JoinHandle<()>>,
    /// When the run began, or the last one ended.
    pub(crate) since: Instant,
    /// Whether a slow run was reported.
    pub(crate) is_reported: bool,
    /// The next record that is handed to a run has this offset at least, for the sentinel of the order.
    pub(crate) next: u64,
    /// When its key may begin as many records at once as it ever may, if that is later than now: see `rate`. In a box: most
    /// consumers have no rate.
    pub(crate) full_at: Option<Box<Instant>>,
}

impl Lane {
    pub(crate) fn new(key: LaneKey, color: Color, now: Instant) -> Lane {
        Lane {
            key,
            color,
            phase: Phase::New,
            pending: Row::new(),
            first: 0,
            attempts: 0,
            dead: None,
            is_burying: false,
            task: None,
            since: now,
            is_reported: false,
            next: 0,
            full_at: None,
        }
    }

    /// Whether no other record comes to it.
    pub(crate) fn is_alone(&self) -> bool {
        self.key.bytes().is_none()
    }

    /// Whether the rate of a key is for its next run. Records without an order have none, and a dead letter is no call of the handler.
    pub(crate) fn has_rate(&self) -> bool {
        !self.is_alone() && self.dead.is_none()
    }

    /// The lowest offset that is not done.
    pub(crate) fn first(&self) -> Option<u64> {
        (self.phase == Phase::Running || self.pending.len() > 0).then_some(self.first)
    }

    /// The key, for messages.
    pub(crate) fn name(&self) -> String {
        match (&self.key, self.key.bytes()) {
            (LaneKey::Partition, _) => "the partition".to_owned(),
            (LaneKey::Alone(offset), _) => format!("record {offset}"),
            (_, key) => format!("key {:?}", String::from_utf8_lossy(key.unwrap_or_default())),
        }
    }

    /// What the run calls, for messages.
    pub(crate) fn hook(&self) -> &'static str {
        if self.is_burying { "dead letters" } else { "handler" }
    }

    /// Ends the timer of a batch or of a retry, if that is what the task is.
    pub(crate) fn stop_timer(&mut self) {
        if self.phase != Phase::Running
            && let Some(timer) = self.task.take()
        {
            timer.abort();
        }
    }
}
