//! [`Look`]: how a record is drawn: its name, its color, and what a click shows.

use crate::trace::Event;
use crate::trace::snapshot::{self, Snapshot};
use colored_core::{Color, Id};
use std::panic::Location;

/// The name of a slice or an instant. A sequence has the text of each only once.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Name {
    Color(Color),
    Task(Id),
    Parked,
    Io,
    Timers,
    Steal(Color),
    LongPoll(Color),
    Wake,
    Spawn(Option<&'static Location<'static>>),
    End,
    Hop(Color),
    Post(Color),
    Call(Color),
    RunsOn(usize),
    Queued,
    Kept,
    Lost,
    Cut,
    Unknown,
}

impl Name {
    pub(super) fn text(self, snapshot: &Snapshot) -> String {
        let of = |color| snapshot.text_of(color);
        match self {
            Self::Color(color) => of(color),
            Self::Task(task) => format!("task {task}"),
            Self::Parked => "parked".into(),
            Self::Io => "I/O".into(),
            Self::Timers => "timers".into(),
            Self::Steal(color) => format!("stole {}", of(color)),
            Self::LongPoll(color) => format!("long poll of {}", of(color)),
            Self::Wake => "wake".into(),
            Self::Spawn(Some(site)) => format!("spawn at {}:{}", site.file(), site.line()),
            Self::Spawn(None) => "spawn".into(),
            Self::End => "end".into(),
            Self::Hop(color) => format!("hop to {}", of(color)),
            Self::Post(color) => format!("post to {}", of(color)),
            Self::Call(color) => format!("call of {}", of(color)),
            Self::RunsOn(thread) => format!("runs on {}", snapshot.threads[thread].name),
            Self::Queued => "queued".into(),
            Self::Kept => "kept".into(),
            Self::Lost => "lost records".into(),
            Self::Cut => "older records are left out, for the limit of the file's size".into(),
            Self::Unknown => "unknown".into(),
        }
    }
}

/// The name of a number that belongs to an event.
#[derive(Clone, Copy)]
pub(super) enum Label {
    Polls = 1,
    From,
    Events,
    Fired,
    Task,
    By,
    Ran,
    Overwritten,
    Dropped,
    LeftOut,
}

impl Label {
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Polls => "polls",
            Self::From => "from worker",
            Self::Events => "events",
            Self::Fired => "fired",
            Self::Task => "task",
            Self::By => "by task",
            Self::Ran => "nanoseconds",
            Self::Overwritten => "overwritten",
            Self::Dropped => "dropped",
            Self::LeftOut => "left out of the file",
        }
    }
}

/// How an event is drawn.
pub(super) struct Look {
    pub(super) name: Name,
    pub(super) color: Option<Color>,
    pub(super) numbers: [Option<(Label, u64)>; 3],
}

impl Look {
    pub(super) fn new(name: Name) -> Self {
        Self { name, color: None, numbers: [None; 3] }
    }

    pub(super) fn colored(name: Name, color: Color) -> Self {
        Self { color: Some(color), ..Self::new(name) }
    }

    /// With a number. At most three are kept.
    pub(super) fn with(mut self, label: Label, number: u64) -> Self {
        if let Some(place) = self.numbers.iter_mut().find(|place| place.is_none()) {
            *place = Some((label, number));
        }
        self
    }

    pub(super) fn of(event: &Event) -> Self {
        let name = match *event {
            Event::Slice { color, .. } => Name::Color(color),
            Event::Steal { color, .. } => Name::Steal(color),
            Event::Parked { .. } => Name::Parked,
            Event::Io { .. } => Name::Io,
            Event::Timers { .. } => Name::Timers,
            Event::LongPoll { color, .. } => Name::LongPoll(color),
            Event::Poll { task, .. } => Name::Task(task),
            Event::Wake { .. } => Name::Wake,
            Event::Spawn { site, .. } => Name::Spawn(site),
            Event::End { .. } => Name::End,
            Event::Hop { to, .. } => Name::Hop(to),
            Event::Post { color } => Name::Post(color),
            Event::Call { color } => Name::Call(color),
            _ => Name::Unknown,
        };
        let look = Self { color: snapshot::color(event), ..Self::new(name) };
        let look = match (name, snapshot::task(event)) {
            // The name says it.
            (Name::Task(_), _) | (_, None) => look,
            (_, Some(task)) => look.with(Label::Task, task.get()),
        };
        match *event {
            Event::Slice { polls, .. } if polls != 1 => look.with(Label::Polls, polls.into()),
            Event::Steal { from, .. } => look.with(Label::From, from.into()),
            Event::Io { events, .. } => look.with(Label::Events, events.into()),
            Event::Timers { fired, .. } => look.with(Label::Fired, fired.into()),
            Event::LongPoll { ran, .. } => look.with(Label::Ran, ran),
            Event::Wake { by: Some(by), .. } | Event::Spawn { by: Some(by), .. } => {
                look.with(Label::By, by.get())
            }
            _ => look,
        }
    }
}
