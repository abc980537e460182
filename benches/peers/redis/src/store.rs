//! The values: behind one lock or 64, under 64 colors, or under one.

use crate::resp::{Answer, Command};
use bytes::{Bytes, BytesMut};
use colored::{Color, ColorCell};
use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Shards of the stores that have several.
const SHARDS: usize = 64;

/// A command that reads or changes one value.
#[derive(Debug)]
pub(crate) struct Operation {
    key: Bytes,
    what: What,
}

#[derive(Debug)]
enum What {
    Get,
    Set(Bytes),
    Increment,
    Delete,
}

/// What a command asks for.
pub(crate) enum Asked {
    /// An operation on a value.
    Of(Operation),
    /// Something that needs none.
    Known(Answer),
}

impl Asked {
    pub(crate) fn by(command: &Command) -> Self {
        let operation = |key: &Bytes, what| Self::Of(Operation { key: key.clone(), what });
        let name = command.first().map(|name| name.to_ascii_uppercase()).unwrap_or_default();
        match (&name[..], &command[..]) {
            (b"GET", [_, key]) => operation(key, What::Get),
            (b"SET", [_, key, value]) => operation(key, What::Set(value.clone())),
            (b"INCR", [_, key]) => operation(key, What::Increment),
            (b"DEL", [_, key]) => operation(key, What::Delete),
            (b"PING", _) => Self::Known(Answer::Pong),
            (b"CONFIG", _) => Self::Known(Answer::Empty),
            _ => Self::Known(Answer::Error("ERR GET, SET, INCR, DEL and PING are known")),
        }
    }
}

/// The values of one shard.
#[derive(Debug, Default)]
pub(crate) struct Shard {
    values: HashMap<Bytes, Bytes>,
    /// What each operation computes beside its work.
    compute: Duration,
}

impl Shard {
    fn new(compute: Duration) -> Self {
        Self { compute, ..Self::default() }
    }

    fn apply(&mut self, operation: Operation) -> Answer {
        let Operation { key, what } = operation;
        if !self.compute.is_zero() {
            let begin = Instant::now();
            while begin.elapsed() < self.compute {}
        }
        match what {
            What::Get => self.values.get(&key).cloned().map_or(Answer::Nothing, Answer::Value),
            What::Set(value) => {
                // A copy of its own: a slice would keep the whole buffer that it came in.
                match self.values.get_mut(&key) {
                    Some(place) => *place = Bytes::copy_from_slice(&value),
                    None => {
                        let (key, value) =
                            (Bytes::copy_from_slice(&key), Bytes::copy_from_slice(&value));
                        self.values.insert(key, value);
                    }
                }
                Answer::Ok
            }
            What::Increment => {
                let old = self.values.get(&key).and_then(|value| std::str::from_utf8(value).ok());
                let new =
                    old.and_then(|text| text.parse::<i64>().ok()).unwrap_or(0).wrapping_add(1);
                self.values.insert(Bytes::copy_from_slice(&key), new.to_string().into());
                Answer::Number(new)
            }
            What::Delete => Answer::Number(i64::from(self.values.remove(&key).is_some())),
        }
    }
}

impl Shard {
    /// Appends the answer to a command, of which the operation has been taken out.
    fn answer(&mut self, asked: Asked, output: &mut BytesMut) {
        match asked {
            Asked::Of(operation) => self.apply(operation),
            Asked::Known(answer) => answer,
        }
        .write(output);
    }
}

/// A store that all connections share.
pub(crate) trait Store: Clone + Send + Sync + 'static {
    /// Answers the commands of one read, in their order, behind what is in `output`.
    fn answer(
        &self,
        commands: Vec<Asked>,
        output: BytesMut,
    ) -> impl Future<Output = BytesMut> + Send;
}

fn shard_of(key: &Bytes) -> usize {
    BuildHasherDefault::<DefaultHasher>::new().hash_one(key) as usize % SHARDS
}

/// Behind locks.
#[derive(Clone)]
pub(crate) struct Locks(Arc<[Mutex<Shard>]>);

impl Locks {
    pub(crate) fn one(compute: Duration) -> Self {
        Self(Arc::new([Mutex::new(Shard::new(compute))]))
    }

    pub(crate) fn several(compute: Duration) -> Self {
        Self((0..SHARDS).map(|_| Mutex::new(Shard::new(compute))).collect())
    }
}

impl Store for Locks {
    async fn answer(&self, commands: Vec<Asked>, mut output: BytesMut) -> BytesMut {
        for command in commands {
            match command {
                Asked::Of(operation) => {
                    let shard = &self.0[shard_of(&operation.key) % self.0.len()];
                    let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
                    shard.apply(operation).write(&mut output);
                }
                Asked::Known(answer) => answer.write(&mut output),
            }
        }
        output
    }
}

/// Under colors, with a call for each command.
#[derive(Clone)]
pub(crate) struct Colors(Arc<[ColorCell<Shard>]>);

impl Colors {
    pub(crate) fn new(compute: Duration) -> Self {
        Self((0..SHARDS).map(|_| ColorCell::new(Color::unique(), Shard::new(compute))).collect())
    }
}

impl Store for Colors {
    async fn answer(&self, commands: Vec<Asked>, mut output: BytesMut) -> BytesMut {
        for command in commands {
            match command {
                Asked::Of(operation) => {
                    let shard = &self.0[shard_of(&operation.key)];
                    shard.call(move |shard| shard.apply(operation)).await.write(&mut output);
                }
                Asked::Known(answer) => answer.write(&mut output),
            }
        }
        output
    }
}

/// Under one color, with a call for all commands of a read.
#[derive(Clone)]
pub(crate) struct Batches(ColorCell<Shard>);

impl Batches {
    pub(crate) fn new(compute: Duration) -> Self {
        Self(ColorCell::new(Color::unique(), Shard::new(compute)))
    }
}

impl Store for Batches {
    async fn answer(&self, commands: Vec<Asked>, mut output: BytesMut) -> BytesMut {
        let all = move |shard: &mut Shard| {
            commands.into_iter().for_each(|command| shard.answer(command, &mut output));
            output
        };
        self.0.call(all).await
    }
}
