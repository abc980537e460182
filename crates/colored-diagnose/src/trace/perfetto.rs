//! A snapshot as a file of Perfetto's TrackEvent protobuf.
//!
//! | track | content |
//! |---|---|
//! | one for each thread | slices named by their color, and in them polls named by their task; turns of the I/O driver and the timers; parks; all else as instants |
//! | "colors": one for each of the longest-running ones | when the color was queued, ran, and was kept; its depth |
//! | "colors": "other colors" | the slices of all others |
//!
//! Each thread and each color has a packet sequence of its own, with interned names and an incremental clock
//! (`sequence.rs`). All events of one color have one correlation id. A wake is an instant, and a flow leads from it to the
//! poll that it has caused (`flows.rs`).
//!
//! The ring's order is the truth within a thread. Where a time contradicts it, the later event is moved up
//! (`timeline.rs`).

mod colors;
mod file;
mod flows;
mod look;
mod proto;
mod sequence;
mod timeline;

use super::snapshot::Snapshot;
use colors::Colors;
use file::File;
use flows::Flows;
use look::{Label, Look, Name};
use sequence::Sequence;
use std::io;
use timeline::{Mark, Step};

/// How large a file may become, and how many colors have a track.
#[derive(Clone, Copy)]
struct Limits {
    bytes: u64,
    colors: usize,
}

/// The page that shows the file needs two to four times its size, and has 2 GB at most.
const LIMITS: Limits = Limits { bytes: 256 << 20, colors: 64 };

/// More than a record takes, unless names are very long. A file with so few records that it cannot exceed its limit is not
/// measured first.
const MOST_OF_A_RECORD: u64 = 512;

impl Snapshot {
    /// Writes the snapshot as a file for <https://ui.perfetto.dev>: a track for each thread, and one for each of the 64
    /// colors that ran longest. Equal snapshots give equal bytes.
    ///
    /// The file has at most 256 MB. If that is not enough for all records, it has the newest ones, and a track
    /// "cut" says how many are missing. Costs about 100 bytes of memory for each record meanwhile; the bytes are written
    /// in blocks of 64 KiB.
    ///
    /// # Errors
    ///
    /// The errors of `out`.
    pub fn write_perfetto(&self, out: &mut impl io::Write) -> io::Result<()> {
        write(self, LIMITS, out)
    }
}

fn write(snapshot: &Snapshot, limits: Limits, out: &mut impl io::Write) -> io::Result<()> {
    let all: u64 = snapshot.threads.iter().map(|thread| thread.records.len() as u64).sum();
    let mut keep = all;
    while keep.saturating_mul(MOST_OF_A_RECORD) > limits.bytes {
        let mut size = Size(0);
        write_newest(snapshot, limits.colors, all - keep, &mut size)?;
        if size.0 <= limits.bytes {
            break;
        }
        // Names are written once, so the size is not proportional; the loop looks again.
        keep = keep * limits.bytes / size.0 * 9 / 10;
    }
    write_newest(snapshot, limits.colors, all - keep, out)
}

/// Only counts.
struct Size(u64);

impl io::Write for Size {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The time before which at least so many records ended: the oldest ones.
fn time_after(snapshot: &Snapshot, oldest: u64) -> u64 {
    if oldest == 0 {
        return 0;
    }
    let records = snapshot.threads.iter().flat_map(|thread| &thread.records);
    let mut times: Vec<_> = records.map(|record| record.nanos).collect();
    let place = usize::try_from(oldest - 1).expect("a number of records in memory");
    *times.select_nth_unstable(place).1 + 1
}

fn write_newest(
    snapshot: &Snapshot,
    colors: usize,
    oldest: u64,
    out: &mut impl io::Write,
) -> io::Result<()> {
    let from = time_after(snapshot, oldest);
    let timelines: Vec<Vec<Mark>> =
        snapshot.threads.iter().map(|thread| timeline::marks(&thread.records, from)).collect();
    let flows = Flows::new(snapshot, &timelines);
    let colors = Colors::new(snapshot, &timelines, from, colors);
    let start = timelines.iter().flatten().map(|mark| mark.nanos).min();
    let start = start.into_iter().chain(colors.start()).min().unwrap_or(snapshot.ended);
    let mut file = File::new(snapshot, start, out);
    let process = file.process()?;
    write_cut(&mut file, process, from)?;
    for (thread, marks) in timelines.iter().enumerate() {
        write_thread(&mut file, process, thread, marks, (&flows, from))?;
    }
    colors.write(&mut file, process)?;
    file.finish()
}

/// How many records of each thread are left out of the file.
fn left_out(snapshot: &Snapshot, thread: usize, from: u64) -> u64 {
    snapshot.threads[thread].records.iter().filter(|record| record.nanos < from).count() as u64
}

/// A track that says what is missing.
fn write_cut(file: &mut File<'_, impl io::Write>, process: u64, from: u64) -> io::Result<()> {
    if from == 0 {
        return Ok(());
    }
    let left_out =
        (0..file.snapshot.threads.len()).map(|thread| left_out(file.snapshot, thread, from));
    let left_out = left_out.sum();
    let track = file.track(process, "cut", 0)?;
    let mut sequence = Sequence::begin(file, track)?;
    let look = Look::new(Name::Cut).with(Label::LeftOut, left_out);
    sequence.instant(sequence.start(), &look, &[])
}

fn write_thread(
    file: &mut File<'_, impl io::Write>,
    process: u64,
    thread: usize,
    marks: &[Mark],
    (flows, from): (&Flows, u64),
) -> io::Result<()> {
    let snapshot = file.snapshot;
    let trace = &snapshot.threads[thread];
    let track = file.thread(process, thread)?;
    let mut sequence = Sequence::begin(file, track)?;
    let left_out = left_out(snapshot, thread, from);
    if trace.overwritten + trace.dropped + left_out > 0 {
        let nanos = marks.first().map_or(snapshot.ended.max(sequence.start()), |mark| mark.nanos);
        let look = Look::new(Name::Lost)
            .with(Label::Overwritten, trace.overwritten)
            .with(Label::Dropped, trace.dropped)
            .with(Label::LeftOut, left_out);
        sequence.instant(nanos, &look, &[])?;
    }
    for mark in marks {
        let event = &trace.records[mark.record as usize].event;
        match mark.step {
            Step::Begin => {
                let ends = flows.to(thread, mark.record);
                sequence.slice(mark.nanos, None, &Look::of(event), ends)?;
            }
            Step::End => sequence.end(mark.nanos, None)?,
            Step::Instant => {
                let flow = flows.from(thread, mark.record);
                sequence.instant(mark.nanos, &Look::of(event), flow.as_slice())?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
