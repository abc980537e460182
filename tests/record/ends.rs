//! Files that are no complete records, and the thread outside.

use super::Record;
use super::program::program;
use colored::sync::mpsc;
use colored::{ColorCell, Runtime};
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The error of a replay of a file with these bytes.
#[track_caller]
fn error_of(bytes: &[u8]) -> String {
    let file = Record::new();
    std::fs::write(&file.0, bytes).unwrap();
    let error = Runtime::builder().workers(1).replay(&file.0).build().expect_err("it is no record");
    assert_eq!(error.kind(), ErrorKind::InvalidData, "{error}");
    let text = error.to_string();
    assert!(text.contains(file.0.to_str().unwrap()), "{text}");
    text
}

#[test]
fn what_is_no_complete_record_is_an_error_of_build() {
    let (record, _) = Record::of(2, || program(1, 20, 5));
    let bytes = record.bytes();
    let parts = [16, 17, bytes.len() / 2, bytes.len() - 1];
    for length in parts {
        let text = error_of(&bytes[..length]);
        assert!(text.contains("its end is missing"), "{length} of {}: {text}", bytes.len());
    }
    for at in [20, bytes.len() / 2, bytes.len() - 2] {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        let text = error_of(&changed);
        assert!(text.contains("damaged") || text.contains("missing"), "byte {at}: {text}");
    }
    assert!(error_of(b"[package]\nname = \"x\"\n").contains("no record"));
    assert!(error_of(b"").contains("no record"));
}

#[test]
fn a_file_that_is_not_there_or_cannot_be_made_is_named() {
    let gone = Runtime::builder().replay("/nowhere/at/all").build().unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::NotFound);
    assert!(gone.to_string().contains("/nowhere/at/all"), "{gone}");
    let refused = Runtime::builder().record("/nowhere/at/all").build().unwrap_err();
    assert!(refused.to_string().contains("cannot record into /nowhere/at/all"), "{refused}");
    let embedded = Runtime::builder().record("x").build_embedded().unwrap_err();
    assert_eq!(embedded.kind(), ErrorKind::InvalidInput);
}

/// What the thread outside does between two calls of `block_on` is part of the run.
fn from_outside(runtime: &Runtime) -> Vec<u64> {
    let list = runtime.block_on(async { ColorCell::new(1, Vec::new()) });
    let (sender, mut receiver) = mpsc::unbounded_channel();
    for number in 0..20_u64 {
        let (list, sender) = (&list, &sender);
        let (own, messages) = (list.clone(), sender.clone());
        runtime.spawn_colored(number % 3, async move {
            own.call(move |list| list.push(number)).await;
            messages.send(number).unwrap();
        });
        if number % 5 == 0 {
            let seen = list.clone();
            let length = runtime.block_on(async move { seen.call(|list| list.len()).await });
            sender.send(1_000 + length as u64).unwrap();
        }
    }
    drop(sender);
    runtime.block_on(async move {
        let mut all = Vec::new();
        while let Some(value) = receiver.recv().await {
            all.push(value);
        }
        all.extend(list.call(|list| list.clone()).await);
        all
    })
}

#[test]
fn the_thread_that_makes_the_runtime_is_a_source() {
    let record = Record::new();
    let runtime = Runtime::builder().workers(2).record(&record.0).build().unwrap();
    let recorded = from_outside(&runtime);
    drop(runtime);
    for workers in [1, 2, 8] {
        let runtime = Runtime::builder().workers(workers).replay(&record.0).build().unwrap();
        assert_eq!(from_outside(&runtime), recorded, "{workers} workers");
    }
}

#[test]
fn a_replay_that_waits_where_the_recorded_run_has_ended_is_stopped() {
    let record = Record::new();
    let run = |runtime: Runtime, waits: bool| {
        runtime.run(async move {
            let cell = ColorCell::new(1, 0);
            cell.call(|count| *count += 1).await;
            if waits {
                std::future::pending::<()>().await;
            }
        });
    };
    run(Runtime::builder().workers(2).record(&record.0).build().unwrap(), false);
    for workers in [1, 4] {
        let runtime = Runtime::builder().workers(workers).replay(&record.0).build().unwrap();
        let stopped = catch_unwind(AssertUnwindSafe(|| run(runtime, true))).unwrap_err();
        let text = stopped.downcast_ref::<String>().expect("a text");
        assert!(text.contains("the recorded run has ended here"), "{text}");
    }
}
