//! [`Sequence`]: the events of one packet sequence, in the order of their times.

use super::file::File;
use super::look::{Look, Name};
use super::proto::Message;
use std::collections::HashMap;
use std::io;

/// Kinds of events.
const BEGIN: u64 = 1;
const END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER: u64 = 4;

/// Events with interned names and times that count from the event before.
pub(super) struct Sequence<'f, 'a, W> {
    file: &'f mut File<'a, W>,
    number: u64,
    nanos: u64,
    names: HashMap<Name, u64>,
    labels: u32,
}

impl<'f, 'a, W: io::Write> Sequence<'f, 'a, W> {
    /// Begins a sequence whose events are on this track.
    pub(super) fn begin(file: &'f mut File<'a, W>, track: u64) -> io::Result<Self> {
        let number = file.sequence(track)?;
        let nanos = file.start;
        Ok(Self { file, number, nanos, names: HashMap::new(), labels: 0 })
    }

    /// The time at which the file begins.
    pub(super) fn start(&self) -> u64 {
        self.file.start
    }

    /// The begin of a slice, at which flows begin, and others end.
    pub(super) fn slice(
        &mut self,
        nanos: u64,
        track: Option<u64>,
        look: &Look,
        ends: &[u64],
    ) -> io::Result<()> {
        self.named((BEGIN, nanos, track), look, (&[], ends))
    }

    pub(super) fn end(&mut self, nanos: u64, track: Option<u64>) -> io::Result<()> {
        self.event(nanos, |_| (), |event| head(event, END, track))
    }

    /// An instant, at which flows begin.
    pub(super) fn instant(&mut self, nanos: u64, look: &Look, flows: &[u64]) -> io::Result<()> {
        self.named((INSTANT, nanos, None), look, (flows, &[]))
    }

    pub(super) fn count(&mut self, nanos: u64, track: u64, value: u64) -> io::Result<()> {
        let write = |event: &mut Message| {
            head(event, COUNTER, Some(track));
            event.number(30, value);
        };
        self.event(nanos, |_| (), write)
    }

    fn named(
        &mut self,
        (kind, nanos, track): (u64, u64, Option<u64>),
        look: &Look,
        (begins, ends): (&[u64], &[u64]),
    ) -> io::Result<()> {
        let fresh = self.names.len() as u64 + 1;
        let name = *self.names.entry(look.name).or_insert(fresh);
        let text = (name == fresh).then(|| look.name.text(self.file.snapshot));
        let numbers = look.numbers.iter().flatten();
        let labels = numbers.clone().filter(|(label, _)| self.labels & 1 << *label as u32 == 0);
        let labels: Vec<_> = labels.map(|(label, _)| *label).collect();
        for label in &labels {
            self.labels |= 1 << *label as u32;
        }
        let color = look.color.map(|color| self.file.correlation(color));
        let interned = |packet: &mut Message| {
            if text.is_none() && labels.is_empty() {
                return;
            }
            packet.message(12, |interned| {
                if let Some(text) = &text {
                    entry(interned, 2, name, text);
                }
                for label in &labels {
                    entry(interned, 3, *label as u64, label.text());
                }
            });
        };
        self.event(nanos, interned, |event| {
            head(event, kind, track);
            event.number(10, name);
            for (label, number) in numbers {
                event.message(4, |annotation| {
                    annotation.number(1, *label as u64);
                    annotation.number(3, *number);
                });
            }
            if let Some(color) = color {
                event.number(52, color);
            }
            begins.iter().for_each(|flow| event.fixed64(47, *flow));
            ends.iter().for_each(|flow| event.fixed64(48, *flow));
        })
    }

    fn event(
        &mut self,
        nanos: u64,
        interned: impl FnOnce(&mut Message),
        write: impl FnOnce(&mut Message),
    ) -> io::Result<()> {
        debug_assert!(nanos >= self.nanos, "an event at {nanos}, after one at {}", self.nanos);
        let since = nanos.saturating_sub(self.nanos);
        self.nanos = nanos;
        let number = self.number;
        self.file.packet(|packet| {
            packet.number(8, since);
            packet.number(10, number);
            interned(packet);
            packet.message(11, write);
            packet.number(13, 2);
        })
    }
}

fn head(event: &mut Message, kind: u64, track: Option<u64>) {
    event.number(9, kind);
    if let Some(track) = track {
        event.number(11, track);
    }
}

fn entry(interned: &mut Message, field: u64, number: u64, text: &str) {
    interned.message(field, |entry| {
        entry.number(1, number);
        entry.text(2, text);
    });
}
