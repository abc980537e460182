//! A reader of the files: as much of Perfetto's format as they use, and the checks that every file must pass.

use std::collections::{BTreeMap, BTreeSet};

/// A field of a message: its number, and its content.
enum Field<'a> {
    Number(u64, u64),
    Bytes(u64, &'a [u8]),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let (first, rest) = bytes.split_first().expect("a number ends");
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        shift += 7;
        if first & 0x80 == 0 {
            return value;
        }
    }
}

fn fields(mut bytes: &[u8]) -> Vec<Field<'_>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        fields.push(match tag & 7 {
            0 => Field::Number(tag >> 3, varint(&mut bytes)),
            1 => {
                let (value, rest) = bytes.split_first_chunk().expect("eight bytes");
                bytes = rest;
                Field::Number(tag >> 3, u64::from_le_bytes(*value))
            }
            2 => {
                let length = varint(&mut bytes) as usize;
                let (content, rest) = bytes.split_at(length);
                bytes = rest;
                Field::Bytes(tag >> 3, content)
            }
            other => panic!("wire type {other}"),
        });
    }
    fields
}

fn numbers(message: &[u8], wanted: u64) -> Vec<u64> {
    let number = |field: Field<'_>| match field {
        Field::Number(number, value) if number == wanted => Some(value),
        _ => None,
    };
    fields(message).into_iter().filter_map(number).collect()
}

fn number(message: &[u8], wanted: u64) -> Option<u64> {
    numbers(message, wanted).first().copied()
}

fn messages(message: &[u8], wanted: u64) -> Vec<&[u8]> {
    let content = |field| match field {
        Field::Bytes(number, value) if number == wanted => Some(value),
        _ => None,
    };
    fields(message).into_iter().filter_map(content).collect()
}

fn text(message: &[u8], wanted: u64) -> Option<String> {
    let bytes = *messages(message, wanted).first()?;
    Some(String::from_utf8(bytes.to_vec()).expect("UTF-8"))
}

#[derive(Debug, Default)]
pub(super) struct Track {
    pub(super) name: String,
    pub(super) parent: u64,
    is_counter: bool,
}

/// A slice, or an instant: then it begins where it ends.
#[derive(Clone, Debug, Default)]
pub(super) struct Slice {
    pub(super) track: u64,
    pub(super) name: String,
    pub(super) begin: u64,
    pub(super) end: u64,
    /// How many slices of the track are around it.
    pub(super) depth: usize,
    pub(super) correlation: Option<u64>,
    pub(super) numbers: BTreeMap<String, u64>,
    pub(super) is_instant: bool,
}

#[derive(Debug, Default)]
pub(super) struct Trace {
    pub(super) tracks: BTreeMap<u64, Track>,
    pub(super) slices: Vec<Slice>,
    pub(super) counts: Vec<(u64, u64, u64)>,
    /// By flow: when it begins, and when it ends.
    pub(super) flows: BTreeMap<u64, (u64, Option<u64>)>,
    pub(super) wall: Option<(u64, u64)>,
}

#[derive(Default)]
struct Sequence {
    nanos: u64,
    track: u64,
    names: BTreeMap<u64, String>,
    labels: BTreeMap<u64, String>,
}

impl Trace {
    /// Reads a file, and panics if a track does not nest or goes back, or if something is used that is not declared.
    pub(super) fn read(file: &[u8]) -> Self {
        let mut trace = Self::default();
        let mut sequences = BTreeMap::new();
        let mut open: BTreeMap<u64, Vec<Slice>> = BTreeMap::new();
        let mut last: BTreeMap<u64, u64> = BTreeMap::new();
        let mut ends = Vec::new();
        for packet in messages(file, 1) {
            let id = number(packet, 10).expect("each packet has a sequence");
            for descriptor in messages(packet, 60) {
                trace.describe(descriptor);
            }
            if let [snapshot] = messages(packet, 6)[..] {
                trace.clocks(packet, snapshot, (id, &mut sequences));
            }
            let [event] = messages(packet, 11)[..] else { continue };
            assert_eq!(number(packet, 13), Some(2), "an event needs the state of its sequence");
            let sequence: &mut Sequence = sequences.get_mut(&id).expect("the sequence has begun");
            sequence.nanos += number(packet, 8).expect("an event has a time");
            sequence.learn(packet);
            let track = number(event, 11).unwrap_or(sequence.track);
            let described = trace.tracks.get(&track).expect("the track is described");
            let before = last.insert(track, sequence.nanos).unwrap_or(0);
            assert!(before <= sequence.nanos, "the track {described:?} goes back");
            let open = open.entry(track).or_default();
            let kind = number(event, 9).expect("a kind");
            assert_eq!(
                kind == 4,
                described.is_counter,
                "{described:?} has an event of kind {kind}"
            );
            match kind {
                1 => open.push(sequence.slice(event, track, open.len())),
                2 => {
                    let slice = open.pop().expect("a slice that ends has begun");
                    trace.slices.push(Slice { end: sequence.nanos, ..slice });
                }
                3 => {
                    let slice = sequence.slice(event, track, open.len());
                    trace.slices.push(Slice { is_instant: true, ..slice });
                }
                4 => {
                    let value = number(event, 30).expect("a value");
                    trace.counts.push((track, sequence.nanos, value));
                }
                other => panic!("an event of kind {other}"),
            }
            for flow in numbers(event, 47) {
                let fresh = trace.flows.insert(flow, (sequence.nanos, None)).is_none();
                assert!(fresh && flow != 0, "flow {flow} begins twice");
            }
            ends.extend(numbers(event, 48).into_iter().map(|flow| (flow, sequence.nanos)));
        }
        assert!(open.values().all(Vec::is_empty), "a slice has no end");
        for (flow, nanos) in ends {
            let (begin, end) = trace.flows.get_mut(&flow).expect("a flow begins");
            assert!(*begin <= nanos, "flow {flow} goes back");
            assert!(end.replace(nanos).is_none(), "flow {flow} ends twice");
        }
        trace
    }

