//! A directory that is not what it was: bad bits, files that are cut, older or gone, files of others.

use crate::copies;
use crate::support::{Scratch, partition};
use colored::time::{Duration, timeout};
use colored_consumer::embedded::{Damage, Engine, NewRecord, Options};
use colored_consumer::{Committed, Consumer, Event, Record, Reset, Room, Source};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Handles what there is until so many records were, and commits.
async fn handle(engine: &Engine, group: &str, reset: Reset, count: usize) -> Vec<String> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = Arc::clone(&seen);
    let member = engine.member(group, ["t"]).join().await.unwrap();
    let builder = Consumer::builder(member).reset(reset).concurrency(1);
    let consumer = builder.start(move |record: Record, _| {
        let value = record.value.unwrap_or_default();
        sees.lock().unwrap().push(String::from_utf8(value.to_vec()).unwrap());
        std::future::ready(Ok(()))
    });
    let consumer = consumer.unwrap();
    let all = async {
        while seen.lock().unwrap().len() < count {
            colored::time::sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(Duration::from_secs(20), all).await.unwrap_or_else(|_| panic!("{seen:?}"));
    consumer.stop().await.unwrap();
    seen.lock().unwrap().clone()
}

async fn send(engine: &Engine, what: &str, count: usize) {
    for number in 0..count {
        engine.send("t", NewRecord::new("k", format!("{what} {number}."))).await.unwrap();
    }
}

fn values(what: &str, count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{what} {number}.")).collect()
}

/// As the engine writes it in errors, on each system.
fn partition_folder(directory: &Path) -> PathBuf {
    ["topics", "t", "0"].iter().fold(directory.to_owned(), |path, part| path.join(part))
}

fn segment(directory: &Path) -> PathBuf {
    partition_folder(directory).join("00000000000000000000.log")
}

/// The place of some bytes in a file.
fn find(path: &Path, wanted: &[u8]) -> usize {
    let bytes = std::fs::read(path).unwrap();
    bytes.windows(wanted.len()).position(|window| window == wanted).unwrap()
}

/// One bad bit before confirmed records: an error that names file and place, whether records or commits have it. What is left
/// can be opened; then nothing new is skipped, and nothing that can be read is lost.
#[colored::test]
async fn a_bad_bit_is_no_torn_end() {
    let scratch = Scratch::new();
    let engine = Engine::open(scratch.path()).await.unwrap();
    engine.create_topic("t", 1).await.unwrap();
    send(&engine, "old", 20).await;
    assert_eq!(handle(&engine, "g", Reset::Earliest, 20).await, values("old", 20));
    drop(engine);
    let path = segment(scratch.path());
    let at = find(&path, b"old 10.");
    copies::flip(&path, 8 * at).await.unwrap();
    let error = Engine::open(scratch.path()).await.unwrap_err().to_string();
    let offset = "10 records before it can be read, from offset 0 to 10, and 9 behind it";
    for part in [path.to_str().unwrap(), "damaged at byte", offset, "Damage::Skip"] {
        assert!(error.contains(part), "{error}");
    }
    let engine = Options::new().damage(Damage::Skip).open(scratch.path()).await.unwrap();
    send(&engine, "new", 5).await;
    assert_eq!(handle(&engine, "g", Reset::Fail, 5).await, values("new", 5));
    let mut left = [values("old", 20), values("new", 5)].concat();
    left.remove(10);
    assert_eq!(handle(&engine, "other", Reset::Earliest, 24).await, left);
    assert_eq!(engine.lost().await, [(partition(0), 10..11)]);
}

/// The same in the commits: another group's commit and the generations are not lost in silence.
#[colored::test]
async fn a_bad_bit_in_the_commits_is_an_error() {
    let scratch = Scratch::new();
    let engine = Engine::open(scratch.path()).await.unwrap();
    engine.create_topic("t", 1).await.unwrap();
    for (group, offset) in [("a", 1), ("b", 2), ("c", 3)] {
        let committed = Committed { offset, metadata: b"metadata".to_vec(), log: None };
        engine.set_committed(group, partition(0), committed).await.unwrap();
    }
    let before = generation(&engine, "a").await;
    drop(engine);
    let path = scratch.path().join("groups").join("00000000000000000000.log");
    let at = find(&path, b"metadata");
    copies::flip(&path, 8 * at).await.unwrap();
    let error = Engine::open(scratch.path()).await.unwrap_err().to_string();
    assert!(error.contains(path.to_str().unwrap()) && error.contains("damaged at byte"), "{error}");
    let engine = Options::new().damage(Damage::Skip).open(scratch.path()).await.unwrap();
    for (group, offset) in [("a", None), ("b", Some(2)), ("c", Some(3))] {
        let committed = engine.committed(group, &partition(0)).await;
        assert_eq!(committed.map(|committed| committed.offset), offset, "{group}");
    }
    assert!(generation(&engine, "a").await > before);
    assert!(path.with_extension("damaged").exists(), "a copy stays");
}

/// The generation of a partition in the hands of a new member.
async fn generation(engine: &Engine, group: &str) -> u64 {
    let mut member = engine.member(group, ["t"]).join().await.unwrap();
    let room = Room { records: 1, bytes: 1 };
    let Event::Assigned(assigned) = member.poll(room).await.unwrap() else {
        panic!("the member owns nothing")
    };
    member.close().await.unwrap();
    assigned[0].owned.generation
}

/// The commits are older, or all is gone: no generation is given again.
#[colored::test]
async fn a_generation_is_never_given_again() {
    let scratch = Scratch::new();
    let groups = scratch.path().join("groups");
    let mut before = 0;
    let mut old = copies::Files::new();
    for round in 0..4 {
        let engine = Options::new().sync(false).open(scratch.path()).await.unwrap();
        engine.create_topic("t", 1).await.unwrap();
        for _ in 0..3 {
            let next = generation(&engine, "g").await;
            assert!(next > before, "{next} after {before}");
            before = next;
        }
        drop(engine);
        // Another engine can open it, so nothing is written any more.
        drop(Engine::open(scratch.path()).await.unwrap());
        match round {
            0 => old = copies::list(&groups).await.unwrap(),
            2 => std::fs::remove_dir_all(scratch.path()).unwrap(),
            _ => copies::restore(&groups, &old).await.unwrap(),
        }
    }
}

/// A power failure without `sync`, or a copy of the topics that is older than the commits: the records of that time are gone,
/// and no offset of them is given again. Nothing new is skipped, and nothing is repeated that was committed.
#[colored::test]
async fn a_log_behind_its_commits_goes_on_at_the_place_of_the_commits() {
    for kind in ["copy", "cut", "zeros"] {
        for reset in [Reset::Earliest, Reset::Latest, Reset::Fail] {
            let scratch = Scratch::new();
            let open = || Options::new().sync(false).open(scratch.path());
            let engine = open().await.unwrap();
            engine.create_topic("t", 1).await.unwrap();
            send(&engine, "kept", 50).await;
            let topics = scratch.path().join("topics");
            let old = copies::list(&topics).await.unwrap();
            send(&engine, "lost", 50).await;
            handle(&engine, "g", Reset::Earliest, 100).await;
            for group in ["a", "b"] {
                let committed = Committed { offset: 30, ..Committed::default() };
                engine.set_committed(group, partition(0), committed).await.unwrap();
            }
            drop(engine);
            let path = segment(scratch.path());
            match kind {
                "cut" => copies::cut(&path, find(&path, b"lost 0.") + 2).await.unwrap(),
                // The file has its length, and its end was never written.
                "zeros" => copies::zero(&path, old[&path].len()).await.unwrap(),
                _ => copies::restore(&topics, &old).await.unwrap(),
            }
            let engine = open().await.unwrap();
            assert_eq!(engine.lost().await, [(partition(0), 50..100)]);
            meet_what_is_lost(&engine, "a", reset, 100).await;
            assert_eq!(engine.send("t", NewRecord::new("k", "new 0.")).await.unwrap(), (0, 100));
            meet_what_is_lost(&engine, "b", reset, 101).await;
            assert_eq!(handle(&engine, "g", reset, 1).await, values("new", 1));
            let all = handle(&engine, "other", Reset::Earliest, 51).await;
            assert_eq!(all, [values("kept", 50), values("new", 1)].concat());
            drop(engine);
            // The next opening knows it, too.
            let engine = open().await.unwrap();
            assert_eq!(handle(&engine, "third", Reset::Earliest, 51).await, all);
        }
    }
}

/// A group at offset 30, of a log that has lost what had the offsets from 50 to 100: it has missed records, so the consumer does as
/// it was told.
async fn meet_what_is_lost(engine: &Engine, group: &str, reset: Reset, end: u64) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = Arc::clone(&seen);
    let member = engine.member(group, ["t"]).join().await.unwrap();
    let builder = Consumer::builder(member).reset(reset).concurrency(1).strict(true);
    let consumer = builder.start(move |record: Record, _| {
        sees.lock().unwrap().push(record.offset);
        std::future::ready(Ok(()))
    });
    let consumer = consumer.unwrap();
    let is_caught_up = timeout(Duration::from_secs(20), consumer.caught_up()).await.unwrap();
    assert_eq!(is_caught_up, reset != Reset::Fail);
    if reset == Reset::Fail {
        let error = consumer.wait().await.unwrap_err().to_string();
        assert!(error.contains("t/0: records may have been deleted"), "{error}");
        // It ends as soon as it has read so far: what has not begun is for the next consumer.
        assert!((30..50).collect::<Vec<_>>().starts_with(&seen.lock().unwrap()), "{seen:?}");
        return;
    }
    assert_eq!(consumer.metrics().await.resets, 1);
    consumer.stop().await.unwrap();
    assert_eq!(*seen.lock().unwrap(), (30..50).chain(100..end).collect::<Vec<_>>());
    let committed = engine.committed(group, &partition(0)).await;
    assert_eq!(committed.map(|committed| committed.offset), Some(end));
}

