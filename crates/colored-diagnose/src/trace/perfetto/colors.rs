//! [`Colors`]: the tracks of the colors.
//!
//! What is on the track of a color rarely overlaps. Where it does, as the slices of readers and what a kept lane runs, it
//! goes to a further track of the same name, which the viewer draws as one.

use super::file::File;
use super::look::{Look, Name};
use super::sequence::Sequence;
use super::timeline::{Mark, Step};
use crate::trace::Event;
use crate::trace::snapshot::Snapshot;
use colored_core::Color;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::io;

/// What overlaps more than so often is moved up: at most so many run at once.
const ROWS: usize = 64;

/// The colors of a file.
pub(super) struct Colors {
    /// With a track each, the longest-running one first.
    shown: Vec<Lane>,
    others: Vec<Span>,
}

struct Lane {
    color: Color,
    ran: u64,
    spans: Vec<Span>,
    depths: Vec<(u64, u32)>,
}

#[derive(Clone, Copy)]
struct Span {
    begin: u64,
    end: u64,
    name: Name,
    color: Color,
}

enum Drawn {
    Begin(Span, u64),
    End(u64),
    Count(u64, u32),
}

impl Colors {
    /// The colors of these records: the longest-running ones, and all others.
    pub(super) fn new(
        snapshot: &Snapshot,
        timelines: &[Vec<Mark>],
        from: u64,
        shown: usize,
    ) -> Self {
        let mut lanes = HashMap::new();
        for (thread, marks) in timelines.iter().enumerate() {
            let records = &snapshot.threads[thread].records;
            let mut begins = Vec::new();
            for mark in marks {
                match mark.step {
                    Step::Begin => begins.push(mark.nanos),
                    Step::Instant => {}
                    Step::End => {
                        let begin = begins.pop().expect("marks nest");
                        let event = &records[mark.record as usize].event;
                        if let Event::Slice { color, queued, .. } = *event {
                            lane(&mut lanes, color).ran(thread, begin, mark.nanos, queued);
                        }
                    }
                }
            }
            for record in records.iter().filter(|record| record.nanos >= from) {
                match record.event {
                    Event::Kept { color, kept } => {
                        lane(&mut lanes, color).add(Name::Kept, record.nanos, kept);
                    }
                    Event::Depth { color, depth } => {
                        lane(&mut lanes, color).depths.push((record.nanos, depth));
                    }
                    _ => {}
                }
            }
        }
        let mut lanes: Vec<Lane> = lanes.into_values().collect();
        lanes.sort_by_key(|lane| (Reverse(lane.ran), lane.color));
        let others = lanes.split_off(shown.min(lanes.len()));
        let spans = others.into_iter().flat_map(|lane| lane.spans);
        let runs = |span: Span| {
            let name = Name::Color(span.color);
            matches!(span.name, Name::RunsOn(_)).then_some(Span { name, ..span })
        };
        Self { shown: lanes, others: spans.filter_map(runs).collect() }
    }

    /// The time of the first event.
    pub(super) fn start(&self) -> Option<u64> {
        let shown = self.shown.iter().flat_map(|lane| {
            let spans = lane.spans.iter().map(|span| span.begin);
            spans.chain(lane.depths.iter().map(|(nanos, _)| *nanos))
        });
        shown.chain(self.others.iter().map(|span| span.begin)).min()
    }

    /// Writes the tracks.
    pub(super) fn write(self, file: &mut File<'_, impl io::Write>, process: u64) -> io::Result<()> {
        if self.shown.is_empty() {
            return Ok(());
        }
        // Behind the threads.
        let group = file.track(process, "colors", file.snapshot.threads.len() as u64 + 1)?;
        for (rank, lane) in (1..).zip(self.shown) {
            let name = file.snapshot.text_of(lane.color);
            write_lane(file, (group, &name, rank), lane.spans, lane.depths)?;
        }
        if self.others.is_empty() {
            return Ok(());
        }
        write_lane(file, (group, "other colors", u32::MAX.into()), self.others, Vec::new())
    }
}

fn lane(lanes: &mut HashMap<Color, Lane>, color: Color) -> &mut Lane {
    let fresh = || Lane { color, ran: 0, spans: Vec::new(), depths: Vec::new() };
    lanes.entry(color).or_insert_with(fresh)
}

impl Lane {
    fn ran(&mut self, thread: usize, begin: u64, end: u64, queued: u64) {
        self.ran += end - begin;
        if queued > 0 {
            self.add(Name::Queued, begin, queued);
        }
        self.add(Name::RunsOn(thread), end, end - begin);
    }

    fn add(&mut self, name: Name, end: u64, took: u64) {
        let begin = end.saturating_sub(took);
        self.spans.push(Span { begin, end, name, color: self.color });
    }
}

/// The spans, each with its row. Spans of a row do not overlap.
fn rows(mut spans: Vec<Span>) -> Vec<(usize, Span)> {
    spans.sort_by_key(|span| (span.begin, span.end));
    // When the last span of each row ended.
    let mut ends: Vec<u64> = Vec::new();
    let place = |mut span: Span| {
        let free = ends.iter().position(|end| *end <= span.begin);
        let row = free.unwrap_or_else(|| {
            if ends.len() < ROWS {
                ends.push(0);
                return ends.len() - 1;
            }
            let first = ends.iter().enumerate().min_by_key(|(_, end)| **end);
            first.expect("there are rows").0
        });
        span.begin = span.begin.max(ends[row]);
        span.end = span.end.max(span.begin);
        ends[row] = span.end;
        (row, span)
    };
    spans.into_iter().map(place).collect()
}

fn write_lane(
    file: &mut File<'_, impl io::Write>,
    (group, name, rank): (u64, &str, u64),
    spans: Vec<Span>,
    depths: Vec<(u64, u32)>,
) -> io::Result<()> {
    let placed = rows(spans);
    let count = placed.iter().map(|(row, _)| row + 1).max().unwrap_or(0);
    // A color that has a depth only has a track for its name.
    let tracks = (0..count.max(1)).map(|_| file.track(group, name, rank));
    let tracks: Vec<u64> = tracks.collect::<io::Result<_>>()?;
    let depth = if depths.is_empty() { None } else { Some(file.counter(tracks[0], "depth")?) };
    let mut steps = Vec::with_capacity(2 * placed.len() + depths.len());
    for (row, span) in placed {
        steps.push((span.begin, Drawn::Begin(span, tracks[row])));
        steps.push((span.end, Drawn::End(tracks[row])));
    }
    steps.extend(depth.into_iter().flat_map(|track| {
        depths.iter().map(move |(nanos, depth)| (*nanos, Drawn::Count(track, *depth)))
    }));
    // Stable: on each track, what begins when something ends stays behind it.
    steps.sort_by_key(|(nanos, _)| *nanos);
    let mut sequence = Sequence::begin(file, tracks[0])?;
    let other = |track: u64| (track != tracks[0]).then_some(track);
    for (nanos, step) in steps {
        match step {
            Drawn::Begin(span, track) => {
                let look = Look::colored(span.name, span.color);
                sequence.slice(nanos, other(track), &look, &[])?;
            }
            Drawn::End(track) => sequence.end(nanos, other(track))?,
            Drawn::Count(track, depth) => sequence.count(nanos, track, depth.into())?,
        }
    }
    Ok(())
}
