//! The engine by itself: one owner of the directory, retention, and a process that is killed while it writes.

use crate::support::{Effects, Scratch, engine, key, metrics_when, number, partition, send};
use colored::time::{Duration, timeout};
use colored_consumer::embedded::{Engine, NewRecord, Options};
use colored_consumer::{Committed, Consumer, ConsumerError, Reset};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

const DIRECTORY: &str = "COLORED_CONSUMER_TEST_DIRECTORY";

#[colored::test]
async fn one_engine_has_a_directory_at_a_time() {
    let scratch = Scratch::new();
    let first = engine(&scratch, 1).await;
    let error = Engine::open(scratch.path()).await.unwrap_err().to_string();
    assert!(error.contains("is locked"), "{error}");
    drop(first);
    let again = Engine::open(scratch.path()).await.unwrap();
    assert_eq!(again.range(&partition(0)).await.unwrap(), (0, 0));
}

/// The consumer, its handler and its dead letters have the engine. The handle of a consumer that has ended keeps nothing of it.
async fn start_with_all(engine: &Engine, group: &str, reset: Reset) -> Consumer {
    let member = engine.member(group, ["t"]).join().await.unwrap();
    let (of_handler, of_letters) = (engine.clone(), engine.clone());
    let builder = Consumer::builder(member).reset(reset).dead_letters(move |_| {
        let _engine = &of_letters;
        std::future::ready(Ok(()))
    });
    let consumer = builder.start(move |_, _| {
        let engine = of_handler.clone();
        async move {
            drop(engine);
            Ok(())
        }
    });
    consumer.unwrap()
}

#[colored::test]
async fn a_consumer_that_ended_by_an_error_keeps_no_directory() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 2).await;
    send(&engine, 4, 0, 5).await;
    let consumer = start_with_all(&engine, "g", Reset::Fail).await;
    assert!(!consumer.caught_up().await, "it ends, as it has no place");
    drop(engine);
    drop(Engine::open(scratch.path()).await.unwrap());
    assert!(!consumer.caught_up().await && consumer.metrics().await.partitions.is_empty());
    assert!(consumer.wait().await.is_err());
}

/// Not even its drop runs, as in a crash.
#[test]
fn a_consumer_whose_runtime_has_ended_keeps_no_directory() {
    let scratch = Arc::new(Scratch::new());
    let (of_first, path) = (Arc::clone(&scratch), scratch.path().to_owned());
    colored::Runtime::new().unwrap().run(async move {
        let engine = engine(&of_first, 2).await;
        send(&engine, 4, 0, 5).await;
        let consumer = start_with_all(&engine, "g", Reset::Earliest).await;
        assert!(consumer.caught_up().await);
        std::mem::forget(consumer);
    });
    let opened = colored::Runtime::new().unwrap().run(Engine::open(path));
    drop(opened.unwrap());
}

/// Engines are dropped while they write, begin segments and delete old ones: the next one opens, and has what was confirmed.
#[colored::test]
async fn an_engine_opens_behind_the_writes_of_a_dropped_one() {
    let scratch = Scratch::new();
    drop(engine(&scratch, 1).await);
    let mut end = 0;
    for round in 0..60 {
        let options = Options::new().sync(false).segment_bytes(2_000).retain_bytes(4_000);
        let engine = options.open(scratch.path()).await.unwrap();
        let found = engine.range(&partition(0)).await.unwrap().1;
        assert!(found >= end, "round {round}: {found} records are left of {end}");
        let records = (0..40).map(|_| NewRecord::new("k", vec![7; 300]));
        // A time that often ends in the middle.
        let sent = timeout(Duration::from_micros(round * 10), engine.send_all("t", records)).await;
        end = found + if sent.is_ok() { 40 } else { 0 };
    }
}