/// All files of a topic are deleted by hand: its commits are those of another log.
#[colored::test]
async fn a_topic_that_was_deleted_by_hand_is_another_log() {
    let scratch = Scratch::new();
    let engine = Engine::open(scratch.path()).await.unwrap();
    engine.create_topic("t", 1).await.unwrap();
    send(&engine, "old", 9).await;
    handle(&engine, "g", Reset::Earliest, 9).await;
    drop(engine);
    std::fs::remove_dir_all(scratch.path().join("topics/t")).unwrap();
    let engine = Engine::open(scratch.path()).await.unwrap();
    engine.create_topic("t", 1).await.unwrap();
    send(&engine, "new", 5).await;
    assert_eq!(engine.range(&partition(0)).await.unwrap(), (9, 14));
    assert_eq!(handle(&engine, "g", Reset::Earliest, 5).await, values("new", 5));
}

/// A segment in the middle is gone, or has a bad bit: its partition fails once, until it is begun again, and says where. The other
/// partition does not hear of it.
#[colored::test]
async fn a_bad_segment_is_an_error_of_its_partition() {
    for is_gone in [false, true] {
        let scratch = Scratch::new();
        let options = || Options::new().sync(false).segment_bytes(2_000);
        let engine = options().open(scratch.path()).await.unwrap();
        engine.create_topic("t", 2).await.unwrap();
        for number in 0..200 {
            let partition = number % 2;
            let record = NewRecord::new("k", format!("value {number}."));
            engine.send_to("t", partition, record).await.unwrap();
        }
        drop(engine);
        drop(options().open(scratch.path()).await.unwrap());
        let all = copies::list(&partition_folder(scratch.path())).await.unwrap();
        let middle = all.keys().nth(all.len() / 2).unwrap();
        if is_gone {
            std::fs::remove_file(middle).unwrap();
        } else {
            copies::flip(middle, 8 * 1_000).await.unwrap();
        }
        let engine = options().open(scratch.path()).await.unwrap();
        let mut member = engine.member("g", ["t"]).join().await.unwrap();
        let room = Room { records: 1_000, bytes: 1 << 20 };
        let (mut read, mut failed, mut sent) = ([0; 2], 0, 100);
        while read[1] < 150 {
            let event = timeout(Duration::from_secs(20), member.poll(room)).await;
            match event.expect("the other partition goes on").unwrap() {
                Event::Assigned(assigned) => {
                    for assignment in assigned {
                        member.begin(&assignment.owned, assignment.log.start);
                    }
                }
                Event::Records { owned, records, .. } => {
                    read[owned.partition.partition as usize] += records.len();
                }
                Event::Failed { owned, error } => {
                    failed += 1;
                    let file =
                        if is_gone { all.keys().nth(all.len() / 2 - 1) } else { Some(middle) };
                    let text = error.to_string();
                    assert!(text.contains(file.unwrap().to_str().unwrap()), "{text}");
                    assert_eq!(owned.partition.partition, 0);
                }
                other => panic!("{other:?}"),
            }
            if read[1] == sent {
                sent += 1;
                engine.send_to("t", 1, NewRecord::new("k", "more")).await.unwrap();
            }
        }
        assert_eq!(failed, 1);
        assert!((30..70).contains(&read[0]), "{} records before the bad place", read[0]);
        member.close().await.unwrap();
    }
}

