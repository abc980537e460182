//! The consumer, and the three ways to keep messages apart.

use crate::log::{Log, Message};
use crate::store::Store;
use colored::limit::Permit;
use colored::sync::Mutex;
use colored::{Color, JoinHandle, Limit, exclusive, spawn_colored, spawn_unique};
use colored_examples::Failure;
use std::collections::VecDeque;
use std::sync::Arc;

/// How many messages the consumer takes from the log at a time.
const BATCH: usize = 50;

#[derive(Clone)]
pub(crate) enum Way {
    OneColor,
    MutexPerKey(Arc<[Mutex<()>]>),
    ColorPerKey,
}

#[derive(Clone)]
pub(crate) struct Consumer {
    pub(crate) log: Arc<Log>,
    pub(crate) store: Arc<Store>,
    pub(crate) way: Way,
    /// How many messages may be taken from the log and not handled.
    pub(crate) in_flight: usize,
}

impl Consumer {
    /// Handles the messages before this place. At the end of the log it waits for all; before, it stops at once.
    /// Returns how many were in flight at most.
    pub(crate) async fn consume(self, until: usize) -> Result<usize, Failure> {
        let Consumer { log, store, way, in_flight } = self;
        let limit = Limit::new("in flight", in_flight);
        let (mut committed, mut most) = (log.committed(), 0);
        let mut next = committed;
        // In the order of the log. What is finished behind a slow message stays here.
        let mut handling: VecDeque<JoinHandle<()>> = VecDeque::new();
        loop {
            let batch = log.read(next, BATCH.min(until - next));
            for message in batch {
                // Waits while as many as the limit allows are in flight.
                let permit = limit.reserve().await?;
                most = most.max(limit.depth());
                handling.push_back(way.spawn(permit, &store, message));
            }
            next += batch.len();
            let is_end = log.read(next, 1).is_empty();
            while handling.front().is_some_and(|first| is_end || first.is_finished()) {
                let Some(first) = handling.pop_front() else { break };
                first.await?;
                committed += 1;
            }
            log.commit(committed);
            if next == until {
                return Ok(most);
            }
        }
    }
}

impl Way {
    pub(crate) fn mutexes(keys: usize) -> Way {
        Way::MutexPerKey((0..keys).map(|_| Mutex::new(())).collect())
    }

    /// Handles the message in a task that keeps the permit. A task holds its color across the await by `exclusive`.
    fn spawn(&self, permit: Permit, store: &Arc<Store>, message: &Message) -> JoinHandle<()> {
        let (store, message) = (Arc::clone(store), message.clone());
        match self {
            Way::OneColor => spawn_colored("all keys", async move {
                exclusive(store.handle(&message)).await;
                drop(permit);
            }),
            Way::MutexPerKey(mutexes) => {
                let mutexes = Arc::clone(mutexes);
                spawn_unique(async move {
                    let _guard = mutexes[message.key].lock().await;
                    store.handle(&message).await;
                    drop(permit);
                })
            }
            Way::ColorPerKey => spawn_colored(Color::of(("key", message.key)), async move {
                exclusive(store.handle(&message)).await;
                drop(permit);
            }),
        }
    }
}
