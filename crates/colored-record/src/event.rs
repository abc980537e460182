//! The events of one color.

use std::fmt;

/// What pushes work on a color.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Source {
    /// What it is.
    pub kind: SourceKind,
    /// Its number, among those of its kind.
    pub number: u64,
}

/// The kinds of sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SourceKind {
    /// The default color.
    Default,
    /// A color with a number.
    Numbered,
    /// A unique color.
    Unique,
    /// The thread that made the runtime, outside of any turn.
    Maker,
    /// A blocking call.
    Call,
    /// The end of a cell: its last clone is gone, wherever that was.
    End,
    /// A task that hops; the number is its id.
    Hop,
    /// A thread that the record does not cover.
    Stranger,
}

impl SourceKind {
    const ALL: [Self; 8] = [
        Self::Default,
        Self::Numbered,
        Self::Unique,
        Self::Maker,
        Self::Call,
        Self::End,
        Self::Hop,
        Self::Stranger,
    ];

    /// The kind of this number: the inverse of `as u8`.
    #[must_use]
    pub fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.get(usize::from(byte)).copied()
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.number;
        match self.kind {
            SourceKind::Default => f.write_str("color default"),
            SourceKind::Numbered => write!(f, "color {number:#x}"),
            SourceKind::Unique => write!(f, "color unique-{number}"),
            SourceKind::Maker => f.write_str("the thread that made the runtime"),
            SourceKind::Call => write!(f, "blocking call {number}"),
            SourceKind::End => f.write_str("the end of a cell"),
            SourceKind::Hop => write!(f, "the hop of task {number}"),
            SourceKind::Stranger => f.write_str("another thread"),
        }
    }
}

/// One event of a color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A turn begins.
    Turn(Turn),
    /// The turn has asked whether something is there.
    Mark(Mark, bool),
    /// The turn has read a number.
    Value(Value, u64),
    /// The turn has received a message of this source, from a channel of many.
    From(Source),
}

/// What has a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The next thing that this source has pushed: a closure, a new task, or one that hops.
    Push(Source),
    /// A task that has had a turn here before: the one of this number, from 0, in the order of their first turns.
    Again {
        /// The number.
        task: u32,
        /// Whether no turn has woken it: a timer, or another thread.
        outside: bool,
    },
}

/// A question whose answer depends on the time of the asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Is the task over whose handle is polled?
    Join,
    /// Is the closure over whose call is polled?
    Call,
    /// Has the timer come?
    Timer,
    /// Is there a message, or is the channel closed?
    Receive,
    /// Is it a message?
    Message,
    /// Is there room in the channel, or is it closed?
    Send,
    /// Is the channel open?
    Open,
    /// Is the task over of which that is asked?
    Finished,
    /// Is the task aborted whose turn it is?
    Aborted,
    /// Does the caller still wait for the closure whose turn it is?
    Wanted,
}

impl Mark {
    pub(crate) const ALL: [Self; 10] = [
        Self::Join,
        Self::Call,
        Self::Timer,
        Self::Receive,
        Self::Message,
        Self::Send,
        Self::Open,
        Self::Finished,
        Self::Aborted,
        Self::Wanted,
    ];
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Join => "the poll of a join handle",
            Self::Call => "the poll of a call",
            Self::Timer => "the poll of a timer",
            Self::Receive | Self::Message => "a receive",
            Self::Send | Self::Open => "a send",
            Self::Finished => "a question whether a task is over",
            Self::Aborted => "an abort",
            Self::Wanted => "the closure of a call",
        })
    }
}

/// A number that a turn reads from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// The time of the runtime's clock, in nanoseconds.
    Clock,
    /// A random number.
    Random,
}

impl Value {
    pub(crate) const ALL: [Self; 2] = [Self::Clock, Self::Random];
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Clock => "a read of the clock",
            Self::Random => "a random number",
        })
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Turn(Turn::Push(source)) => write!(f, "a turn that {source} has pushed"),
            Self::Turn(Turn::Again { task, .. }) => write!(f, "a turn of its task {task}"),
            Self::Mark(mark, true) => write!(f, "{mark}, with the answer yes"),
            Self::Mark(mark, false) => write!(f, "{mark}, with the answer no"),
            Self::Value(value, _) => value.fmt(f),
            Self::From(source) => write!(f, "a message from {source}"),
        }
    }
}
