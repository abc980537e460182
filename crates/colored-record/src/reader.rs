//! [`Reader`]: the events of one color, from their bytes.

use crate::bytes::{
    AGAIN, AGAIN_OUTSIDE, CLASS, FROM, MARK, PUSH, RANK, REPEAT, SUM, SUM_AFTER, Sum, UNKNOWN,
    VALUE, number, unfold,
};
use crate::damage::Damage;
use crate::event::{Event, Mark, Source, SourceKind, Turn, Value};
use crate::last::LastTurn;
use crate::ranks::Ranks;

/// Reads the bytes of one color.
#[derive(Debug)]
pub struct Reader {
    bytes: Vec<u8>,
    at: usize,
    sources: Ranks<Source>,
    tasks: Ranks<u32>,
    last: LastTurn,
    /// How often the last turn still comes again with its events.
    repeats: u64,
    /// How many of its events have come this time.
    again: usize,
    clock: u64,
    sum: Sum,
    until_sum: u32,
    /// The event that has been looked at.
    next: Option<Event>,
    /// Turns that have been taken.
    turns: u64,
}

impl Reader {
    /// Reads these bytes, which a [`Writer`](crate::Writer) made.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            at: 0,
            sources: Ranks::default(),
            tasks: Ranks::default(),
            last: LastTurn::default(),
            repeats: 0,
            again: 0,
            clock: 0,
            sum: Sum::new(),
            until_sum: SUM_AFTER,
            next: None,
            turns: 0,
        }
    }

    /// How many turns have been taken.
    #[must_use]
    pub fn turns(&self) -> u64 {
        self.turns
    }

    /// The next event, which stays; `None` at the end.
    ///
    /// # Errors
    ///
    /// If the bytes are no events.
    pub fn peek(&mut self) -> Result<Option<Event>, Damage> {
        if self.next.is_none() {
            self.next = self.read()?;
        }
        Ok(self.next)
    }

    /// Takes the next event; `None` at the end.
    ///
    /// # Errors
    ///
    /// As for [`peek`](Self::peek).
    pub fn take(&mut self) -> Result<Option<Event>, Damage> {
        let event = self.peek()?;
        self.next = None;
        if let Some(Event::Turn(_)) = event {
            self.turns += 1;
        }
        Ok(event)
    }

    fn read(&mut self) -> Result<Option<Event>, Damage> {
        loop {
            if self.repeats > 0 {
                return self.repeat().map(Some);
            }
            let Some(byte) = self.bytes.get(self.at).copied() else { return Ok(None) };
            let start = self.at;
            self.at += 1;
            let event = match byte & CLASS {
                PUSH => {
                    let source = self.source(byte & RANK)?;
                    self.turn(start, Turn::Push(source))?
                }
                class @ (AGAIN | AGAIN_OUTSIDE) => {
                    let task = self.task(byte & RANK)?;
                    let outside = class == AGAIN_OUTSIDE;
                    self.turn(start, Turn::Again { task, outside })?
                }
                _ => match self.other(byte)? {
                    Some(event) => event,
                    None => continue,
                },
            };
            self.last.note(event);
            return Ok(Some(event));
        }
    }

    /// The next event of a turn that comes again.
    fn repeat(&mut self) -> Result<Event, Damage> {
        let last = self.last.events();
        let event = *last.get(self.again).ok_or(Damage::Corrupt)?;
        self.again += 1;
        if self.again == last.len() {
            self.again = 0;
            self.repeats -= 1;
        }
        if let Event::Turn(_) = event {
            self.count_turn()?;
        }
        Ok(event)
    }

    /// `None` for what is no event, and has changed what comes next.
    fn other(&mut self, byte: u8) -> Result<Option<Event>, Damage> {
        match byte {
            REPEAT => {
                self.repeats = self.number()?;
                if self.repeats == 0 || self.repeats >= u64::from(SUM_AFTER) {
                    return Err(Damage::Corrupt);
                }
                Ok(None)
            }
            // `count_turn` reads it.
            SUM => Err(Damage::Corrupt),
            FROM => {
                let rank = self.byte()?;
                Ok(Some(Event::From(self.source(rank)?)))
            }
            MARK.. => {
                let mark = Mark::ALL.get(usize::from((byte - MARK) / 2)).ok_or(Damage::Corrupt)?;
                Ok(Some(Event::Mark(*mark, (byte - MARK) % 2 == 1)))
            }
            VALUE.. => {
                let value = *Value::ALL.get(usize::from(byte - VALUE)).ok_or(Damage::Corrupt)?;
                let mut number = self.number()?;
                if value == Value::Clock {
                    self.clock = self.clock.wrapping_add(unfold(number).cast_unsigned());
                    number = self.clock;
                }
                Ok(Some(Event::Value(value, number)))
            }
            _ => Err(Damage::Corrupt),
        }
    }

    fn turn(&mut self, start: usize, turn: Turn) -> Result<Event, Damage> {
        self.bytes[start..self.at].iter().for_each(|byte| self.sum.add(*byte));
        self.count_turn()?;
        Ok(Event::Turn(turn))
    }

    fn count_turn(&mut self) -> Result<(), Damage> {
        self.until_sum -= 1;
        if self.until_sum > 0 {
            return Ok(());
        }
        self.until_sum = SUM_AFTER;
        let bytes: [u8; 4] = match self.bytes.get(self.at + 1..self.at + 5) {
            Some(bytes) if self.bytes[self.at] == SUM && self.repeats == 0 => {
                bytes.try_into().map_err(|_| Damage::Corrupt)?
            }
            _ => return Err(Damage::Corrupt),
        };
        self.at += 5;
        if u32::from_le_bytes(bytes) == self.sum.get() { Ok(()) } else { Err(Damage::Corrupt) }
    }

    fn byte(&mut self) -> Result<u8, Damage> {
        let byte = *self.bytes.get(self.at).ok_or(Damage::Corrupt)?;
        self.at += 1;
        Ok(byte)
    }

    fn number(&mut self) -> Result<u64, Damage> {
        let (number, taken) = number(&self.bytes[self.at..]).ok_or(Damage::Corrupt)?;
        self.at += taken;
        Ok(number)
    }

    fn source(&mut self, rank: u8) -> Result<Source, Damage> {
        if rank != UNKNOWN {
            return self.sources.find(rank).ok_or(Damage::Corrupt);
        }
        let kind = SourceKind::from_byte(self.byte()?).ok_or(Damage::Corrupt)?;
        let source = Source { kind, number: self.number()? };
        self.sources.insert(source);
        Ok(source)
    }

    fn task(&mut self, rank: u8) -> Result<u32, Damage> {
        if rank != UNKNOWN {
            return self.tasks.find(rank).ok_or(Damage::Corrupt);
        }
        let task = u32::try_from(self.number()?).map_err(|_| Damage::Corrupt)?;
        self.tasks.insert(task);
        Ok(task)
    }
}
