//! [`LongPoll`]: a poll that holds its worker for long.

use crate::kernel::color::Color;
use crate::kernel::task::{Id, Named};
use std::fmt;
use std::panic::Location;
use std::time::Duration;

/// A poll that holds its worker for long: it blocks, or computes without a break.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LongPoll {
    /// The index of the worker. Workers count from 0, and spare workers come after them.
    pub worker: usize,
    /// How long the worker had been in the poll when the reactor thread looked, at most the length of a slice too long.
    pub time: Duration,
    /// The color.
    pub color: Color,
    /// The task; none for a closure of a cell, of [`when`](crate::when()), or of [`post`](crate::ColorCell::post).
    pub task: Option<Id>,
    /// Where the task was spawned.
    pub spawned: Option<&'static Location<'static>>,
    /// The CPU time of the worker's thread in that time: close to [`time`](Self::time) if the poll computes, close to 0 if
    /// it blocks its thread. The reactor thread measures a part of the poll, from its second look, and takes the rest to
    /// be like it. None before that, without the feature `diagnose`, and where the system does not tell: everywhere but on
    /// Linux.
    pub cpu: Option<Duration>,
    /// The time that the thread could have run, and the system ran other threads. None as for `cpu`.
    pub delayed: Option<Duration>,
    /// The number of the slice: with the worker's, it tells two polls apart.
    #[doc(hidden)]
    pub slice: u64,
}

impl LongPoll {
    /// A poll of a slice with this number, without a task and without times of the thread.
    #[doc(hidden)]
    #[must_use]
    pub fn new(worker: usize, slice: u64, color: Color, time: Duration) -> Self {
        let (task, spawned, cpu, delayed) = (None, None, None, None);
        Self { worker, time, color, task, spawned, cpu, delayed, slice }
    }
}

impl fmt::Display for LongPoll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { worker, time, color, .. } = self;
        write!(f, "worker {worker} has been in one poll for {} ms: ", time.as_millis())?;
        match (self.task, self.spawned) {
            (Some(id), Some(spawned)) => Named { id, spawned }.fmt(f)?,
            _ => f.write_str("a closure")?,
        }
        write!(f, " under {color}")
    }
}
