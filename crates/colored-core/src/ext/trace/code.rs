//! A record in four words.
//!
//! | word | content |
//! |---|---|
//! | 0 | the time |
//! | 1 | the subject: number of a color, or of a task |
//! | 2 | a duration, a second color, or a second task |
//! | 3 | bits 0 to 6 the kind; bits 7 and 8 the kind of the color; bits 9 to 63 one or two small numbers |
//!
//! Every record fits, so none can be torn between two entries. No word of a record is 0 in all bits: a kind is not 0.

use super::event::{Event, Record};
use crate::ext::leaf;
use crate::kernel::color::{Color, ColorKind};
use crate::kernel::task::Id;
use std::panic::Location;

/// A record as a ring keeps it: half a cache line.
pub(super) type Words = [u64; 4];

const SLICE: u64 = 1;
const STEAL: u64 = 2;
const PARKED: u64 = 3;
const IO: u64 = 4;
const TIMERS: u64 = 5;
const KEPT: u64 = 6;
const LONG_POLL: u64 = 7;
const POLL: u64 = 8;
const WAKE: u64 = 9;
const SPAWN: u64 = 10;
const END: u64 = 11;
const HOP: u64 = 12;
const POST: u64 = 13;
const CALL: u64 = 14;
const DEPTH: u64 = 15;

const KINDS: u64 = 0x7f;
/// The lowest bit of the color's kind in the last word.
const COLOR_KIND: u32 = 7;
/// The lowest bit of the small numbers in the last word.
const ARGUMENT: u32 = 9;
const ARGUMENT_BITS: u32 = 64 - ARGUMENT;
/// How many bits the polls of a slice take. Its time in the queue has the bits above them.
const POLL_BITS: u32 = 15;

/// The number, or the largest number that fits into so many bits, if that is smaller.
const fn saturated(number: u64, bits: u32) -> u64 {
    let largest = (1 << bits) - 1;
    if number < largest { number } else { largest }
}

const fn last(kind: u64, argument: u64) -> u64 {
    kind | argument << ARGUMENT
}

const fn last_of(kind: u64, color: Color, argument: u64) -> u64 {
    last(kind, argument) | (color.kind() as u64) << COLOR_KIND
}

fn number(task: Option<Id>) -> u64 {
    task.map_or(0, Id::get)
}

/// One more than the number of a place; 0 if it has none.
fn number_of(site: Option<&'static Location<'static>>) -> u64 {
    site.and_then(leaf::site_number).map_or(0, |number| u64::from(number) + 1)
}

fn place(number: u64) -> Option<&'static Location<'static>> {
    leaf::site_of(u16::try_from(number.checked_sub(1)?).ok()?)
}

/// The words of a record.
#[inline]
pub(super) fn encode(record: Record) -> Words {
    let [subject, second, last] = match record.event {
        Event::Slice { color, ran, queued, polls } => {
            let polls = saturated(polls.into(), POLL_BITS);
            let queued = saturated(queued, ARGUMENT_BITS - POLL_BITS);
            [color.number(), ran, last_of(SLICE, color, queued << POLL_BITS | polls)]
        }
        Event::Steal { color, from } => [color.number(), 0, last_of(STEAL, color, from.into())],
        Event::Parked { slept } => [0, slept, last(PARKED, 0)],
        Event::Io { took, events } => [0, took, last(IO, events.into())],
        Event::Timers { took, fired } => [0, took, last(TIMERS, fired.into())],
        Event::Kept { color, kept } => [color.number(), kept, last_of(KEPT, color, 0)],
        Event::LongPoll { color, ran, task } => {
            let ran = saturated(ran, ARGUMENT_BITS);
            [color.number(), number(task), last_of(LONG_POLL, color, ran)]
        }
        Event::Depth { color, depth } => [color.number(), 0, last_of(DEPTH, color, depth.into())],
        Event::Poll { task, ran } => [task.get(), ran, last(POLL, 0)],
        Event::Wake { by, task } => [task.get(), number(by), last(WAKE, 0)],
        Event::Spawn { by, task, site } => [task.get(), number(by), last(SPAWN, number_of(site))],
        Event::End { task } => [task.get(), 0, last(END, 0)],
        Event::Hop { task, to } => [task.get(), to.number(), last_of(HOP, to, 0)],
        Event::Post { color } => [color.number(), 0, last_of(POST, color, 0)],
        Event::Call { color } => [color.number(), 0, last_of(CALL, color, 0)],
    };
    [record.nanos, subject, second, last]
}

