//! What is stored last is not always what counts.

use super::*;
use crate::scratch::Scratch;
use std::path::PathBuf;

const KEEP: Keep = Keep { segment_bytes: 1, bytes: None, millis: None, sync: false, skips: false };

async fn open(directory: &Path, is_new: bool) -> io::Result<Offsets> {
    Offsets::open(directory, KEEP, Commons::default(), is_new).await
}

/// Two members store the generations that they were given, in the wrong order: no later engine gives one again.
#[colored::test]
async fn the_generation_of_a_group_never_falls() {
    let scratch = Scratch::new();
    let offsets = open(scratch.path(), true).await.expect("it is new");
    for number in [9, 10, 9] {
        offsets.store_generation("g", number).await.expect("the directory is writable");
    }
    assert_eq!(offsets.generation("g").await, 10);
    for _ in 0..2 {
        // The first time from all records, the second time from those that have replaced them.
        let again = open(scratch.path(), false).await.expect("it is whole");
        assert_eq!(again.generation("g").await, 10);
    }
}

/// A member writes its generation for so long that it is taken for dead, and its successor begins first.
#[colored::test]
async fn an_owner_that_begins_late_takes_nothing_from_its_successor() {
    let scratch = Scratch::new();
    let offsets = open(scratch.path(), true).await.expect("it is new");
    let of = TopicPartition { topic: "t".into(), partition: 0 };
    let commit = |generation, offset| {
        let owned = Owned { partition: of.clone(), generation };
        vec![(9, Commit { owned, committed: Committed { offset, ..Committed::default() } })]
    };
    assert_eq!(offsets.begin("g", &of, 4).await, Begun::At(None));
    assert_eq!(offsets.begin("g", &of, 3).await, Begun::TooLate);
    let fenced = offsets.commit("g", commit(3, 9)).await.expect("the directory is writable");
    assert_eq!(fenced.len(), 1);
    let fenced = offsets.commit("g", commit(4, 7)).await.expect("the directory is writable");
    assert_eq!(fenced, []);
    assert_eq!(offsets.committed("g", &of).await.expect("it is committed").offset, 7);
    offsets.forget("t").await.expect("the directory is writable");
    assert_eq!(offsets.begin("g", &of, 5).await, Begun::At(None), "the topic has come again");
}

/// Two groups, of which one has the commits of two partitions, written one after the other, and a mark behind them.
async fn write_commits(directory: &Path) -> PathBuf {
    let keep = Keep { sync: true, ..KEEP };
    let offsets = Offsets::open(directory, keep, Commons::default(), true).await.unwrap();
    for generation in [100, 1 << 50] {
        offsets.store_generation("g", generation).await.unwrap();
    }
    for (group, partition, offset) in [("g", 0, 3), ("g", 1, 4), ("h", 0, 5), ("g", 0, 6)] {
        let of = TopicPartition { topic: "t".into(), partition };
        let committed = Committed { offset, metadata: vec![7; 20], log: None };
        offsets.set(group, of, Stored { committed, end: 9 }).await.unwrap();
    }
    offsets.log.close("the end").await;
    directory.join("00000000000000000000.log")
}

/// What an opening finds: the commits of both groups, and what no generation was higher than.
async fn look(directory: &Path, skips: bool) -> io::Result<([Option<u64>; 3], u64)> {
    let keep = Keep { skips, ..KEEP };
    let offsets = Offsets::open(directory, keep, Commons::default(), false).await?;
    let mut found = [None; 3];
    for (found, (group, partition)) in found.iter_mut().zip([("g", 0), ("g", 1), ("h", 0)]) {
        let of = TopicPartition { topic: "t".into(), partition };
        *found = offsets.committed(group, &of).await.map(|committed| committed.offset);
    }
    Ok((found, offsets.last_generation("g").await))
}

/// A directory for one attempt, with these bytes in its segment. A file that is still open keeps some systems from removing its
/// directory, so none is used again.
fn begin(scratch: &Path, attempt: usize, bytes: &[u8]) -> (PathBuf, PathBuf) {
    let directory = scratch.join(attempt.to_string());
    let file = directory.join("00000000000000000000.log");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(&file, bytes).unwrap();
    (directory, file)
}

/// One bit of each byte: an error that names the file, or nothing is lost. What is left can be opened, and no generation is
/// given again.
#[colored::test]
async fn a_bad_bit_loses_no_commit_in_silence() {
    let scratch = Scratch::new();
    let bytes = std::fs::read(write_commits(scratch.path()).await).unwrap();
    let all = [Some(6), Some(4), Some(5)];
    let mut refused = 0;
    for at in 0..bytes.len() {
        let mut bad = bytes.clone();
        bad[at] ^= 1 << (at % 8);
        let (directory, file) = begin(scratch.path(), at, &bad);
        match look(&directory, false).await {
            Ok((found, generation)) => {
                assert_eq!(found, all, "byte {at}");
                assert!(generation >= 1 << 50, "byte {at}: {generation}");
            }
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains("000.log is damaged at byte"), "byte {at}: {text}");
                assert_eq!(std::fs::read(&file).unwrap(), bad, "what is damaged stays");
                refused += 1;
                let (found, generation) = look(&directory, true).await.unwrap();
                let known =
                    [[Some(6), Some(3), None], [Some(4), None, None], [Some(5), None, None]];
                for (found, known) in found.iter().zip(known) {
                    assert!(known.contains(found), "byte {at}: {found:?}");
                }
                let is_kept = generation > 1 << 50;
                // Where the last generation is lost, the time stands for it.
                assert!(is_kept || generation > 1 << 40, "byte {at}: {generation}");
                assert_eq!(std::fs::read(file.with_extension("damaged")).unwrap(), bad);
                assert_eq!(look(&directory, false).await.unwrap().0, found);
            }
        }
    }
    assert!(refused > bytes.len() / 2, "{refused} of {}", bytes.len());
}

/// A file that is cut anywhere, and one that is gone: no generation is given again.
#[colored::test]
async fn a_generation_does_not_fall_when_commits_are_cut_off() {
    let scratch = Scratch::new();
    let bytes = std::fs::read(write_commits(scratch.path()).await).unwrap();
    let before = u64::try_from(since_1970().as_micros()).unwrap();
    for end in 0..bytes.len() {
        let (directory, _) = begin(scratch.path(), end, &bytes[..end]);
        let (_, generation) = look(&directory, false).await.unwrap();
        assert!(generation >= before, "{end} bytes: {generation}");
    }
    let gone = scratch.path().join("gone");
    let error = look(&gone, false).await.unwrap_err().to_string();
    assert!(error.contains("has no segment"), "{error}");
    assert!(look(&gone, true).await.unwrap().1 >= before);
}
