//! What is written by hand on a bare stream of `rdkafka` in place of ours. Each keeps the order of a key, handles at most
//! [`AT_ONCE`] records at a time and commits the low-water marks twice a second. None has a map of what is done above them,
//! bounds what it holds by partition, tries again, or hands over in a rebalance.

use crate::contestants::{AT_ONCE, Board, Client, HELD, subscribe, unsubscribe};
use crate::measure::{Took, Work};
use colored::sync::{Semaphore, mpsc};
use colored::time::{Duration, sleep};
use colored_engines_proof::kafka::Kafka;
use futures_util::StreamExt;
use futures_util::future::{Either, select};
use futures_util::stream::FuturesUnordered;
use rdkafka::Message;
use rdkafka::consumer::{CommitMode, Consumer};
use rdkafka::message::{BorrowedMessage, OwnedMessage};
use rdkafka::{Offset, TopicPartitionList};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// As ours does it by default.
const COMMIT_EVERY: Duration = Duration::from_millis(500);

/// Handles a topic in one of the ways, from its first record on.
pub(crate) fn handle(kafka: &Kafka, name: &str, topic: &str, count: u64, work: Work) -> Took {
    let (config, topic, name) = (kafka.config(), topic.to_owned(), name.to_owned());
    crate::contestants::runtime(2).run(async move {
        let client = Arc::new(subscribe(config, &topic));
        let board = Arc::new(Board::new(count));
        let commits = colored::spawn_unique(commit(Arc::clone(&client), Arc::clone(&board), topic));
        match &*name {
            "partitions" => by_partition(&client, &board, work).await,
            "queues" => by_queues(&client, &board, work).await,
            "actors" => by_actors(&client, &board, work).await,
            other => unreachable!("{other} is none of the names"),
        }
        let took = board.wait().await;
        commits.abort();
        // It was aborted.
        let _ = commits.await;
        unsubscribe(client);
        took
    })
}

async fn commit(client: Arc<Client>, board: Arc<Board>, topic: String) {
    loop {
        sleep(COMMIT_EVERY).await;
        let mut list = TopicPartitionList::new();
        for (partition, low) in board.lows() {
            list.add_partition_offset(&topic, partition, Offset::Offset(low)).expect("an offset");
        }
        if list.count() > 0 {
            client.commit(&list, CommitMode::Async).expect("it is in its group");
        }
    }
}

fn taken(record: rdkafka::error::KafkaResult<BorrowedMessage<'_>>, board: &Board) -> OwnedMessage {
    board.begin();
    record.expect("the broker works").detach()
}

/// Waits while too much is held.
async fn wait_for_room(board: &Board, read: u64) {
    while read - board.done() >= HELD as u64 {
        sleep(Duration::from_millis(1)).await;
    }
}

/// A task for each partition, which handles its records one after the other.
async fn by_partition(client: &Client, board: &Arc<Board>, work: Work) {
    let (mut tasks, mut stream) = (HashMap::new(), client.stream());
    for read in 0..board.count {
        wait_for_room(board, read).await;
        let record = taken(stream.next().await.expect("it never ends"), board);
        let task = tasks.entry(record.partition()).or_insert_with(|| {
            let (task, mut own) = mpsc::unbounded_channel::<OwnedMessage>();
            let board = Arc::clone(board);
            let _detached = colored::spawn_unique(async move {
                while let Some(record) = own.recv().await {
                    work.run().await;
                    board.finish(&record);
                }
            });
            task
        });
        assert!(task.send(record).is_ok(), "the task takes all");
    }
}

/// A task for each key, with a mailbox, which lives to the end. A semaphore bounds how many handle at a time.
async fn by_actors(client: &Client, board: &Arc<Board>, work: Work) {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let (mut actors, mut stream) = (HashMap::new(), client.stream());
    for read in 0..board.count {
        wait_for_room(board, read).await;
        let record = taken(stream.next().await.expect("it never ends"), board);
        let key = record.key().expect("it has a key");
        if !actors.contains_key(key) {
            let (actor, mut mailbox) = mpsc::unbounded_channel::<OwnedMessage>();
            let (board, places) = (Arc::clone(board), Arc::clone(&places));
            let _detached = colored::spawn_unique(async move {
                while let Some(record) = mailbox.recv().await {
                    let place = places.acquire().await.expect("it is never closed");
                    work.run().await;
                    drop(place);
                    board.finish(&record);
                }
            });
            actors.insert(key.to_vec(), actor);
        }
        assert!(actors[key].send(record).is_ok(), "the actor takes all");
    }
}

/// Records that wait for the one before them, by key.
type Queues = HashMap<Vec<u8>, VecDeque<OwnedMessage>>;

/// `buffer_unordered` as people write it where keys have an order: a set of futures, and a queue for each key whose record
/// is being handled. All of it is one task.
async fn by_queues(client: &Client, board: &Board, work: Work) {
    let (mut stream, mut read) = (client.stream(), 0);
    let (mut queues, mut ready, mut running) =
        (Queues::new(), VecDeque::new(), FuturesUnordered::new());
    loop {
        let can_read = read < board.count && read - board.done() < HELD as u64;
        if !can_read && running.is_empty() {
            return;
        }
        let next = match (can_read, running.is_empty()) {
            (true, true) => Either::Left(stream.next().await),
            (true, false) => match select(stream.next(), running.next()).await {
                Either::Left((record, _)) => Either::Left(record),
                Either::Right((done, _)) => Either::Right(done),
            },
            (false, _) => Either::Right(running.next().await),
        };
        match next {
            Either::Left(record) => {
                read += 1;
                let record = taken(record.expect("it never ends"), board);
                ready.extend(put(&mut queues, record));
            }
            Either::Right(done) => {
                let done: OwnedMessage = done.expect("one is running");
                board.finish(&done);
                ready.extend(next_of_key(&mut queues, &done));
            }
        }
        while running.len() < AT_ONCE
            && let Some(record) = ready.pop_front()
        {
            running.push(async move {
                work.run().await;
                record
            });
        }
    }
}

/// Puts a record into the queue of its key, or returns it if none of its key is under way.
fn put(queues: &mut Queues, record: OwnedMessage) -> Option<OwnedMessage> {
    match queues.entry(record.key().expect("it has a key").to_vec()) {
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
fn next_of_key(queues: &mut Queues, done: &OwnedMessage) -> Option<OwnedMessage> {
    let key = done.key()?;
    let next = queues.get_mut(key)?.pop_front();
    if next.is_none() {
        queues.remove(key);
    }
    next
}
