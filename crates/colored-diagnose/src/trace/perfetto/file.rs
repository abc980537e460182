//! [`File`]: packets of a trace, and descriptors of tracks.

use super::proto::Message;
use crate::trace::snapshot::{self, Snapshot};
use colored_core::Color;
use std::collections::{BTreeSet, HashMap};
use std::io;

/// Perfetto's names for clocks: `CLOCK_REALTIME`, and the one of the trace.
const REALTIME: u64 = 1;
const BOOTTIME: u64 = 6;
/// The first number that belongs to a sequence.
const INCREMENTAL: u64 = 64;

/// Children are drawn in the order of their ranks.
const EXPLICIT: u64 = 3;

const BLOCK: usize = 64 << 10;

/// A trace that is being written.
pub(super) struct File<'a, W> {
    pub(super) snapshot: &'a Snapshot,
    /// No event of the file is older.
    pub(super) start: u64,
    /// The correlation ids: small numbers in place of the colors' own ones, which would take ten bytes.
    colors: HashMap<Color, u64>,
    tracks: u64,
    sequences: u64,
    message: Message,
    out: &'a mut W,
}

impl<'a, W: io::Write> File<'a, W> {
    pub(super) fn new(snapshot: &'a Snapshot, start: u64, out: &'a mut W) -> Self {
        let records = snapshot.threads.iter().flat_map(|thread| &thread.records);
        let colors: BTreeSet<_> =
            records.filter_map(|record| snapshot::color(&record.event)).collect();
        let colors = colors.into_iter().zip(1..).collect();
        Self { snapshot, start, colors, tracks: 0, sequences: 0, message: Message::default(), out }
    }

    pub(super) fn correlation(&self, color: Color) -> u64 {
        self.colors.get(&color).copied().unwrap_or(0)
    }

    /// Writes a packet.
    pub(super) fn packet(&mut self, write: impl FnOnce(&mut Message)) -> io::Result<()> {
        self.message.message(1, write);
        if self.message.bytes().len() >= BLOCK { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(self.message.bytes())?;
        self.message.clear();
        Ok(())
    }

    /// The last packet tells the wall clock.
    pub(super) fn finish(mut self) -> io::Result<()> {
        let ended = self.snapshot.ended.max(self.start);
        let wall = u64::try_from(self.snapshot.wall.as_nanos()).unwrap_or(u64::MAX);
        self.packet(|packet| {
            packet.message(6, |snapshot| {
                clock(snapshot, BOOTTIME, ended, false);
                clock(snapshot, REALTIME, wall, false);
                snapshot.number(2, BOOTTIME);
            });
            packet.number(10, 1);
        })?;
        self.flush()
    }

    /// Begins a packet sequence whose events are on this track, unless they name another one. Returns its number.
    pub(super) fn sequence(&mut self, track: u64) -> io::Result<u64> {
        self.sequences += 1;
        // The first number is that of the packets outside of all sequences.
        let (number, start) = (self.sequences + 1, self.start);
        self.packet(|packet| {
            packet.message(6, |snapshot| {
                clock(snapshot, BOOTTIME, start, false);
                clock(snapshot, INCREMENTAL, start, true);
                snapshot.number(2, BOOTTIME);
            });
            packet.number(10, number);
            packet.number(13, 1);
            packet.message(59, |defaults| {
                defaults.message(11, |events| events.number(11, track));
                defaults.number(58, INCREMENTAL);
            });
        })?;
        Ok(number)
    }

    fn descriptor(&mut self, write: impl FnOnce(&mut Message)) -> io::Result<u64> {
        self.tracks += 1;
        let uuid = self.tracks;
        self.packet(|packet| {
            packet.number(10, 1);
            packet.message(60, |track| {
                track.number(1, uuid);
                write(track);
            });
        })?;
        Ok(uuid)
    }

    pub(super) fn process(&mut self) -> io::Result<u64> {
        self.descriptor(|track| {
            track.message(3, |process| {
                process.number(1, 1);
                process.text(6, "colored");
            });
            track.number(11, EXPLICIT);
        })
    }

    pub(super) fn thread(&mut self, process: u64, thread: usize) -> io::Result<u64> {
        let name = &self.snapshot.threads[thread].name;
        self.descriptor(|track| {
            track.number(5, process);
            track.number(12, thread as u64 + 1);
            track.message(4, |descriptor| {
                descriptor.number(1, 1);
                // The thread with the number of the process would be its main thread.
                descriptor.number(2, thread as u64 + 2);
                descriptor.text(5, name);
            });
        })
    }

    /// A track whose children are drawn in the order of their ranks.
    pub(super) fn track(&mut self, parent: u64, name: &str, rank: u64) -> io::Result<u64> {
        self.descriptor(|track| {
            track.number(5, parent);
            track.text(2, name);
            track.number(11, EXPLICIT);
            track.number(12, rank);
        })
    }

    /// A track of numbers.
    pub(super) fn counter(&mut self, parent: u64, name: &str) -> io::Result<u64> {
        self.descriptor(|track| {
            track.number(5, parent);
            track.text(2, name);
            track.message(8, |_| ());
        })
    }
}

fn clock(snapshot: &mut Message, clock: u64, nanos: u64, is_incremental: bool) {
    snapshot.message(1, |message| {
        message.number(1, clock);
        message.number(2, nanos);
        if is_incremental {
            message.number(3, 1);
        }
    });
}
