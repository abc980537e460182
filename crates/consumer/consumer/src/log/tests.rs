//! Partitions on the device: torn ends, forged bytes, segments, retention.

use super::head::SEGMENT_HEAD;
use super::names::file_name;
use super::*;
use crate::scratch::Scratch;
use bytes::Bytes;
use std::path::Path;

mod damage;

const KEEP: Keep =
    Keep { segment_bytes: 1 << 20, bytes: None, millis: None, sync: false, skips: false };

async fn open(directory: &Path, keep: Keep) -> std::sync::Arc<Partition> {
    try_open(directory, keep, 0).await.unwrap()
}

async fn try_open(
    directory: &Path,
    keep: Keep,
    known: u64,
) -> std::io::Result<std::sync::Arc<Partition>> {
    Partition::open(directory, keep, Commons::default(), Begin { is_new: true, known }).await
}

fn new(number: u64) -> New {
    let value = Some(Bytes::from(format!("value {number}")));
    New { timestamp: number as i64, key: Some("k".into()), value, headers: Vec::new() }
}

async fn append(partition: &std::sync::Arc<Partition>, numbers: std::ops::Range<u64>) {
    let first = partition.append(numbers.clone().map(new).collect()).await;
    assert_eq!(first, Ok(numbers.start));
}

async fn read_all(partition: &Partition, from: u64) -> Vec<Entry> {
    let (mut cursor, mut all) = (Cursor { offset: from, known: None }, Vec::new());
    loop {
        let entries = partition
            .read(&mut cursor, (7, usize::MAX), Vec::new(), |entry| entry)
            .await
            .expect("the log is whole");
        if entries.is_empty() {
            return all;
        }
        all.extend(entries);
    }
}

/// The records from the first number up to the second.
#[track_caller]
fn assert_records(entries: &[Entry], start: u64, end: u64) {
    let numbers: Vec<_> = entries.iter().map(|entry| entry.offset).collect();
    assert_eq!(numbers, (start..end).collect::<Vec<_>>());
    for entry in entries {
        assert_eq!(entry.value.as_deref().unwrap(), format!("value {}", entry.offset).as_bytes());
    }
}

fn segment(directory: &Path, base: u64) -> std::path::PathBuf {
    directory.join(file_name(base))
}

#[colored::test]
async fn records_come_back_after_the_next_opening() {
    let scratch = Scratch::new();
    for round in 0..3 {
        let partition = open(scratch.path(), KEEP).await;
        assert_eq!(partition.range().await, (0, round * 20));
        append(&partition, round * 20..round * 20 + 20).await;
        assert_records(&read_all(&partition, 3).await, 3, round * 20 + 20);
    }
}

/// A record that is read with no other, for the room or at the end of the log, keeps little beside itself.
#[colored::test]
async fn a_record_alone_keeps_little_memory() {
    let scratch = Scratch::new();
    let partition = open(scratch.path(), KEEP).await;
    append(&partition, 0..10).await;
    let mut cursor = Cursor { offset: 0, known: None };
    for number in 0..15 {
        let room = match number {
            0..5 => (1, usize::MAX),
            5..10 => (usize::MAX, 1),
            10.. => (usize::MAX, usize::MAX),
        };
        if number >= 10 {
            append(&partition, number..number + 1).await;
        }
        let read = partition.read(&mut cursor, room, Vec::new(), |entry| entry.value);
        let [value] = &mut read.await.expect("the log is whole")[..] else { panic!("one fits") };
        let alone = value.take().map(Bytes::try_into_mut).expect("it has a value");
        let kept = alone.expect("its key is gone").capacity();
        assert!(kept < 64, "{kept} bytes for record {number}");
    }
}

