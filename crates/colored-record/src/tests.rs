//! What is written is read, and what is damaged is an error.

use crate::{Damage, Event, File, Mark, Reader, Source, SourceKind, Turn, Value, Writer};
use crate::{end, head, put_block};

/// xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % bound
    }

    fn source(&mut self, sources: u64) -> Source {
        let kind = SourceKind::from_byte(self.below(8) as u8).expect("there are eight");
        let number = self.below(sources) << (8 * self.below(8));
        Source { kind, number }
    }

    fn event(&mut self, sources: u64, turns: u64) -> Event {
        if self.below(100) < turns {
            return Event::Turn(match self.below(3) {
                0 => Turn::Push(self.source(sources)),
                _ => Turn::Again {
                    task: self.below(sources * 3) as u32,
                    outside: self.below(8) == 0,
                },
            });
        }
        match self.below(4) {
            0 => Event::From(self.source(sources)),
            1 => Event::Value(Value::Clock, self.below(u64::MAX)),
            2 => Event::Value(Value::Random, self.below(u64::MAX)),
            _ => Event::Mark(Mark::ALL[self.below(10) as usize], self.below(2) == 1),
        }
    }
}

fn events(seed: u64) -> Vec<Event> {
    let mut random = Random(seed | 1);
    let bits = random.below(9);
    let sources = 1 + random.below(1 << bits);
    let turns = [5, 50, 95, 100][random.below(4) as usize];
    let (mut events, many) = (Vec::new(), random.below(2_000) as usize);
    while events.len() < many {
        events.push(random.event(sources, turns));
        if random.below(20) == 0 {
            // What has been comes again, perhaps many times.
            let from = events.len() - 1 - random.below(events.len().min(20) as u64) as usize;
            let last = events[from..].to_vec();
            (0..random.below(40)).for_each(|_| events.extend_from_slice(&last));
        }
    }
    events
}

fn read(mut reader: Reader) -> Result<Vec<Event>, Damage> {
    let mut events = Vec::new();
    while let Some(event) = reader.take()? {
        events.push(event);
    }
    Ok(events)
}

const COLOR: Source = Source { kind: SourceKind::Numbered, number: 7 };
/// The seed of a file of two kilobytes with all kinds of events.
const SMALL: u64 = 38;
const OTHER: Source = Source { kind: SourceKind::Default, number: 0 };

/// Two colors, in blocks of random lengths.
fn file(seed: u64) -> (Vec<u8>, [Vec<Event>; 2]) {
    let both = [events(seed), events(seed + 1_000_000)];
    let (mut bytes, mut blocks, mut random) = (head(), 0, Random(seed | 1));
    let mut writers = [Writer::default(), Writer::default()];
    for at in 0..both[0].len().max(both[1].len()) {
        for (index, color) in [COLOR, OTHER].into_iter().enumerate() {
            both[index].get(at).into_iter().for_each(|event| writers[index].add(*event));
            if random.below(100) == 0 {
                put_block(&mut bytes, color, &writers[index].take());
                blocks += 1;
            }
        }
    }
    for (mut writer, color) in writers.into_iter().zip([COLOR, OTHER]) {
        put_block(&mut bytes, color, &writer.take());
        assert!(writer.is_empty());
        blocks += 1;
    }
    bytes.extend(end(blocks));
    (bytes, both)
}

#[test]
fn events_come_back_whatever_they_are_and_wherever_blocks_end() {
    for seed in 1..300 {
        let (bytes, both) = file(seed);
        let mut file = File::parse(&bytes).unwrap_or_else(|damage| panic!("seed {seed}: {damage}"));
        assert_eq!(file.colors().count(), 2);
        assert_eq!(read(file.take(COLOR)).as_ref(), Ok(&both[0]), "seed {seed}");
        assert_eq!(read(file.take(OTHER)).as_ref(), Ok(&both[1]), "seed {seed}");
        assert_eq!(read(file.take(OTHER)), Ok(Vec::new()), "it has been taken");
    }
}

/// The file is from x86-64, which is little-endian; the tests run on s390x too, which is big-endian.
/// `COLORED_WRITE_FORMATS=1` writes it again, where the format has changed.
#[test]
fn a_record_has_the_same_bytes_on_every_machine() {
    let kept = include_bytes!("tests/small.record");
    let (bytes, both) = file(SMALL);
    if std::env::var_os("COLORED_WRITE_FORMATS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tests/small.record");
        return std::fs::write(path, bytes).expect("the tree can be written");
    }
    assert_eq!(bytes, kept, "written here, and on x86-64");
    let mut file = File::parse(kept).expect("it is whole");
    assert_eq!(read(file.take(COLOR)).as_ref(), Ok(&both[0]));
    assert_eq!(read(file.take(OTHER)).as_ref(), Ok(&both[1]));
}

