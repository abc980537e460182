//! The records of a thread as begins, ends and instants, which nest and go forward.
//!
//! A record is made when something ends. So what was inside a slice is recorded before the slice: its begin is inserted
//! in front of what came after it. A slice wraps no earlier slice, and a poll no earlier poll, whatever their times are: an
//! event that seems to begin before the event that it follows is moved up to it.

use crate::trace::{Event, Record};

/// A place of a thread's timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) nanos: u64,
    /// The index of the record.
    pub(super) record: u32,
    pub(super) step: Step,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Begin,
    End,
    Instant,
}

enum Shape {
    /// With polls and instants in it.
    Slice(u64),
    /// With instants in it.
    Poll(u64),
    Instant,
    /// Only on the tracks of colors.
    Elsewhere,
}

fn shape(event: &Event) -> Shape {
    match *event {
        Event::Slice { ran: took, .. }
        | Event::Parked { slept: took }
        | Event::Io { took, .. }
        | Event::Timers { took, .. } => Shape::Slice(took),
        Event::Poll { ran, .. } => Shape::Poll(ran),
        Event::Kept { .. } | Event::Depth { .. } => Shape::Elsewhere,
        _ => Shape::Instant,
    }
}

/// The marks of the records that ended at `from` or later.
pub(super) fn marks(records: &[Record], from: u64) -> Vec<Mark> {
    let mut marks = Marks { marks: Vec::with_capacity(2 * records.len()), slices: 0, polls: 0 };
    for (index, record) in (0..).zip(records) {
        if record.nanos < from {
            continue;
        }
        match shape(&record.event) {
            Shape::Slice(took) => marks.slice(index, record.nanos, took),
            Shape::Poll(took) => marks.poll(index, record.nanos, took),
            Shape::Instant => marks.push(index, record.nanos, Step::Instant),
            Shape::Elsewhere => {}
        }
    }
    marks.marks
}

struct Marks {
    marks: Vec<Mark>,
    /// Behind the last slice.
    slices: usize,
    /// Behind the last poll or slice.
    polls: usize,
}

impl Marks {
    fn push(&mut self, record: u32, nanos: u64, step: Step) {
        let last = self.marks.last().map_or(0, |mark| mark.nanos);
        self.marks.push(Mark { nanos: nanos.max(last), record, step });
    }

    /// Inserts a begin in front of the marks at `nanos` or later, but behind the first `after` marks, and into no poll.
    fn begin(&mut self, record: u32, nanos: u64, after: usize) {
        let (mut place, mut index, mut depth) = (self.marks.len(), self.marks.len(), 0);
        while index > after && self.marks[index - 1].nanos >= nanos {
            index -= 1;
            match self.marks[index].step {
                Step::End => depth += 1,
                Step::Begin => depth -= 1,
                Step::Instant => {}
            }
            if depth == 0 {
                place = index;
            }
        }
        let before = place.checked_sub(1).map_or(0, |before| self.marks[before].nanos);
        self.marks.insert(place, Mark { nanos: nanos.max(before), record, step: Step::Begin });
    }

    fn slice(&mut self, record: u32, nanos: u64, took: u64) {
        self.begin(record, nanos.saturating_sub(took), self.slices);
        self.push(record, nanos, Step::End);
        (self.slices, self.polls) = (self.marks.len(), self.marks.len());
    }

    fn poll(&mut self, record: u32, nanos: u64, took: u64) {
        self.begin(record, nanos.saturating_sub(took), self.polls);
        self.push(record, nanos, Step::End);
        self.polls = self.marks.len();
    }
}
