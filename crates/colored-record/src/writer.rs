//! [`Writer`]: the events of one color, as bytes.

use crate::bytes::{
    AGAIN, AGAIN_OUTSIDE, FROM, MARK, PUSH, REPEAT, SUM, SUM_AFTER, Sum, UNKNOWN, VALUE, fold,
    put_number,
};
use crate::event::{Event, Mark, Source, Turn, Value};
use crate::last::LastTurn;
use crate::ranks::Ranks;

/// Makes the bytes of one color.
#[derive(Debug)]
pub struct Writer {
    bytes: Vec<u8>,
    sources: Ranks<Source>,
    tasks: Ranks<u32>,
    last: LastTurn,
    /// How often the last turn came again with all its events, which is not written yet.
    repeats: u64,
    /// How many of its events have come once more since.
    again: usize,
    clock: u64,
    sum: Sum,
    until_sum: u32,
}

impl Default for Writer {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            sources: Ranks::default(),
            tasks: Ranks::default(),
            last: LastTurn::default(),
            repeats: 0,
            again: 0,
            clock: 0,
            sum: Sum::new(),
            until_sum: SUM_AFTER,
        }
    }
}

impl Writer {
    /// How many bytes [`take`](Self::take) would return, but for some ten.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether [`take`](Self::take) would return nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.repeats == 0 && self.again == 0
    }

    /// Takes the bytes so far. The next ones go on behind them.
    pub fn take(&mut self) -> Vec<u8> {
        self.end_repeats();
        std::mem::take(&mut self.bytes)
    }

    /// Adds an event.
    #[inline]
    pub fn add(&mut self, event: Event) {
        if let Event::Turn(_) = event {
            self.add_turn(event);
        } else if self.again > 0 && self.last.events().get(self.again) == Some(&event) {
            self.again += 1;
        } else {
            self.end_repeats();
            self.put(event);
        }
    }

    #[inline]
    fn add_turn(&mut self, event: Event) {
        let last = self.last.events();
        if self.again > 0 && self.again == last.len() {
            self.repeats += 1;
            self.again = 0;
        }
        if self.again == 0 && last.first() == Some(&event) {
            self.again = 1;
        } else {
            self.end_repeats();
            self.put(event);
        }
        self.until_sum -= 1;
        if self.until_sum == 0 {
            self.put_sum();
        }
    }

    fn put(&mut self, event: Event) {
        self.put_bytes(event);
        self.last.note(event);
    }

    fn put_bytes(&mut self, event: Event) {
        match event {
            Event::Turn(turn) => self.put_turn(turn),
            other => self.put_other(other),
        }
    }

    fn put_turn(&mut self, turn: Turn) {
        let at = self.bytes.len();
        match turn {
            Turn::Push(source) => match self.sources.name(source) {
                Some(rank) => self.bytes.push(PUSH | rank),
                None => {
                    self.bytes.push(PUSH | UNKNOWN);
                    self.put_source(source);
                }
            },
            Turn::Again { task, outside } => {
                let class = if outside { AGAIN_OUTSIDE } else { AGAIN };
                match self.tasks.name(task) {
                    Some(rank) => self.bytes.push(class | rank),
                    None => {
                        self.bytes.push(class | UNKNOWN);
                        put_number(&mut self.bytes, u64::from(task));
                    }
                }
            }
        }
        self.bytes[at..].iter().for_each(|byte| self.sum.add(*byte));
    }

    #[cold]
    fn put_source(&mut self, source: Source) {
        self.bytes.push(source.kind as u8);
        put_number(&mut self.bytes, source.number);
    }

    fn put_other(&mut self, event: Event) {
        match event {
            Event::Turn(_) => unreachable!("a turn is no other event"),
            Event::Mark(mark, yes) => self.bytes.push(byte_of(mark) | u8::from(yes)),
            Event::Value(Value::Clock, now) => {
                let difference = now.wrapping_sub(self.clock).cast_signed();
                self.clock = now;
                self.bytes.push(VALUE | Value::Clock as u8);
                put_number(&mut self.bytes, fold(difference));
            }
            Event::Value(value, number) => {
                self.bytes.push(VALUE | value as u8);
                put_number(&mut self.bytes, number);
            }
            Event::From(source) => {
                self.bytes.push(FROM);
                match self.sources.name(source) {
                    Some(rank) => self.bytes.push(rank),
                    None => {
                        self.bytes.push(UNKNOWN);
                        self.put_source(source);
                    }
                }
            }
        }
    }

    /// Writes what has come again.
    #[inline]
    fn end_repeats(&mut self) {
        if self.again > 0 || self.repeats > 0 {
            self.put_repeats();
        }
    }

    fn put_repeats(&mut self) {
        if self.again == self.last.events().len() {
            self.repeats += 1;
            self.again = 0;
        }
        match (std::mem::take(&mut self.repeats), self.last.events()) {
            (0, _) => {}
            // One byte, for the thing was named last.
            (1, [turn]) => self.put_bytes(*turn),
            (repeats, _) => {
                self.bytes.push(REPEAT);
                put_number(&mut self.bytes, repeats);
            }
        }
        let again = std::mem::take(&mut self.again);
        if again > 0 {
            (0..again).for_each(|at| self.put_bytes(self.last.events()[at]));
            self.last.truncate(again);
        }
    }

    #[cold]
    fn put_sum(&mut self) {
        self.until_sum = SUM_AFTER;
        self.end_repeats();
        self.bytes.push(SUM);
        self.bytes.extend(self.sum.get().to_le_bytes());
    }
}

fn byte_of(mark: Mark) -> u8 {
    MARK + 2 * (mark as u8)
}
