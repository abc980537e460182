//! The store to which the handler writes: it outlives a consumer, as a database does.

use crate::log::Message;
use colored::time::{Duration, sleep};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// How long a write takes.
const WRITE: Duration = Duration::from_millis(1);

/// The number of the last message stored, for each key.
pub(crate) struct Store {
    last: Vec<AtomicUsize>,
    at_once: AtomicUsize,
    most_at_once: AtomicUsize,
    stored: AtomicUsize,
    again: AtomicUsize,
    early: AtomicUsize,
}

pub(crate) struct Counts {
    /// How many messages were handled at the same time, at most.
    pub(crate) most_at_once: usize,
    pub(crate) stored: usize,
    /// Messages that came when a later one, or they themselves, had been stored.
    pub(crate) again: usize,
    /// Messages that came before an earlier one was stored.
    pub(crate) early: usize,
}

impl Store {
    pub(crate) fn new(keys: usize) -> Store {
        Store {
            last: (0..keys).map(|_| AtomicUsize::new(0)).collect(),
            at_once: AtomicUsize::new(0),
            most_at_once: AtomicUsize::new(0),
            stored: AtomicUsize::new(0),
            again: AtomicUsize::new(0),
            early: AtomicUsize::new(0),
        }
    }

    /// The handler. It has an await between its look at the row and its write, so it must be alone with its key.
    pub(crate) async fn handle(&self, message: &Message) {
        let most = self.at_once.fetch_add(1, Relaxed) + 1;
        self.most_at_once.fetch_max(most, Relaxed);
        let row = &self.last[message.key];
        let last = row.load(Relaxed);
        if message.number <= last {
            self.again.fetch_add(1, Relaxed);
        } else {
            self.early.fetch_add(usize::from(message.number > last + 1), Relaxed);
            std::hint::black_box(digest(&message.text));
            sleep(WRITE).await;
            row.store(message.number, Relaxed);
            self.stored.fetch_add(1, Relaxed);
        }
        self.at_once.fetch_sub(1, Relaxed);
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts {
            most_at_once: self.most_at_once.load(Relaxed),
            stored: self.stored.load(Relaxed),
            again: self.again.load(Relaxed),
            early: self.early.load(Relaxed),
        }
    }
}

/// FNV-1a: the handler's own work.
fn digest(text: &str) -> u64 {
    let next = |sum: u64, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, next)
}