/// The file ends anywhere in the last record: what is before stays, and the next append goes there.
#[colored::test]
async fn a_torn_end_is_cut_off_at_every_length() {
    let scratch = Scratch::new();
    let partition = open(scratch.path(), KEEP).await;
    append(&partition, 0..5).await;
    let path = segment(scratch.path(), 0);
    let whole = std::fs::metadata(&path).unwrap().len();
    append(&partition, 5..6).await;
    drop(partition);
    let bytes = std::fs::read(&path).unwrap();
    for end in whole..bytes.len() as u64 {
        std::fs::write(&path, &bytes[..end as usize]).unwrap();
        let partition = open(scratch.path(), KEEP).await;
        assert_eq!((partition.range().await, partition.cut), ((0, 5), end - whole));
        append(&partition, 5..7).await;
        assert_records(&read_all(&partition, 0).await, 0, 7);
    }
}

#[colored::test]
async fn a_head_that_was_never_written_is_written_again() {
    let scratch = Scratch::new();
    for length in 0..SEGMENT_HEAD {
        std::fs::write(segment(scratch.path(), 7), vec![1; length as usize]).unwrap();
        let partition = open(scratch.path(), KEEP).await;
        assert_eq!((partition.range().await, partition.cut), ((7, 7), length));
        append(&partition, 7..8).await;
        assert_records(&read_all(&partition, 7).await, 7, 8);
        drop(partition);
        std::fs::remove_file(segment(scratch.path(), 7)).unwrap();
    }
}

/// Any changed byte, and zeros or a frame of another place behind the end.
#[colored::test]
async fn forged_bytes_are_never_records() {
    let scratch = Scratch::new();
    let partition = open(scratch.path(), KEEP).await;
    append(&partition, 0..3).await;
    drop(partition);
    let path = segment(scratch.path(), 0);
    let bytes = std::fs::read(&path).unwrap();
    let last = (bytes.len() - SEGMENT_HEAD as usize) / 3;
    let tails: [Vec<u8>; 4] = [
        vec![0; 5000],
        vec![0xff; 5000],
        // A record that stands at another place, with a true checksum.
        bytes[bytes.len() - last..].to_vec(),
        [&(60_u32 << 20).to_le_bytes()[..], &[9; 40]].concat(),
    ];
    for tail in tails {
        std::fs::write(&path, [&bytes[..], &tail].concat()).unwrap();
        let partition = open(scratch.path(), KEEP).await;
        assert_eq!((partition.range().await, partition.cut), ((0, 3), tail.len() as u64));
    }
    for at in SEGMENT_HEAD as usize..bytes.len() {
        let mut forged = bytes.clone();
        forged[at] ^= 0x40;
        std::fs::write(&path, &forged).unwrap();
        let partition = open(scratch.path(), KEEP).await;
        let (_, end) = partition.range().await;
        assert!(end < 3, "byte {at}");
        assert_records(&read_all(&partition, 0).await, 0, end);
    }
}

#[colored::test]
async fn segments_follow_each_other_and_old_ones_go() {
    let scratch = Scratch::new();
    let keep = Keep { segment_bytes: 600, bytes: Some(2_000), ..KEEP };
    let partition = open(scratch.path(), keep).await;
    for first in (0..200).step_by(5) {
        append(&partition, first..first + 5).await;
        let (start, end) = partition.range().await;
        assert_records(&read_all(&partition, start).await, start, end);
    }
    let (start, end) = partition.range().await;
    assert!(start > 0 && end == 200, "{start} to {end}");
    let mut cursor = Cursor { offset: 0, known: None };
    let gone = partition.read(&mut cursor, (1, 1), Vec::new(), |entry| entry).await;
    assert!(matches!(gone, Err(Unread::OutOfRange(from, 200)) if from == start), "{gone:?}");
    drop(partition);
    let files = std::fs::read_dir(scratch.path()).unwrap().count();
    assert!((2..=8).contains(&files), "{files} files");
    let partition = open(scratch.path(), keep).await;
    // The system may have been removing the last of the old files.
    let (again, end) = partition.range().await;
    assert!(again <= start && end == 200, "{again} to {end} behind {start}");
    assert_records(&read_all(&partition, start + 1).await, start + 1, 200);
}