/// Sends until the disk has no room, or 8 MiB are there, and goes on when there is room: the environment `small_disk` of
/// `.ci/inside` has 4 MiB.
#[colored::test]
async fn a_disk_without_room_loses_nothing_that_was_confirmed() {
    let scratch = Scratch::new();
    let ballast = scratch.path().join("ballast");
    std::fs::write(&ballast, vec![1; 1 << 20]).unwrap();
    let options = || Options::new().sync(false).segment_bytes(1 << 20);
    let engine = options().open(scratch.path()).await.unwrap();
    engine.create_topic("t", 1).await.unwrap();
    // A number of 32 KiB.
    let record = |number: u64| NewRecord::new("k", format!("{number:032768}"));
    let (mut confirmed, mut refusal) = (0, None);
    while confirmed < 256 && refusal.is_none() {
        match engine.send("t", record(confirmed)).await {
            Ok(place) => confirmed = place.1 + 1,
            Err(error) => refusal = Some(error.to_string()),
        }
    }
    assert!(confirmed > 0, "{refusal:?}");
    let file = scratch.path().display().to_string();
    assert!(refusal.as_ref().is_none_or(|text| text.contains(&file)), "{refusal:?}");
    drop(engine);
    std::fs::remove_file(ballast).unwrap();
    let engine = options().open(scratch.path()).await.unwrap();
    let (_, end) = engine.range(&partition(0)).await.unwrap();
    assert!(end >= confirmed, "{end} records of {confirmed}");
    assert_eq!(engine.send("t", record(end)).await.unwrap(), (0, end));
    let effects = Effects::default();
    let seen = effects.clone();
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let consumer = Consumer::builder(member).start(move |record, context| {
        seen.add(&record, context.generation());
        std::future::ready(Ok(()))
    });
    effects.wait_for(end as usize + 1).await;
    consumer.unwrap().stop().await.unwrap();
    effects.assert_once_and_in_order(1, end + 1);
}

#[colored::test]
async fn a_record_that_is_too_large_is_refused() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    let error = engine.send("t", NewRecord::new("k", vec![0; 17 << 20])).await.unwrap_err();
    assert!(error.to_string().contains("17825793 bytes"), "{error}");
    let mut record = NewRecord::new("k", "v");
    record.headers = vec![("n".repeat(2_000), Some("v".into()))];
    assert!(engine.send("t", record).await.is_err());
    assert!(engine.send("unknown", NewRecord::new("k", "v")).await.is_err());
}

/// Commits with any metadata come back, the last one of many, and the log of the commits does not grow for ever.
#[colored::test]
async fn commits_survive_and_their_log_stays_small() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    for number in 0..25_000_u64 {
        let metadata = vec![number as u8; (number % 300) as usize];
        let committed = Committed { offset: number, metadata, log: None };
        engine.set_committed("g", partition(0), committed).await.unwrap();
    }
    drop(engine);
    let bytes: u64 = std::fs::read_dir(scratch.path().join("groups"))
        .unwrap()
        .map(|file| file.unwrap().metadata().unwrap().len())
        .sum();
    assert!(bytes < 12_000 * 400, "{bytes}");
    let engine = Engine::open(scratch.path()).await.unwrap();
    let expected = Committed { offset: 24_999, metadata: vec![24_999_u64 as u8; 99], log: None };
    assert_eq!(engine.committed("g", &partition(0)).await, Some(expected));
}

/// Retention overtakes a consumer: it goes on where the log begins, or ends with an error, as it was told.
#[colored::test]
async fn a_consumer_behind_the_retention_goes_on_as_it_was_told() {
    for reset in [Reset::Earliest, Reset::Latest, Reset::Fail] {
        let scratch = Scratch::new();
        let options = Options::new().sync(false).segment_bytes(2_000).retain_bytes(10_000);
        let engine = options.open(scratch.path()).await.unwrap();
        engine.create_topic("t", 1).await.unwrap();
        for first in (0..1_000).step_by(10) {
            send(&engine, 1, first, first + 10).await;
        }
        let old = Committed { offset: 5, ..Committed::default() };
        engine.set_committed("g", partition(0), old).await.unwrap();
        let start = engine.range(&partition(0)).await.unwrap().0;
        assert!(start > 500, "{start}");
        let effects = Effects::default();
        let seen = effects.clone();
        let member = engine.member("g", ["t"]).join().await.unwrap();
        let builder = Consumer::builder(member).strict(true).reset(reset);
        let consumer = builder.start(move |record, context| {
            seen.add(&record, context.generation());
            std::future::ready(Ok(()))
        });
        let consumer = consumer.unwrap();
        let first = match reset {
            Reset::Earliest => start,
            Reset::Latest => 1_000,
            Reset::Fail => {
                let error = consumer.wait().await.unwrap_err();
                assert!(matches!(error, ConsumerError::OutOfRange(_)), "{error}");
                continue;
            }
        };
        // What is sent after it has begun.
        metrics_when(&consumer, |metrics| !metrics.partitions.is_empty()).await;
        send(&engine, 1, 1_000, 1_010).await;
        effects.wait_for(1_010 - first as usize).await;
        assert_eq!(effects.by_key()["k0"], (first..1_010).collect::<Vec<_>>());
        consumer.stop().await.unwrap();
    }
}

