//! A lane: the records of a key that are in flight, in their order.

use super::run::Dead;
use crate::source::Record;
use bytes::Bytes;
use colored::time::Instant;
use colored::{Color, JoinHandle};
use std::collections::VecDeque;

/// Which records belong together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LaneKey {
    Keyed(Bytes),
    Partition,
    /// A record without order, by its offset.
    Alone(u64),
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
}

/// The records of a key that are in flight.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) key: LaneKey,
    pub(crate) color: Color,
    pub(crate) phase: Phase,
    /// Not started, in order.
    pub(crate) pending: VecDeque<Record>,
    /// The records of the run: offsets and sizes, in order.
    pub(crate) running: VecDeque<(u64, usize)>,
    pub(crate) attempts: u32,
    pub(crate) dead: Option<Dead>,
    /// The run, or the timer.
    pub(crate) task: Option<JoinHandle<()>>,
    /// When the run began.
    pub(crate) since: Instant,
    /// Whether a slow run was reported.
    pub(crate) is_reported: bool,
    /// The last record that was handed to a run, for the sentinel of the order.
    pub(crate) handed: Option<u64>,
}

impl Lane {
    pub(crate) fn new(key: LaneKey, color: Color, now: Instant) -> Lane {
        Lane {
            key,
            color,
            phase: Phase::New,
            // Many keys have one record in flight. The first growth would make room for four.
            pending: VecDeque::with_capacity(1),
            running: VecDeque::with_capacity(1),
            attempts: 0,
            dead: None,
            task: None,
            since: now,
            is_reported: false,
            handed: None,
        }
    }

    /// The lowest offset that is not done.
    pub(crate) fn first(&self) -> Option<u64> {
        let running = self.running.front().map(|(offset, _)| *offset);
        running.or_else(|| self.pending.front().map(|record| record.offset))
    }

    /// The key, for messages.
    pub(crate) fn name(&self) -> String {
        match &self.key {
            LaneKey::Keyed(key) => format!("key {:?}", String::from_utf8_lossy(key)),
            LaneKey::Partition => "the partition".to_owned(),
            LaneKey::Alone(offset) => format!("record {offset}"),
        }
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