/// Names that differ by case only, and those of devices: each topic has its own folder on every file system.
#[colored::test]
async fn topics_do_not_share_folders_where_case_does_not_count() {
    let names = ["orders", "Orders", "ORDERS", "con", "aux.log", "Nul", "com1", "a.B"];
    let scratch = Scratch::new();
    for round in 0..2 {
        let engine = Options::new().sync(false).open(scratch.path()).await.unwrap();
        for name in names {
            engine.create_topic(name, 1).await.unwrap();
            let offset = engine.send(name, NewRecord::new("k", name)).await.unwrap();
            assert_eq!(offset, (0, round));
        }
        drop(engine);
    }
    let folders = std::fs::read_dir(scratch.path().join("topics")).unwrap();
    let name = |entry: std::fs::DirEntry| entry.file_name().into_string().unwrap();
    let mut folders: Vec<_> = folders.map(|entry| name(entry.unwrap())).collect();
    assert!(folders.contains(&"orders".to_owned()), "a plain name is its folder's");
    assert!(folders.iter().all(|folder| *folder == folder.to_lowercase()), "{folders:?}");
    let is_reserved = |name: &String| {
        ["con", "aux", "nul", "com1"].contains(&name.split('.').next().unwrap_or(""))
    };
    assert!(!folders.iter().any(is_reserved), "{folders:?}");
    folders.sort();
    folders.dedup();
    assert_eq!(folders.len(), names.len());
}

