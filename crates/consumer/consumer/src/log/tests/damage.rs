//! Logs that are not what they were: a bad bit at each place of each file, files that are cut, and files that are gone. No
//! confirmed record is lost in silence, and no offset is given twice.

use super::*;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Records of the log.
const END: u64 = 27;

const SMALL: Keep = Keep { segment_bytes: 600, ..KEEP };

/// A log of several segments, in rows of one to three records.
async fn write_log(directory: &Path, sync: bool) -> BTreeMap<PathBuf, Vec<u8>> {
    let partition = open(directory, Keep { sync, ..SMALL }).await;
    let mut next = 0;
    for length in [1, 2, 3].into_iter().cycle().take(14) {
        append(&partition, next..next + length).await;
        next += length;
    }
    assert_eq!(partition.range().await, (0, END));
    partition.close("the end").await;
    let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

fn write_files(directory: &Path, files: &BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
    for (path, bytes) in files {
        std::fs::write(path, bytes).unwrap();
    }
}

/// What an opening finds: the offsets that can be read, those that it says are lost, the offset of the next append, and the
/// first error.
#[derive(Debug, Default)]
struct Found {
    read: Vec<u64>,
    lost: Vec<std::ops::Range<u64>>,
    next: Option<u64>,
    error: Option<String>,
}

async fn look(directory: &Path, skips: bool, known: u64) -> Found {
    let mut found = Found::default();
    let begin = Begin { is_new: false, known };
    let keep = Keep { skips, ..SMALL };
    let partition = match Partition::open(directory, keep, Commons::default(), begin).await {
        Ok(partition) => partition,
        Err(error) => return Found { error: Some(error.to_string()), ..found },
    };
    let mut cursor = Cursor { offset: partition.range().await.0, known: None };
    loop {
        match partition.read(&mut cursor, (2, usize::MAX), Vec::new(), |entry| entry).await {
            Ok(entries) if entries.is_empty() => break,
            Ok(entries) => {
                for entry in entries {
                    let value = entry.value.as_deref().unwrap();
                    assert_eq!(value, format!("value {}", entry.offset).as_bytes());
                    found.read.push(entry.offset);
                }
            }
            Err(Unread::Lost(lost)) => {
                assert!(!skips && lost.start == cursor.offset && lost.end > lost.start, "{lost:?}");
                cursor = Cursor { offset: lost.end, known: None };
            }
            Err(Unread::Failed(error)) => {
                found.error = Some(error.to_string());
                break;
            }
            Err(error) => panic!("{error:?}"),
        }
    }
    found.lost = partition.lost().await;
    found.next = Some(partition.append(vec![new(0)]).await.unwrap());
    partition.close("the end").await;
    found
}

impl Found {
    /// Every confirmed record was read, or an error or the list of what is lost says that it was not; and the next offset is a new
    /// one.
    #[track_caller]
    fn check(&self, what: &str, end: u64) {
        assert!(self.read.is_sorted_by(|before, after| before < after), "{what}: {self:?}");
        if self.error.is_none() {
            let is_there = |offset: &u64| {
                self.read.contains(offset) || self.lost.iter().any(|lost| lost.contains(offset))
            };
            assert!((0..end).all(|offset| is_there(&offset)), "{what}: {self:?}");
        }
        assert!(self.next.is_none_or(|next| next >= end), "{what}: {self:?}");
        if let Some(error) = &self.error {
            assert!(error.contains(".log is damaged at byte"), "{what}: {error}");
        }
    }
}

/// One bit of each byte of each file. What is left can be read, and what is not is named.
#[colored::test]
async fn a_bad_bit_is_an_error_that_names_the_place() {
    let scratch = Scratch::new();
    let files = write_log(scratch.path(), true).await;
    assert!(files.len() > 2);
    let (mut errors, mut flips) = (0, 0);
    for (path, bytes) in &files {
        for at in 0..bytes.len() {
            let mut bad = bytes.clone();
            bad[at] ^= 1 << (at % 8);
            let mut changed = files.clone();
            changed.insert(path.clone(), bad.clone());
            write_files(scratch.path(), &changed);
            let what = format!("byte {at} of {}", path.display());
            let found = look(scratch.path(), false, 0).await;
            found.check(&what, END);
            flips += 1;
            if found.error.is_none() {
                // The other head stands for this one, and a mark is no record.
                assert_eq!(found.read, (0..END).collect::<Vec<_>>(), "{what}");
                continue;
            }
            errors += 1;
            assert_eq!(std::fs::read(path).unwrap()[..bytes.len()], bad, "what is damaged stays");
            write_files(scratch.path(), &changed);
            let found = look(scratch.path(), true, 0).await;
            assert_eq!(found.error, None, "{what}");
            found.check(&what, END);
            assert_eq!(found.read.len() as u64, END - 1, "{what}: one record is lost: {found:?}");
        }
    }
    assert!(errors > flips / 2, "{errors} of {flips}");
}

/// Without `sync` no mark stands behind the last row: a bad bit there is taken for a torn end, unless a commit tells.
#[colored::test]
async fn without_marks_the_last_row_is_safe_by_the_commits() {
    let scratch = Scratch::new();
    let files = write_log(scratch.path(), false).await;
    let (path, bytes) = files.last_key_value().unwrap();
    for at in SEGMENT_HEAD as usize..bytes.len() {
        let mut changed = files.clone();
        changed.get_mut(path).unwrap()[at] ^= 1 << (at % 8);
        for (known, end) in [(0, END - 2), (END, END)] {
            write_files(scratch.path(), &changed);
            look(scratch.path(), false, known).await.check(&format!("byte {at}"), end);
        }
    }
}

/// Each file is cut at each place. A log that is shorter than a commit says goes on where the commit was.
#[colored::test]
async fn a_log_that_is_cut_goes_on_behind_what_was_committed() {
    let scratch = Scratch::new();
    let files = write_log(scratch.path(), true).await;
    let last = files.keys().last().unwrap();
    for (path, bytes) in &files {
        for end in 0..bytes.len() {
            let mut changed = files.clone();
            changed.get_mut(path).unwrap().truncate(end);
            write_files(scratch.path(), &changed);
            let what = format!("{end} bytes of {}", path.display());
            let found = look(scratch.path(), false, END).await;
            found.check(&what, END);
            // A head that is gone was there, as the segment before says.
            let has_head = path == last && end >= SEGMENT_HEAD as usize;
            let has_all = path != last && end + 20 >= bytes.len();
            assert_eq!(found.error.is_none(), has_head || has_all, "{what}: {found:?}");
        }
    }
}

/// A power failure without `sync`: the file has its length, and zeros from a record on, or from a block on. A log that a commit
/// knows to have been longer goes on where the commit was.
#[colored::test]
async fn an_end_that_was_never_written_is_cut_off_without_sync() {
    for sync in [false, true] {
        let scratch = Scratch::new();
        let (partition, path) = (open(scratch.path(), KEEP).await, segment(scratch.path(), 0));
        let mut places = vec![0, SEGMENT_HEAD as usize];
        for number in 0..END {
            append(&partition, number..number + 1).await;
            places.push(std::fs::metadata(&path).unwrap().len() as usize);
        }
        partition.close("the end").await;
        let whole = std::fs::read(&path).unwrap();
        places.pop();
        places.extend((1..whole.len() / 512).map(|block| block * 512));
        for place in places {
            let mut bytes = whole.clone();
            bytes[place..].fill(0);
            write_files(scratch.path(), &[(path.clone(), bytes)].into());
            if sync {
                let begin = Begin { is_new: false, known: END };
                let keep = Keep { sync, ..KEEP };
                let opened = Partition::open(scratch.path(), keep, Commons::default(), begin).await;
                assert!(opened.is_err(), "from byte {place}: {opened:?}");
                continue;
            }
            let found = look(scratch.path(), false, END).await;
            assert_eq!(found.error, None, "from byte {place}");
            found.check(&format!("from byte {place}"), END);
        }
    }
}

#[colored::test]
async fn a_missing_segment_is_an_error() {
    let scratch = Scratch::new();
    let files = write_log(scratch.path(), true).await;
    // The first one may be gone by retention.
    for path in files.keys().skip(1) {
        let mut changed = files.clone();
        changed.remove(path);
        write_files(scratch.path(), &changed);
        let found = look(scratch.path(), false, 0).await;
        found.check(&format!("without {}", path.display()), END);
        assert!(found.error.is_some(), "without {}: {found:?}", path.display());
        write_files(scratch.path(), &changed);
        let found = look(scratch.path(), true, 0).await;
        assert_eq!(found.error, None);
        assert!(found.next >= Some(END), "{found:?}");
    }
    write_files(scratch.path(), &BTreeMap::new());
    let found = look(scratch.path(), false, 0).await;
    assert!(found.error.is_some_and(|error| error.contains("has no segment")));
}

/// A write whose later pages are on the device and whose first ones are not was never confirmed.
#[colored::test]
async fn a_row_with_a_hole_is_cut_off() {
    let scratch = Scratch::new();
    let partition = open(scratch.path(), Keep { sync: true, ..KEEP }).await;
    append(&partition, 0..5).await;
    partition.close("the end").await;
    let path = segment(scratch.path(), 0);
    let whole = std::fs::metadata(&path).unwrap().len() - 20;
    let partition = open(scratch.path(), Keep { sync: true, ..KEEP }).await;
    append(&partition, 5..30).await;
    partition.close("the end").await;
    let mut bytes = std::fs::read(&path).unwrap();
    // The mark is not there, and neither is the page of the first records.
    bytes.truncate(bytes.len() - 20);
    bytes[whole as usize..][..100].fill(0);
    std::fs::write(&path, &bytes).unwrap();
    let partition = open(scratch.path(), KEEP).await;
    assert_eq!((partition.range().await, partition.cut), ((0, 5), bytes.len() as u64 - whole));
    append(&partition, 5..7).await;
    assert_records(&read_all(&partition, 0).await, 0, 7);
}

/// The records of rolls that failed are not hidden by what those have left.
#[colored::test]
async fn empty_segments_before_the_end_are_deleted() {
    let scratch = Scratch::new();
    let partition = open(scratch.path(), KEEP).await;
    append(&partition, 0..5).await;
    for base in [2, 3] {
        let head = head::SegmentHead::new(base, base, partition.identity);
        std::fs::write(segment(scratch.path(), base), head.encode()).unwrap();
    }
    partition.close("the end").await;
    let partition = open(scratch.path(), KEEP).await;
    assert_eq!(partition.range().await, (0, 5));
    assert_records(&read_all(&partition, 0).await, 0, 5);
}

#[colored::test]
async fn another_format_is_refused() {
    let scratch = Scratch::new();
    let old = [&[24, 0, 0, 0, 1, 2, 3, 4], &b"colored segment1"[..], &[0; 8]].concat();
    std::fs::write(segment(scratch.path(), 0), old).unwrap();
    let error = try_open(scratch.path(), KEEP, 0).await.unwrap_err().to_string();
    assert!(error.contains("format 1") && error.contains("format 2"), "{error}");
}