#[colored::test]
async fn old_segments_go_by_their_time() {
    let scratch = Scratch::new();
    let keep = Keep { segment_bytes: 200, ..KEEP };
    let partition = open(scratch.path(), keep).await;
    for first in 0..50 {
        append(&partition, first..first + 1).await;
    }
    let keep = Keep { millis: Some(10), ..keep };
    let removed = partition.state.call(move |state| {
        state.remove_old(keep, 40);
        state.removed.iter().copied().collect::<Vec<_>>()
    });
    let removed = removed.await;
    assert!(!removed.is_empty());
    let (start, _) = partition.range().await;
    // The first segment that stays has a record of the last ten milliseconds.
    assert!((20..=30).contains(&start), "{start}");
}

/// A complete segment with a bad byte: an error that names the place, and no record is skipped.
#[colored::test]
async fn a_bad_byte_in_a_complete_segment_is_an_error() {
    let scratch = Scratch::new();
    let keep = Keep { segment_bytes: 300, ..KEEP };
    let partition = open(scratch.path(), keep).await;
    for first in (0..20).step_by(2) {
        append(&partition, first..first + 2).await;
    }
    drop(partition);
    let path = segment(scratch.path(), 0);
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.len() - 3;
    bytes[at] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let partition = open(scratch.path(), keep).await;
    let mut cursor = Cursor::default();
    let error = loop {
        match partition.read(&mut cursor, (1, usize::MAX), Vec::new(), |entry| entry).await {
            Ok(entries) => assert_eq!(entries.len(), 1),
            Err(Unread::Failed(error)) => break error.to_string(),
            Err(error) => panic!("{error:?}"),
        }
    };
    assert!(error.contains(&file_name(0)) && error.contains("at byte"), "{error}");
}

/// A large record, and many appends at once, all in the order in which they were made.
#[colored::test]
async fn appends_share_writes_and_keep_their_order() {
    let scratch = Scratch::new();
    let partition = open(scratch.path(), Keep { sync: true, ..KEEP }).await;
    let mut confirmations = Vec::new();
    for number in 0..100 {
        let of = std::sync::Arc::clone(&partition);
        let append = move |state: &mut partition::State| state.append(&of, vec![new(number)]);
        confirmations.push(partition.state.call(append).await);
    }
    for (number, confirmation) in (0..).zip(confirmations) {
        assert_eq!(confirmation.await.unwrap(), Ok(number));
    }
    let large = New { value: Some(vec![7; 3 << 20].into()), ..New::default() };
    assert_eq!(partition.append(vec![large]).await, Ok(100));
    let all = read_all(&partition, 0).await;
    assert_records(&all[..100], 0, 100);
    assert_eq!(all[100].value.as_ref().map(Bytes::len), Some(3 << 20));
}

/// A replaced log has the new records only, also if the crash came before the old files were deleted.
#[colored::test]
async fn a_replaced_log_begins_with_the_new_records() {
    let scratch = Scratch::new();
    let partition = open(scratch.path(), KEEP).await;
    append(&partition, 0..10).await;
    let old = std::fs::read(segment(scratch.path(), 0)).unwrap();
    let of = std::sync::Arc::clone(&partition);
    let replace = move |state: &mut partition::State| state.replace(&of, vec![new(10), new(11)]);
    assert_eq!(partition.state.call(replace).await.await.unwrap(), Ok(10));
    assert_records(&read_all(&partition, 10).await, 10, 12);
    assert_eq!(partition.range().await, (10, 12));
    drop(partition);
    // The file goes after the confirmation.
    while segment(scratch.path(), 0).exists() {
        colored::time::sleep(colored::time::Duration::from_millis(1)).await;
    }
    std::fs::write(segment(scratch.path(), 0), old).unwrap();
    let partition = open(scratch.path(), KEEP).await;
    assert_records(&read_all(&partition, 0).await, 0, 12);
}
