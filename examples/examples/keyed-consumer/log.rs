//! The log: messages in the order in which they were written, and how far the consumer is.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

#[derive(Clone)]
pub(crate) struct Message {
    pub(crate) key: usize,
    /// From 1 for each key.
    pub(crate) number: usize,
    pub(crate) text: String,
}

pub(crate) struct Log {
    messages: Vec<Message>,
    committed: AtomicUsize,
}

impl Log {
    /// So many messages, with keys by chance that are the same in each run.
    pub(crate) fn new(messages: usize, keys: usize) -> Log {
        let mut chance = fastrand::Rng::with_seed(1);
        let mut numbers = vec![0; keys];
        let message = |n| {
            let key = chance.usize(..keys);
            numbers[key] += 1;
            Message { key, number: numbers[key], text: format!("message {n}, ").repeat(400) }
        };
        Log { messages: (0..messages).map(message).collect(), committed: AtomicUsize::new(0) }
    }

    /// The next messages from this place on, at most so many.
    pub(crate) fn read(&self, from: usize, most: usize) -> &[Message] {
        let rest = self.messages.get(from..).unwrap_or_default();
        &rest[..most.min(rest.len())]
    }

    /// All messages before this place are handled.
    pub(crate) fn commit(&self, place: usize) {
        self.committed.store(place, Relaxed);
    }

    pub(crate) fn committed(&self) -> usize {
        self.committed.load(Relaxed)
    }
}
