//! The calls that have come and their replies: a call that comes again is not executed again.

use colored::time::{Duration, Instant};
use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hasher};
use std::net::SocketAddr;
use std::sync::Arc;

/// What a call costs beside the bytes of its reply: two entries of tables, about.
const OVERHEAD: usize = 200;

/// The name of a call: who has made it, and its number.
pub(super) type Key = (SocketAddr, u32);

/// The name of a call among those that had the same key.
pub(super) type Generation = u64;

/// What a call is that has come.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It comes for the first time.
    No(Generation),
    /// Its handler runs.
    InProgress,
    /// It has this reply.
    Done(Arc<[u8]>),
}

pub(super) struct ReplyCache {
    entries: HashMap<Key, Entry>,
    /// Those with a reply, the oldest first.
    done: VecDeque<(Instant, Key, Generation)>,
    bytes: usize,
    in_progress: usize,
    generation: Generation,
    most_bytes: usize,
    age: Duration,
}

struct Entry {
    generation: Generation,
    /// Of the whole call: a client may use a number again, for another call.
    digest: u64,
    reply: Option<Arc<[u8]>>,
}

impl ReplyCache {
    pub(super) fn new(most_bytes: usize, age: Duration) -> Self {
        Self {
            entries: HashMap::new(),
            done: VecDeque::new(),
            bytes: 0,
            in_progress: 0,
            generation: 0,
            most_bytes,
            age,
        }
    }

    /// The calls that are executed.
    pub(super) fn in_progress(&self) -> usize {
        self.in_progress
    }

    /// The bytes of the replies that are kept, with their overhead.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// A call has come. If it comes for the first time, it is in progress from now on.
    pub(super) fn begin(&mut self, key: Key, call: &[u8], now: Instant) -> Known {
        self.remove_old(now);
        let digest = digest(call);
        match self.entries.get(&key) {
            Some(entry) if entry.digest == digest => match &entry.reply {
                None => return Known::InProgress,
                Some(reply) => return Known::Done(Arc::clone(reply)),
            },
            Some(entry) => self.remove(key, entry.generation),
            None => {}
        }
        self.generation += 1;
        self.in_progress += 1;
        let entry = Entry { generation: self.generation, digest, reply: None };
        self.entries.insert(key, entry);
        Known::No(self.generation)
    }

    /// A call in progress has its reply.
    pub(super) fn finish(
        &mut self,
        key: Key,
        generation: Generation,
        reply: Arc<[u8]>,
        now: Instant,
    ) {
        self.in_progress -= 1;
        let entry = self.entries.get_mut(&key);
        // Another call has the number by now.
        let Some(entry) = entry.filter(|entry| entry.generation == generation) else { return };
        self.bytes += reply.len() + OVERHEAD;
        entry.reply = Some(reply);
        self.done.push_back((now, key, generation));
        self.remove_old(now);
    }

    fn remove_old(&mut self, now: Instant) {
        while let Some((since, key, generation)) = self.done.front().copied() {
            if self.bytes <= self.most_bytes && now.duration_since(since) < self.age {
                break;
            }
            self.done.pop_front();
            self.remove(key, generation);
        }
    }

    /// Removes a call, unless another one has its key.
    fn remove(&mut self, key: Key, generation: Generation) {
        if self.entries.get(&key).is_some_and(|entry| entry.generation == generation) {
            let reply = self.entries.remove(&key).and_then(|entry| entry.reply);
            self.bytes -= reply.map_or(0, |reply| reply.len() + OVERHEAD);
        }
    }
}

fn digest(call: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(call);
    hasher.finish()
}