/// What others put into the directory keeps no engine from opening.
#[colored::test]
async fn foreign_files_are_left_alone() {
    let scratch = Scratch::new();
    let topics = scratch.path().join("topics");
    std::fs::create_dir_all(topics.join("lost+found")).unwrap();
    for round in 0..2 {
        let engine = Options::new().sync(false).open(scratch.path()).await.unwrap();
        engine.create_topic("t", 1).await.unwrap();
        assert_eq!(engine.send("t", NewRecord::new("k", "v")).await.unwrap(), (0, round));
        drop(engine);
        for name in ["README", "readme", ".DS_Store", "t/note", "t/0/00000000000000000000.log.bak"]
        {
            std::fs::write(topics.join(name), "x").unwrap();
        }
        std::fs::write(scratch.path().join("groups/note"), "x").unwrap();
    }
}

/// Many segments, few descriptors: what is written, read and opened again is bounded by the option.
#[cfg(target_os = "linux")]
#[colored::test]
async fn segments_do_not_take_a_descriptor_each() {
    let scratch = Scratch::new();
    let directory = std::fs::canonicalize(scratch.path()).unwrap();
    let count = || {
        let all = std::fs::read_dir("/proc/self/fd").unwrap();
        let targets = all.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
        targets.filter(|target| target.starts_with(directory.join("topics"))).count()
    };
    let options = || Options::new().segment_bytes(1_000).sync(false).open_files(3);
    let mut most = 0;
    for round in 0..2 {
        let engine = options().open(scratch.path()).await.unwrap();
        most = count().max(most);
        engine.create_topic("t", 10).await.unwrap();
        for number in 0..100 {
            let value = format!("{number}. {}", "x".repeat(1_000));
            engine.send_to("t", number % 10, NewRecord::new("k", value)).await.unwrap();
            most = count().max(most);
        }
        let group = format!("g{round}");
        assert_eq!(
            handle(&engine, &group, Reset::Earliest, 100 * (round + 1)).await.len(),
            100 * (round + 1)
        );
        most = count().max(most);
    }
    assert!((1..=3).contains(&most), "{most} descriptors");
}
