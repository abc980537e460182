//! The store to which the handler writes: it outlives a consumer, as a database does.

use bytes::Bytes;
use colored::time::{Duration, sleep};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// How long a write takes.
const WRITE: Duration = Duration::from_millis(1);

/// An order for a share.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) share: usize,
    /// From 1 for each share.
    pub(crate) number: usize,
    pub(crate) text: String,
}

impl Order {
    pub(crate) fn encode(&self) -> Bytes {
        format!("{} {} {}", self.share, self.number, self.text).into()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Order {
        let text = std::str::from_utf8(bytes).expect("this program wrote it");
        let words: Vec<_> = text.splitn(3, ' ').collect();
        let [share, number, text] = words[..] else { panic!("this program wrote three words") };
        let read = |word: &str| word.parse().expect("this program wrote a number");
        Order { share: read(share), number: read(number), text: text.to_owned() }
    }
}

/// The number of the last order stored, for each share.
pub(crate) struct Store {
    last: Vec<AtomicUsize>,
    at_once: AtomicUsize,
    most_at_once: AtomicUsize,
    stored: AtomicUsize,
    again: AtomicUsize,
    early: AtomicUsize,
}

pub(crate) struct Counts {
    /// How many orders were handled at the same time, at most.
    pub(crate) most_at_once: usize,
    pub(crate) stored: usize,
    /// Orders that came when a later one, or they themselves, had been stored.
    pub(crate) again: usize,
    /// Orders that came before an earlier one was stored.
    pub(crate) early: usize,
}

impl Store {
    pub(crate) fn new(shares: usize) -> Arc<Store> {
        Arc::new(Store {
            last: (0..shares).map(|_| AtomicUsize::new(0)).collect(),
            at_once: AtomicUsize::new(0),
            most_at_once: AtomicUsize::new(0),
            stored: AtomicUsize::new(0),
            again: AtomicUsize::new(0),
            early: AtomicUsize::new(0),
        })
    }

    /// The handler. It has an await between its look at the row and its write, so it must be alone with its share. An
    /// order that was stored is left out: so each has its effect once, although it may come twice.
    pub(crate) async fn handle(&self, order: &Order) {
        let most = self.at_once.fetch_add(1, Relaxed) + 1;
        self.most_at_once.fetch_max(most, Relaxed);
        let row = &self.last[order.share];
        let last = row.load(Relaxed);
        if order.number <= last {
            self.again.fetch_add(1, Relaxed);
        } else {
            self.early.fetch_add(usize::from(order.number > last + 1), Relaxed);
            std::hint::black_box(&order.text);
            sleep(WRITE).await;
            row.store(order.number, Relaxed);
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