    fn describe(&mut self, descriptor: &[u8]) {
        let thread = messages(descriptor, 4).first().and_then(|thread| text(thread, 5));
        let process = messages(descriptor, 3).first().and_then(|process| text(process, 6));
        let track = Track {
            name: text(descriptor, 2).or(thread).or(process).expect("a track has a name"),
            parent: number(descriptor, 5).unwrap_or(0),
            is_counter: !messages(descriptor, 8).is_empty(),
        };
        assert!(track.parent == 0 || self.tracks.contains_key(&track.parent), "{track:?}");
        let uuid = number(descriptor, 1).expect("a uuid");
        assert!(self.tracks.insert(uuid, track).is_none(), "the track {uuid} is described twice");
    }

    fn clocks(
        &mut self,
        packet: &[u8],
        snapshot: &[u8],
        (id, sequences): (u64, &mut BTreeMap<u64, Sequence>),
    ) {
        let clocks: BTreeMap<_, _> = messages(snapshot, 1)
            .into_iter()
            .map(|clock| (number(clock, 1).expect("its number"), clock))
            .collect();
        let time = |clock| number(clocks[clock], 2).expect("its time");
        if let Some(wall) = clocks.get(&1) {
            self.wall = number(wall, 2).map(|wall| (time(&6), wall));
            return;
        }
        assert_eq!((time(&6), number(clocks[&64], 3)), (time(&64), Some(1)));
        assert_eq!(number(packet, 13), Some(1), "it begins a sequence");
        let defaults = messages(packet, 59)[0];
        assert_eq!(number(defaults, 58), Some(64));
        let track = number(messages(defaults, 11)[0], 11).expect("the track of the sequence");
        let fresh = Sequence { nanos: time(&64), track, ..Sequence::default() };
        assert!(sequences.insert(id, fresh).is_none(), "sequence {id} begins twice");
    }

    /// The tracks of this name.
    pub(super) fn named(&self, name: &str) -> BTreeSet<u64> {
        let tracks = self.tracks.iter().filter(|(_, track)| track.name == name);
        tracks.map(|(uuid, _)| *uuid).collect()
    }

    /// The slices and instants of the tracks of this name, by their begins.
    pub(super) fn on(&self, name: &str) -> Vec<Slice> {
        let tracks = self.named(name);
        let slices = self.slices.iter().filter(|slice| tracks.contains(&slice.track));
        let mut slices: Vec<_> = slices.cloned().collect();
        slices.sort_by_key(|slice| (slice.begin, slice.depth));
        slices
    }
}

impl Sequence {
    fn learn(&mut self, packet: &[u8]) {
        for interned in messages(packet, 12) {
            for (field, known) in [(2, &mut self.names), (3, &mut self.labels)] {
                for entry in messages(interned, field) {
                    let iid = number(entry, 1).expect("its number");
                    let fresh = known.insert(iid, text(entry, 2).expect("its text")).is_none();
                    assert!(fresh && iid != 0, "{iid} is interned twice");
                }
            }
        }
    }

    fn slice(&self, event: &[u8], track: u64, depth: usize) -> Slice {
        let label = |annotation: &[u8]| {
            let label = &self.labels[&number(annotation, 1).expect("its name")];
            (label.clone(), number(annotation, 3).expect("its value"))
        };
        Slice {
            track,
            name: self.names[&number(event, 10).expect("a name")].clone(),
            begin: self.nanos,
            end: self.nanos,
            depth,
            correlation: number(event, 52),
            numbers: messages(event, 4).into_iter().map(label).collect(),
            is_instant: false,
        }
    }
}
