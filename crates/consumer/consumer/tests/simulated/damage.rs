//! A directory that is not what it was, between two lives of an engine, at random places: bad bits, files that are cut, older or
//! gone. What was confirmed and can be read is read; what is sent afterwards is handled; no offset and no generation is given
//! twice.

use crate::copies::{self, Files};
use colored::sim::{Builder, random};
use colored::time::{Duration, sleep, timeout};
use colored_consumer::embedded::{Damage, Engine, NewRecord, Options};
use colored_consumer::{Consumer, Error, Event, Room, Source, TopicPartition};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

const DIRECTORY: &str = "/log";

/// What was done by all lives.
#[derive(Default)]
struct Known {
    /// Each confirmed record, by its offset.
    sent: BTreeMap<u64, String>,
    handled: Arc<Mutex<Vec<String>>>,
    generation: u64,
}

fn options(sync: bool) -> Options {
    Options::new().segment_bytes(400).sync(sync)
}

/// Sends records, has a group handle and commit them all, and closes the engine.
async fn live(engine: Engine, known: &mut Known, life: u64) {
    engine.create_topic("t", 1).await.unwrap();
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let handled = Arc::clone(&known.handled);
    let consumer = Consumer::builder(member).start(move |record, context| {
        let value = String::from_utf8(record.value.unwrap_or_default().to_vec()).unwrap();
        handled.lock().unwrap().push(format!("{} {value}", context.generation()));
        std::future::ready(Ok(()))
    });
    let mut values = Vec::new();
    for number in 0..2 + random() % 6 {
        let value = format!("{life}.{number}");
        let (_, offset) = engine.send("t", NewRecord::new("k", value.clone())).await.unwrap();
        let before = known.sent.insert(offset, value.clone());
        assert_eq!(before, None, "offset {offset} is given twice");
        values.push(value);
    }
    let is_handled = |handled: &[String], value: &String| {
        handled.iter().any(|of| of.split_once(' ').is_some_and(|(_, of)| of == value))
    };
    let all = async {
        loop {
            let done = values.iter().all(|value| is_handled(&known.handled.lock().unwrap(), value));
            if done {
                break;
            }
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(300), all).await.expect("new records are handled");
    consumer.unwrap().stop().await.unwrap();
    let handled = known.handled.lock().unwrap();
    let newest = handled.last().map_or(0, |of| of.split_once(' ').unwrap().0.parse().unwrap());
    assert!(newest > known.generation, "a generation is given twice");
    known.generation = newest;
}

/// Reads all that can be read, and compares it with what was sent.
async fn check(engine: &Engine, known: &Known) -> Vec<u64> {
    let of = TopicPartition { topic: "t".into(), partition: 0 };
    let mut member = engine.member("reader", ["t"]).join().await.unwrap();
    let (mut read, mut start, room) = (Vec::new(), 0, Room { records: 7, bytes: 1 << 20 });
    loop {
        match timeout(Duration::from_secs(2), member.poll(room)).await.map(Result::unwrap) {
            Err(_) => break,
            Ok(Event::Assigned(all)) => {
                start = all[0].log.start;
                member.begin(&all[0].owned, start);
            }
            Ok(Event::Records { records, .. }) => {
                for record in records {
                    let value = String::from_utf8(record.value.unwrap().to_vec()).unwrap();
                    assert_eq!(known.sent.get(&record.offset), Some(&value));
                    read.push(record.offset);
                }
            }
            Ok(other) => panic!("{other:?}"),
        }
    }
    member.close().await.unwrap();
    let lost: Vec<_> = engine.lost().await.into_iter().filter(|(at, _)| *at == of).collect();
    for offset in known.sent.keys().filter(|offset| **offset >= start) {
        let is_named = lost.iter().any(|(_, lost)| lost.contains(offset));
        assert!(read.contains(offset) || is_named, "{offset} is missing: {read:?}, {lost:?}");
    }
    read
}

/// Changes a file, or all.
async fn damage(old: &Files) -> std::io::Result<()> {
    let topics = Path::new(DIRECTORY).join("topics");
    let all = copies::list(Path::new(DIRECTORY)).await?;
    // Not the lock, and not what was cut off before.
    let is_log =
        |(path, bytes): &(&PathBuf, &Vec<u8>)| path.extension().is_some() && !bytes.is_empty();
    let logs: Vec<&PathBuf> = all.iter().filter(is_log).map(|(path, _)| path).collect();
    let path = logs[random() as usize % logs.len()];
    let length = all[path].len();
    match random() % 5 {
        0 => copies::flip(path, random() as usize % (8 * length)).await,
        1 => copies::cut(path, random() as usize % length).await,
        2 if path.starts_with(&topics) => colored::fs::remove_file(path).await,
        2 => copies::restore(&topics, old).await,
        3 => copies::zero(path, random() as usize % length).await,
        _ => Ok(()),
    }
}

async fn lives() {
    let (mut known, mut old) = (Known::default(), Files::new());
    let sync = random().is_multiple_of(2);
    for life in 0..4 {
        let engine = match options(sync).open(DIRECTORY).await {
            Ok(engine) => engine,
            Err(error) => {
                let is_named = |error: &Error| {
                    let text = error.to_string();
                    text.contains("is damaged at byte") || text.contains("has no segment")
                };
                assert!(is_named(&error), "{error}");
                options(sync).damage(Damage::Skip).open(DIRECTORY).await.unwrap()
            }
        };
        if life == 0 {
            live(engine, &mut known, life).await;
        } else {
            // Whatever fails is met by reading.
            drop(engine);
            let engine = options(sync).damage(Damage::Skip).open(DIRECTORY).await.unwrap();
            check(&engine, &known).await;
            live(engine, &mut known, life).await;
        }
        sleep(Duration::from_secs(5)).await;
        if life == 1 {
            old = copies::list(&Path::new(DIRECTORY).join("topics")).await.unwrap();
        }
        if life > 0 {
            damage(&old).await.unwrap();
        }
    }
}

#[test]
fn nothing_is_lost_in_silence_whatever_happens_to_the_files() {
    Builder::new().seeds(crate::seeds(100, 1_000)).run(lives).assert_passed();
}
