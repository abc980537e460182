//! The events of a run: a hash over all of them, and the last lines to read.

use crate::world::Actor;
use std::collections::VecDeque;
use std::fmt;

/// Kinds of events. The two numbers that go with each are in the comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A worker begins a step: worker.
    Step,
    /// A worker parks: worker, microseconds of its limit.
    Parks,
    /// A worker has stopped: worker.
    Stops,
    /// A worker is unparked: worker.
    Unpark,
    /// A worker's park ends: worker.
    Wakes,
    /// The number of spare workers that are wanted has changed: the number.
    Spares,
    /// The backstop looks: how many lanes are ready.
    Rescue,
    /// A turn begins: color, entry.
    Turn,
    /// A turn ends: color, how.
    Ends,
    /// A task is spawned: color, task.
    Spawn,
    /// A task is woken: task, color.
    Wake,
    /// A task is aborted: task, color.
    Abort,
    /// A task's handle goes: task.
    Detach,
    /// A task waits for another: task, the other.
    Join,
    /// A task is complete: task, color.
    Complete,
    /// A callback is scheduled: color, callback.
    Post,
    /// A call runs at once: color, call.
    Inline,
    /// A call is given up: call.
    Abandon,
    /// A `when` or `read`: which; 0 is made, 1 runs, 2 is dropped unrun.
    Several,
    /// A cell is made: color, cell.
    Cell,
    /// The last owner of a cell goes: cell.
    LastOwner,
    /// Timers or I/O are handed out by a worker: worker, how many.
    Events,
    /// A thread that is no worker comes: which.
    Outside,
    /// The scheduler cancels everything.
    ShutDown,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    now: u64,
    actor: Actor,
    what: What,
    first: u32,
    second: u32,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { now, actor, what, first, second } = self;
        let (micros, nanos) = (now / 1000, now % 1000);
        write!(
            f,
            "{micros:>9}.{nanos:03} us  {actor:<10} {:<9} {first} {second}",
            format!("{what:?}")
        )
    }
}

pub(crate) struct Trace {
    last: VecDeque<Line>,
    keep: usize,
    hash: u64,
    count: u64,
}

impl Trace {
    /// A trace that keeps `keep` lines.
    pub(crate) fn new(keep: usize) -> Self {
        Self { last: VecDeque::with_capacity(keep), keep, hash: 0xcbf2_9ce4_8422_2325, count: 0 }
    }

    pub(crate) fn note(&mut self, now: u64, actor: Actor, what: What, first: u32, second: u32) {
        self.count += 1;
        let words =
            [now, u64::from(first) << 32 | u64::from(second), actor.number() << 8 | what as u64];
        for word in words {
            // FNV's multiplication, a word at a time, with a rotation to mix the high bits back.
            self.hash = (self.hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
        }
        if self.last.len() == self.keep {
            self.last.pop_front();
        }
        self.last.push_back(Line { now, actor, what, first, second });
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = &Line> {
        self.last.iter()
    }
}
