//! Disks that fail, and hosts that crash and find what they have synced.

use super::power::save;
use crate::{assert_all_seen, found, silent};
use colored::fs::{self, File};
use colored::io::named;
use colored::sim::{self, Builder, Fault, Faults, Report};
use colored::time::{Duration, sleep};
use colored_tests::soak::repeat;
use std::io::ErrorKind;

/// Writes until a sync has succeeded. The wrong program syncs again what the system has given up.
async fn write_durably(bytes: &[u8], wrong: bool) {
    loop {
        let file = File::create("/data/state").await.unwrap();
        if let Err(error) = file.write_all_at(bytes, 0).await {
            sim::sometimes!(error.kind() == ErrorKind::StorageFull, "a write finds no room");
            sim::sometimes!(error.kind() != ErrorKind::StorageFull, "a write fails");
            continue;
        }
        if wrong {
            while file.sync_all().await.is_err() {}
            return;
        }
        if file.sync_all().await.is_ok() {
            return;
        }
    }
}

fn write_on_a_bad_disk(wrong: bool) -> Report {
    let seeds = if wrong { 0..1000 } else { silent(1000) };
    Builder::new().seeds(seeds).faults(Faults::none().with(Fault::Disk)).run(move || {
        sim::fs::write("main", "/data/state", "old").unwrap();
        async move {
            write_durably(b"new", wrong).await;
            sim::fs::fail_power("main");
            let state = loop {
                match named(fs::read_to_string("/data/state")).await {
                    Ok(state) => break state,
                    Err(error) => assert!(error.to_string().starts_with("cannot read /data/state")),
                }
            };
            assert!(state == "new", "the state is {state:?}");
        }
    })
}

#[test]
fn a_sync_that_has_failed_is_not_mended_by_another_one() {
    let found = found(&write_on_a_bad_disk(true));
    assert!(found.message().contains("the state is"), "{found}");
    assert!(found.choices() <= 3, "{found}");
    assert_all_seen(&write_on_a_bad_disk(false));
}

/// Counts the starts of a host in a file.
async fn count_start(sync_file: bool) {
    let starts = fs::read_to_string("/data/state").await.unwrap();
    let starts: u32 = starts.parse().unwrap_or_else(|_| panic!("the count is {starts:?}"));
    save((starts + 1).to_string().as_bytes(), sync_file, true).await.unwrap();
}

fn restart_twice(sync_file: bool) -> Report {
    let seeds = if sync_file { silent(1000) } else { 0..1000 };
    Builder::new().seeds(seeds).host("store", move || count_start(sync_file)).run(|| {
        sim::fs::write("store", "/data/state", "0").unwrap();
        async {
            let store = sim::host("store");
            sleep(Duration::from_secs(1)).await;
            for _ in 0..2 {
                store.crash().await;
                store.restart();
                sleep(Duration::from_secs(1)).await;
            }
            assert_eq!(sim::fs::read("store", "/data/state").unwrap(), b"3");
            assert!(sim::fs::read("main", "/data/state").is_err(), "each host has its own files");
        }
    })
}

#[test]
fn a_host_finds_after_a_crash_what_it_has_synced() {
    let found = found(&restart_twice(false));
    assert!(found.message().contains("the count is \"\""), "{found}");
    restart_twice(true).assert_passed();
}

/// Crashes and faults of disks at any time, by the swarm.
#[test]
fn a_count_that_is_saved_with_care_never_goes_back() {
    let report = Builder::new()
        .seeds(0..repeat(100, 300) as u64)
        .faults(Faults::none().with(Fault::Crash).with(Fault::Disk))
        .host("store", || async {
            loop {
                let Ok(text) = fs::read_to_string("/data/state").await else { continue };
                let count: u64 = text.parse().unwrap_or_else(|_| panic!("the count is {text:?}"));
                let said = sim::fs::read("main", "/said").unwrap();
                let said: u64 = String::from_utf8(said).unwrap().parse().unwrap();
                assert!(count >= said, "the count was {said}, and is {count}");
                if save((count + 1).to_string().as_bytes(), true, true).await.is_ok() {
                    sim::fs::write("main", "/said", (count + 1).to_string()).unwrap();
                }
                sleep(Duration::from_millis(10)).await;
            }
        })
        .run(|| {
            sim::fs::write("store", "/data/state", "0").unwrap();
            sim::fs::write("main", "/said", "0").unwrap();
            async {
                sleep(Duration::from_millis(500)).await;
                let said = String::from_utf8(sim::fs::read("main", "/said").unwrap()).unwrap();
                let said: u64 = said.parse().unwrap();
                sim::sometimes!(said < 25, "fewer than 25");
                sim::sometimes!(said >= 25, "25 and more");
            }
        });
    assert_all_seen(&report);
}