/// The record of these words; none if they are the words of no record.
pub(super) fn decode([nanos, subject, second, last]: Words) -> Option<Record> {
    let argument = last >> ARGUMENT;
    // An argument that was encoded from 16 or 32 bits fits again.
    let small = argument as u32;
    let kind = ColorKind::from_u8((last >> COLOR_KIND & 3) as u8);
    let color = |number| Color::from_parts(kind, number);
    let event = match last & KINDS {
        SLICE => Event::Slice {
            color: color(subject),
            ran: second,
            queued: argument >> POLL_BITS,
            polls: small & ((1 << POLL_BITS) - 1),
        },
        STEAL => Event::Steal { color: color(subject), from: argument as u16 },
        PARKED => Event::Parked { slept: second },
        IO => Event::Io { took: second, events: small },
        TIMERS => Event::Timers { took: second, fired: small },
        KEPT => Event::Kept { color: color(subject), kept: second },
        LONG_POLL => {
            Event::LongPoll { color: color(subject), ran: argument, task: Id::from_number(second) }
        }
        DEPTH => Event::Depth { color: color(subject), depth: small },
        POLL => Event::Poll { task: Id::from_number(subject)?, ran: second },
        WAKE => Event::Wake { by: Id::from_number(second), task: Id::from_number(subject)? },
        SPAWN => Event::Spawn {
            by: Id::from_number(second),
            task: Id::from_number(subject)?,
            site: place(argument),
        },
        END => Event::End { task: Id::from_number(subject)? },
        HOP => Event::Hop { task: Id::from_number(subject)?, to: color(second) },
        POST => Event::Post { color: color(subject) },
        CALL => Event::Call { color: color(subject) },
        _ => return None,
    };
    Some(Record { nanos, event })
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::*;

    fn task(number: u64) -> Id {
        Id::from_number(number).expect("not 0")
    }

    fn again(event: Event) -> Event {
        let record = Record { nanos: u64::MAX - 3, event };
        let decoded = decode(encode(record)).expect("it is a record");
        assert_eq!(decoded.nanos, record.nanos);
        decoded.event
    }

    /// One of each kind, with the largest numbers that fit.
    fn each() -> Vec<Event> {
        let plain = Color::new(u64::MAX);
        let unique = Color::from_parts(ColorKind::Unique, u64::MAX);
        let (one, other) = (task(u64::MAX), task(1));
        vec![
            Event::Slice { color: plain, ran: u64::MAX, queued: (1 << 40) - 1, polls: 0x7fff },
            Event::Slice { color: unique, ran: 0, queued: 0, polls: 0 },
            Event::Steal { color: unique, from: u16::MAX },
            Event::Parked { slept: u64::MAX },
            Event::Io { took: u64::MAX, events: u32::MAX },
            Event::Timers { took: u64::MAX, fired: u32::MAX },
            Event::Kept { color: unique, kept: u64::MAX },
            Event::LongPoll { color: plain, ran: (1 << 55) - 1, task: Some(one) },
            Event::LongPoll { color: unique, ran: 1, task: None },
            Event::Depth { color: unique, depth: u32::MAX },
            Event::Poll { task: one, ran: u64::MAX },
            Event::Wake { by: Some(other), task: one },
            Event::Wake { by: None, task: other },
            Event::Spawn { by: Some(one), task: other, site: Some(Location::caller()) },
            Event::Spawn { by: None, task: one, site: None },
            Event::End { task: one },
            Event::Hop { task: other, to: unique },
            Event::Hop { task: one, to: Color::DEFAULT },
            Event::Post { color: plain },
            Event::Post { color: Color::new(0) },
            Event::Post { color: Color::DEFAULT },
            Event::Call { color: unique },
        ]
    }

    #[test]
    fn every_kind_is_what_it_was() {
        for event in each() {
            assert_eq!(again(event), event);
        }
    }

    #[test]
    fn numbers_that_are_too_large_are_kept_as_the_largest() {
        let color = Color::new(7);
        let slice = Event::Slice { color, ran: 5, queued: 1 << 40, polls: 0x8000 };
        let largest = Event::Slice { color, ran: 5, queued: (1 << 40) - 1, polls: 0x7fff };
        assert_eq!(again(slice), largest);
        let poll = Event::LongPoll { color, ran: u64::MAX, task: None };
        assert_eq!(again(poll), Event::LongPoll { color, ran: (1 << 55) - 1, task: None });
    }

    #[test]
    fn words_of_no_record_are_none() {
        assert_eq!(decode([0; 4]), None);
        assert_eq!(decode([1, 1, 1, KINDS]), None);
        assert_eq!(decode([1, 0, 1, POLL]), None, "no task has the number 0");
    }
}
