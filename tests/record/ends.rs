//! Files that are no complete records, and the thread outside.

use super::Record;
use super::program::program;
use colored::sync::mpsc;
use colored::{ColorCell, Runtime, spawn_blocking, spawn_colored};
use std::env;
use std::error::Error;
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

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
    for error in [gone, refused] {
        let cause = error.source().and_then(|error| error.downcast_ref::<io::Error>());
        assert!(cause.is_some_and(|error| error.raw_os_error().is_some()), "{error:?}");
    }
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
            // Not a cell: its end may come before or behind that of the run.
            spawn_colored(1, async {}).await.unwrap();
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

/// Names the file of the record in the child of the test below.
const CHILD: &str = "COLORED_TEST_CHILD";

/// Records a blocking call that returns at once; in the replay it returns much later than the test needs.
fn replay_a_call_that_does_not_return(file: &OsStr) {
    let run = |runtime: Runtime, seconds: u64| {
        let call = move || thread::sleep(Duration::from_secs(seconds));
        runtime.run(async move { spawn_blocking(call).await.unwrap() });
    };
    run(Runtime::builder().workers(2).record(file).build().unwrap(), 0);
    run(Runtime::builder().workers(2).replay(file).build().unwrap(), 60);
}

#[test]
fn a_blocking_call_that_does_not_return_is_named() {
    if let Some(file) = env::var_os(CHILD) {
        return replay_a_call_that_does_not_return(&file);
    }
    let record = Record::new();
    let mut child = Command::new(env::current_exe().unwrap())
        .args([
            "record::ends::a_blocking_call_that_does_not_return_is_named",
            "--exact",
            "--nocapture",
        ])
        .env(CHILD, &record.0)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let said = lines.find(|line| line.starts_with("colored: the replay waits: "));
    child.kill().unwrap();
    child.wait().unwrap();
    let said = said.expect("a line before the call returns");
    assert!(said.contains("a blocking call made at tests/record/ends.rs:"), "{said}");
    assert!(said.contains(" has not returned"), "{said}");
}