#[test]
fn a_turn_takes_a_byte_and_equal_turns_less() {
    let sources: Vec<Source> =
        (0..50).map(|number| Source { kind: SourceKind::Numbered, number }).collect();
    let (mut writer, mut random) = (Writer::default(), Random(5));
    for _ in 0..10_000 {
        let source = sources[random.below(50) as usize];
        writer.add(Event::Turn(Turn::Push(source)));
        writer.add(Event::Turn(Turn::Again { task: random.below(3) as u32, outside: false }));
    }
    let bytes = writer.take().len();
    assert!(bytes < 20_600, "{bytes} bytes for 20,000 turns");
    (0..10_000).for_each(|_| writer.add(Event::Turn(Turn::Push(sources[0]))));
    let bytes = writer.take().len();
    assert!(bytes < 400, "{bytes} bytes for 10,000 equal turns");
}

#[test]
fn equal_turns_with_equal_events_take_next_to_nothing() {
    let message = [
        Event::Turn(Turn::Again { task: 0, outside: false }),
        Event::From(OTHER),
        Event::Mark(Mark::Open, true),
        Event::Mark(Mark::Receive, false),
    ];
    let mut writer = Writer::default();
    (0..10_000).for_each(|_| message.into_iter().for_each(|event| writer.add(event)));
    let bytes = writer.take().len();
    assert!(bytes < 600, "{bytes} bytes for 10,000 messages");
}

#[test]
fn each_truncated_record_is_an_error() {
    for seed in 1..20 {
        let (bytes, _) = file(seed);
        for length in (0..bytes.len()).step_by(if seed == 1 { 1 } else { 37 }) {
            let damage = File::parse(&bytes[..length]).expect_err("its end is missing");
            let expected = if length == 0 { Damage::Foreign } else { Damage::Truncated };
            assert_eq!(damage, expected, "seed {seed}, {length} of {} bytes", bytes.len());
        }
    }
}

#[test]
fn each_changed_byte_is_an_error() {
    for seed in 1..20 {
        let (bytes, _) = file(seed);
        let mut random = Random(seed + 77);
        for _ in 0..300 {
            let (at, flip) = (random.below(bytes.len() as u64) as usize, 1 + random.below(255));
            let mut changed = bytes.clone();
            changed[at] ^= flip as u8;
            assert!(File::parse(&changed).is_err(), "seed {seed}: byte {at} of {}", bytes.len());
        }
    }
}

#[test]
fn something_else_is_foreign_and_another_version_is_named() {
    assert_eq!(File::parse(b"#!/bin/sh\necho a program\n").unwrap_err(), Damage::Foreign);
    assert_eq!(File::parse(b"").unwrap_err(), Damage::Foreign);
    let (mut bytes, _) = file(3);
    bytes[15] = 9;
    let damage = File::parse(&bytes).unwrap_err();
    assert_eq!(damage, Damage::Version { found: 9, known: 2 });
    assert!(damage.to_string().contains("version 9"));
}

/// Bytes that pass the checksum of their block, and are no events, are an error and no panic.
#[test]
fn random_bytes_are_an_error_or_events() {
    let mut random = Random(11);
    let mut errors = 0;
    for _ in 0..20_000 {
        let bytes: Vec<u8> = (0..random.below(60)).map(|_| random.below(256) as u8).collect();
        errors += u32::from(read(Reader::new(bytes)).is_err());
    }
    assert!(errors > 15_000, "{errors} of 20,000");
}

#[test]
fn a_look_takes_nothing() {
    let mut writer = Writer::default();
    let turn = Event::Turn(Turn::Push(COLOR));
    writer.add(turn);
    writer.add(Event::Mark(Mark::Join, true));
    let mut reader = Reader::new(writer.take());
    assert_eq!(reader.peek(), Ok(Some(turn)));
    assert_eq!(reader.turns(), 0);
    assert_eq!(reader.take(), Ok(Some(turn)));
    assert_eq!(reader.turns(), 1);
    assert_eq!(reader.peek(), Ok(Some(Event::Mark(Mark::Join, true))));
    assert_eq!(reader.take(), Ok(Some(Event::Mark(Mark::Join, true))));
    assert_eq!(reader.peek(), Ok(None));
}
