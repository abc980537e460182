//! Programs that lose data in a power failure, and their twins.

use super::{failure, passes};
use crate::assert_all_seen;
use colored::fs::{self, File};
use colored::io::{AsyncWriteExt, named};
use colored::sim;
use std::io;

/// Replaces a file.
pub(super) async fn save(bytes: &[u8], sync_file: bool, sync_directory: bool) -> io::Result<()> {
    let mut file = File::create("/data/state.new").await?;
    file.write_all(bytes).await?;
    if sync_file {
        file.sync_all().await?;
    }
    drop(file);
    fs::rename("/data/state.new", "/data/state").await?;
    if sync_directory {
        File::open("/data").await?.sync_all().await?;
    }
    Ok(())
}

async fn save_and_lose_power(sync_file: bool, sync_directory: bool) {
    save(b"new", sync_file, sync_directory).await.unwrap();
    sim::fs::fail_power("main");
    let state = fs::read_to_string("/data/state").await.unwrap();
    assert!(state == "new", "the state is {state:?}");
}

fn with_old_state<F>(program: impl Fn() -> F + Sync) -> impl Fn() -> F + Sync {
    move || {
        sim::fs::write("main", "/data/state", "old").unwrap();
        program()
    }
}

#[test]
fn a_replaced_file_needs_both_syncs() {
    let found = failure(with_old_state(|| save_and_lose_power(true, false)));
    assert!(found.message().contains("the state is \"old\""), "{found}");
    assert_eq!(found.choices(), 0, "by default all is lost: {found}");
    let found = failure(with_old_state(|| save_and_lose_power(false, true)));
    assert!(found.message().contains("the state is \"\""), "{found}");
    let _report = passes(with_old_state(|| save_and_lose_power(true, true)));
}

/// The file is empty if the rename is on the device and the bytes are not.
async fn save_carelessly_or_not(sync_file: bool) {
    save(b"new", sync_file, false).await.unwrap();
    sim::fs::fail_power("main");
    let state = fs::read_to_string("/data/state").await.unwrap();
    sim::sometimes!(state == "new", "the new state");
    sim::sometimes!(state == "old", "the old state");
    assert!(state == "old" || state == "new", "the state is {state:?}");
}

#[test]
fn a_file_may_be_empty_after_a_rename() {
    let found = failure(with_old_state(|| save_carelessly_or_not(false)));
    assert!(found.message().contains("the state is \"\""), "{found}");
    assert!(found.choices() <= 3, "{found}");
    assert_all_seen(&passes(with_old_state(|| save_carelessly_or_not(true))));
}

/// The checksum of a record.
fn sum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

fn record(number: u8) -> Vec<u8> {
    let bytes = vec![number; 700];
    [&700_u32.to_le_bytes()[..], &sum(&bytes).to_le_bytes()[..], &bytes].concat()
}

/// The records of a log, up to the first one that is not whole; with `sums`, or whose checksum is wrong.
fn records(log: &[u8], sums: bool) -> Vec<Vec<u8>> {
    let mut left = log;
    let mut records = Vec::new();
    while left.len() >= 8 {
        let (head, rest) = left.split_at(8);
        let len = u32::from_le_bytes(head[..4].try_into().unwrap()) as usize;
        if len == 0 || sums && rest.len() < len {
            break;
        }
        let bytes = &rest[..len.min(rest.len())];
        if sums && sum(bytes).to_le_bytes() != head[4..] {
            break;
        }
        records.push(bytes.to_vec());
        left = &rest[bytes.len()..];
    }
    records
}

async fn append_and_lose_power(sums: bool) {
    let mut log = File::options().append(true).create(true).open("/log").await.unwrap();
    File::open("/").await.unwrap().sync_all().await.unwrap();
    for number in 1..=2 {
        log.write_all(&record(number)).await.unwrap();
    }
    log.sync_data().await.unwrap();
    for number in 3..=5 {
        log.write_all(&record(number)).await.unwrap();
    }
    sim::fs::fail_power("main");
    let log = fs::read("/log").await.unwrap();
    let records = records(&log, sums);
    assert!(records.len() >= 2, "a synced record is lost");
    sim::sometimes!(records.len() == 5, "all are there");
    sim::sometimes!(log.len() % 708 != 0, "a torn record");
    for (number, bytes) in (1..).zip(&records) {
        assert!(*bytes == [number; 700], "record {number} is torn");
    }
}

#[test]
fn a_torn_record_is_found_by_its_checksum() {
    let found = failure(|| append_and_lose_power(false));
    assert!(found.message().contains("is torn"), "{found}");
    assert!(found.choices() <= 6, "{found}");
    assert_all_seen(&passes(|| append_and_lose_power(true)));
}

#[test]
fn a_file_that_is_opened_with_dsync_needs_no_sync() {
    #[cfg(target_os = "linux")]
    let _report = passes(|| {
        sim::fs::write("main", "/log", "").unwrap();
        async {
            let flags = rustix::fs::OFlags::DSYNC.bits().cast_signed();
            let mut options = File::options();
            let mut log = options.append(true).custom_flags(flags).open("/log").await.unwrap();
            log.write_all(b"bytes").await.unwrap();
            sim::fs::fail_power("main");
            assert_eq!(fs::read("/log").await.unwrap(), b"bytes");
            let error = named(log.write(b"more")).await.unwrap_err();
            assert!(error.to_string().starts_with("cannot write to /log"), "{error}");
        }
    });
}