/// Kills a process while it appends and commits: everything that was confirmed is there, in order, and nothing else is
/// but a row of whole records.
#[test]
fn a_process_that_is_killed_loses_nothing_that_was_confirmed() {
    let scratch = Scratch::new();
    for round in 0..6_u64 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "engine::append_until_killed", "--ignored", "--nocapture"])
            .env(DIRECTORY, scratch.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut confirmed = BTreeMap::new();
        let wanted = 40 + 37 * round as usize;
        while confirmed.len() < wanted {
            let line = lines.next().expect("the process goes on").unwrap();
            if let Some(("confirmed", rest)) = line.split_once(' ') {
                let numbers: Vec<u64> = rest.split(' ').map(|word| word.parse().unwrap()).collect();
                confirmed.insert((numbers[0], numbers[1]), numbers[2]);
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // What it said before it died.
        for line in lines.map_while(Result::ok) {
            let words: Vec<u64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
            if let (true, [partition, offset, value]) = (line.starts_with("confirmed "), &words[..])
            {
                confirmed.insert((*partition, *offset), *value);
            }
        }
        check_log(scratch.path(), &confirmed);
    }
}

/// Reads the whole log, and compares it with what was confirmed.
fn check_log(directory: &Path, confirmed: &BTreeMap<(u64, u64), u64>) {
    let runtime = colored::Runtime::new().unwrap();
    let (directory, confirmed) = (directory.to_owned(), confirmed.clone());
    runtime.run(async move {
        let engine = Engine::open(&directory).await.unwrap();
        let mut total = 0;
        for n in 0..3 {
            let (start, end) = engine.range(&partition(n)).await.unwrap();
            assert_eq!(start, 0);
            total += end;
            let committed = engine.committed("g", &partition(n)).await;
            assert!(committed.is_none_or(|of| of.offset <= end));
        }
        let effects = Effects::default();
        let seen = effects.clone();
        let member = engine.member("check", ["t"]).join().await.unwrap();
        let consumer = Consumer::builder(member).strict(true).start(move |record, context| {
            seen.add(&record, context.generation());
            std::future::ready(Ok(()))
        });
        effects.wait_for(total as usize).await;
        consumer.unwrap().stop().await.unwrap();
        let read: BTreeMap<_, _> = effects
            .all()
            .into_iter()
            .map(|of| ((u64::from(of.partition), of.offset), of.number))
            .collect();
        for (place, number) in &confirmed {
            assert_eq!(read.get(place), Some(number), "{place:?} was confirmed");
        }
        // The group begins anew in the next round.
        for n in 0..3 {
            engine.set_committed("check", partition(n), Committed::default()).await.unwrap();
        }
    });
}

#[test]
#[ignore = "a process of another test"]
fn append_until_killed() {
    let directory = std::env::var_os(DIRECTORY).expect("the other test names it");
    let runtime = colored::Runtime::new().unwrap();
    runtime.run(async move {
        let engine = Options::new().segment_bytes(4_000).open(directory).await.unwrap();
        engine.create_topic("t", 3).await.unwrap();
        let tasks: Vec<_> = (0..8_u64)
            .map(|task| {
                let engine = engine.clone();
                colored::spawn_unique(async move {
                    for number in 0.. {
                        let value = task * 1_000_000 + number;
                        let record = NewRecord::new(format!("k{value}"), value.to_string());
                        let (to, offset) = engine.send("t", record).await.unwrap();
                        println!("confirmed {to} {offset} {value}");
                        let committed = Committed { offset, metadata: vec![7; 100], log: None };
                        engine.set_committed("g", partition(to), committed).await.unwrap();
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
}

#[colored::test]
async fn records_have_their_headers_and_keys_and_times() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 4).await;
    let mut record = NewRecord::new("k1", "7");
    record.headers = vec![
        ("trace".to_owned(), Some("abc".into())),
        (String::new(), Some("".into())),
        ("none".to_owned(), None),
    ];
    let headers = record.headers.clone();
    let (to, offset) = engine.send("t", record).await.unwrap();
    let (again, next) = engine.send("t", NewRecord::new("k1", "8")).await.unwrap();
    assert_eq!((to, offset + 1), (again, next), "a key has one partition");
    let (sender, receiver) = colored::sync::oneshot::channel();
    let sender = std::sync::Mutex::new(Some(sender));
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let consumer = Consumer::builder(member).strict(true).start(move |record, _| {
        if number(&record) == 7 {
            sender.lock().unwrap().take().unwrap().send(record).unwrap();
        }
        std::future::ready(Ok(()))
    });
    let record = receiver.await.unwrap();
    consumer.unwrap().stop().await.unwrap();
    assert_eq!((key(&record).as_str(), &record.headers), ("k1", &headers));
    assert!(record.timestamp > 1_600_000_000_000, "milliseconds since 1970");
}
