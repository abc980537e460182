//! Directories that machines of both byte orders wrote, beside this file: each machine reads them all.
//!
//! `COLORED_WRITE_FORMATS=1` writes this machine's again. They change with the format only: what is in the tree stands for the
//! directories that users have.

#[path = "../altered/copies.rs"]
#[allow(dead_code, reason = "tests/simulated uses the rest")]
mod copies;
#[path = "../consumer/support.rs"]
#[allow(dead_code, reason = "tests/consumer uses the rest")]
mod support;

use colored_consumer::embedded::{Engine, NewRecord, Options};
use colored_consumer::{Consumer, Record};
use copies::{list, restore};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use support::{Effects, Scratch, key, number, partition, send, until};

const KEYS: usize = 10;
const NUMBERS: u64 = 5;
/// The first record that was not done: number 2 of `k4`. What is above it was, but for the later ones of `k4`.
const COMMITTED: u64 = 24;
const DONE: usize = 47;

fn kept(machine: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats").join(machine)
}

async fn copy(from: &Path, to: &Path) {
    let moved = |path: PathBuf| to.join(path.strip_prefix(from).expect("it is below the folder"));
    let files = list(from).await.unwrap().into_iter();
    restore(to, &files.map(|(path, bytes)| (moved(path), bytes)).collect()).await.unwrap();
}

/// Some segments of records, one topic with all that a record can have, and a commit with a map.
async fn write(directory: &Path) {
    let engine = Options::new().segment_bytes(1024).open(directory).await.unwrap();
    engine.create_topic("t", 1).await.unwrap();
    send(&engine, KEYS, 0, NUMBERS).await;
    engine.create_topic("All", 2).await.unwrap();
    engine.send_to("All", 1, record()).await.unwrap();
    engine.send_to("All", 1, NewRecord::tombstone("gone")).await.unwrap();
    let effects = Effects::default();
    consume(&engine, &effects, DONE).await;
}

fn record() -> NewRecord {
    let headers = vec![("kind".to_owned(), Some("apple".into())), ("empty".to_owned(), None)];
    NewRecord { headers, ..NewRecord::new(vec![0, 0xff, 1, 0x80], vec![7; 300]) }
}

/// Handles as many records; the first group never gets beyond number 1 of `k4`.
async fn consume(engine: &Engine, effects: &Effects, count: usize) -> u64 {
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let seen = effects.clone();
    let builder = Consumer::builder(member).strict(true).drain(Duration::from_millis(10));
    let consumer = builder.start(move |record, context| {
        let seen = seen.clone();
        async move {
            if count == DONE && key(&record) == "k4" && number(&record) >= 2 {
                std::future::pending::<()>().await;
            }
            seen.add(&record, context.generation());
            Ok(())
        }
    });
    let consumer = consumer.unwrap();
    effects.wait_for(count).await;
    let skipped = consumer.metrics().await.skipped;
    consumer.stop().await.unwrap();
    skipped
}

async fn all_records(engine: &Engine, topic: &str, count: usize) -> Vec<Record> {
    let records = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&records);
    let member = engine.member("all", [topic]).join().await.unwrap();
    let consumer = Consumer::builder(member).concurrency(1).start(move |record, _| {
        seen.lock().unwrap().push(record.clone());
        std::future::ready(Ok(()))
    });
    let consumer = consumer.unwrap();
    until("all records", || records.lock().unwrap().len() >= count).await;
    consumer.stop().await.unwrap();
    let records = records.lock().unwrap().clone();
    assert_eq!(records.len(), count);
    records
}

/// What [`write`] wrote is there: the commit, its map, each record; and it can be written to.
async fn assert_is_whole(directory: &Path) {
    let engine = Engine::open(directory).await.unwrap();
    assert_eq!((engine.cut_bytes().await, engine.lost().await), (0, Vec::new()));
    let committed = engine.committed("g", &partition(0)).await.unwrap();
    assert_eq!(committed.offset, COMMITTED);
    assert!(!committed.metadata.is_empty());

    let numbered = all_records(&engine, "t", KEYS * NUMBERS as usize).await;
    for record in &numbered {
        let place = number(record) * KEYS as u64 + key(record)[1..].parse::<u64>().unwrap();
        assert_eq!(record.offset, place);
        assert!(record.timestamp > 1_700_000_000_000, "{}: milliseconds", record.timestamp);
    }
    let all = all_records(&engine, "All", 2).await;
    let NewRecord { key, value, headers } = record();
    assert_eq!((&all[0].key, &all[0].value, &all[0].headers), (&key, &value, &headers));
    assert_eq!((all[1].key.as_deref(), &all[1].value), (Some(&b"gone"[..]), &None));

    let effects = Effects::default();
    let skipped = consume(&engine, &effects, numbered.len() - DONE).await;
    assert_eq!(skipped as usize, numbered.len() - COMMITTED as usize - 3);
    assert_eq!(effects.by_key(), [("k4".to_owned(), vec![2, 3, 4])].into());
    let offset = engine.send("t", NewRecord::new("k0", "more")).await.unwrap();
    assert_eq!(offset, (0, numbered.len() as u64));
}

#[colored::test]
async fn what_is_written_here_is_read_here() {
    let scratch = Scratch::new();
    write(scratch.path()).await;
    if std::env::var_os("COLORED_WRITE_FORMATS").is_some() {
        copy(scratch.path(), &kept(std::env::consts::ARCH)).await;
    }
    assert_is_whole(scratch.path()).await;
}

#[colored::test]
async fn what_machines_of_both_byte_orders_wrote_is_read() {
    for machine in ["x86_64", "s390x"] {
        let scratch = Scratch::new();
        copy(&kept(machine), scratch.path()).await;
        assert!(!list(scratch.path()).await.unwrap().is_empty(), "there are no files of {machine}");
        assert_is_whole(scratch.path()).await;
    }
}
