//! [`Record`]: what a ring keeps.

use crate::kernel::color::Color;
use crate::kernel::task::Id;
use std::panic::Location;

/// Something that has ended, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// When it ended, in nanoseconds of the scheduler's time.
    pub nanos: u64,
    /// What it was.
    pub event: Event,
}

/// What a [`Record`] is about. All times are in nanoseconds.
///
/// A ring keeps some numbers in fewer bits than they have here; the fields say so. A larger number is kept as the
/// largest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Level 1: a slice.
    Slice {
        /// The color of the lane.
        color: Color,
        /// How long the slice was.
        ran: u64,
        /// How long the lane had been runnable before; 0 if that is unknown. 40 bits, 18 minutes.
        queued: u64,
        /// The polls in it. 15 bits.
        polls: u32,
    },
    /// Level 1: the worker stole a lane. A theft of several lanes is several records.
    Steal {
        /// The color of the lane.
        color: Color,
        /// The index of the worker that had it.
        from: u16,
    },
    /// Level 1: the worker was parked.
    Parked {
        /// How long.
        slept: u64,
    },
    /// Level 1: a turn of the I/O driver.
    Io {
        /// How long it took, without the sleep in it.
        took: u64,
        /// The events that it brought.
        events: u32,
    },
    /// Level 1: a turn of the timers.
    Timers {
        /// How long it took.
        took: u64,
        /// The timers that fired.
        fired: u32,
    },
    /// Level 1: a section or a behavior kept the lane.
    Kept {
        /// The color of the lane.
        color: Color,
        /// How long.
        kept: u64,
    },
    /// Level 1: a poll is longer than the limit of the runtime, and may go on.
    LongPoll {
        /// The color of the lane.
        color: Color,
        /// How long it had been when the runtime saw it, up to 5 ms after it became long. 55 bits.
        ran: u64,
        /// The task; none for a callback.
        task: Option<Id>,
    },
    /// Level 1: the tasks and callbacks that are scheduled under a color at this time.
    Depth {
        /// The color.
        color: Color,
        /// How many there are.
        depth: u32,
    },
    /// Level 2: a poll. Its color is the one of the slice around it, whose record comes later.
    Poll {
        /// The task.
        task: Id,
        /// How long the poll was.
        ran: u64,
    },
    /// Level 2: a task was woken.
    Wake {
        /// The task whose poll woke it; none outside of polls.
        by: Option<Id>,
        /// The task that was woken.
        task: Id,
    },
    /// Level 2: a task was spawned.
    Spawn {
        /// The task whose poll spawned it; none outside of polls.
        by: Option<Id>,
        /// The new task.
        task: Id,
        /// The place of the call. None if the process has run out of numbers for places: some 4,000 spawns and waits
        /// have one.
        site: Option<&'static Location<'static>>,
    },
    /// Level 2: a task is complete.
    End {
        /// The task.
        task: Id,
    },
    /// Level 2: a task has moved to another color.
    Hop {
        /// The task.
        task: Id,
        /// Its new color.
        to: Color,
    },
    /// Level 3: a closure was posted under a color.
    Post {
        /// The color.
        color: Color,
    },
    /// Level 3: a call of a cell, or a read, has begun or was queued.
    Call {
        /// The color.
        color: Color,
    },
}
