//! `buffer_unordered` as people write it where keys have an order: a set of futures, and a queue for each key whose record
//! is being handled. All of it is one task.

use super::progress::Progress;
use super::{AT_ONCE, Batches, Work};
use crate::executors::Timed;
use colored_consumer::Record;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Records that wait for the one before them, by key.
type Queues = HashMap<bytes::Bytes, VecDeque<Record>>;

pub(super) async fn consume(
    on: impl Timed,
    mut batches: Batches,
    work: Work,
    progress: Arc<Progress>,
) {
    let (mut queues, mut ready, mut running) =
        (Queues::new(), VecDeque::new(), FuturesUnordered::new());
    let mut is_open = true;
    while is_open || !running.is_empty() {
        tokio::select! {
            Some(record) = running.next(), if !running.is_empty() => {
                progress.finish(&record);
                ready.extend(next_of_key(&mut queues, &record));
            }
            batch = batches.recv(), if is_open => match batch {
                Some(records) => {
                    let first = records.into_iter().filter_map(|record| put(&mut queues, record));
                    ready.extend(first);
                }
                None => is_open = false,
            },
        }
        while running.len() < AT_ONCE
            && let Some(record) = ready.pop_front()
        {
            running.push(async move {
                work.run(on).await;
                record
            });
        }
    }
}

/// Puts a record into the queue of its key, or returns it if none of its key is under way.
fn put(queues: &mut Queues, record: Record) -> Option<Record> {
    match queues.entry(record.key.clone().expect("it has a key")) {
        Entry::Occupied(mut queue) => {
            queue.get_mut().push_back(record);
            None
        }
        Entry::Vacant(place) => {
            place.insert(VecDeque::new());
            Some(record)
        }
    }
}

/// The record of the key that comes after one that is done.
fn next_of_key(queues: &mut Queues, done: &Record) -> Option<Record> {
    let key = done.key.as_ref()?;
    let next = queues.get_mut(key)?.pop_front();
    if next.is_none() {
        queues.remove(key);
    }
    next
}
