//! The embedded engine of the proof.

use crate::process::{Member, Scratch, draw};
use colored_consumer::TopicPartition;
use colored_consumer::embedded::{Engine, NewRecord, Options};
use std::path::{Path, PathBuf};

fn engine(scratch: &Scratch) -> PathBuf {
    scratch.0.join("engine")
}

/// Starts a process with members of the group `g`.
pub(crate) fn start(scratch: &Scratch, options: &str) -> Member {
    let mut program = std::env::current_exe().unwrap();
    program.pop();
    program.set_file_name("examples");
    program.push("consumer-member");
    assert!(program.exists(), "`cargo test -p colored-rt-consumer` builds {program:?}");
    let url = engine(scratch);
    let own = format!("--engine embedded --topic t --group g --url {} {options}", url.display());
    Member::start(&program, scratch, &own)
}

/// Runs in a process that has the engine open.
fn with_engine<T: Send + 'static>(
    directory: &Path,
    run: impl AsyncFnOnce(Engine) -> T + 'static,
) -> T {
    let (runtime, directory) = (colored::Runtime::new().unwrap(), directory.to_owned());
    runtime.block_on(async move {
        let engine = Options::new().sync(false).open(directory).await.unwrap();
        run(engine).await
    })
}

/// Sends numbered records; returns all of them.
pub(crate) fn send(
    scratch: &Scratch,
    count: u64,
    keys: usize,
    partitions: u32,
) -> Vec<(String, u64)> {
    let sent = draw(count, keys);
    let records: Vec<_> = sent
        .iter()
        .map(|(key, number): &(String, u64)| NewRecord::new(key.clone(), number.to_string()))
        .collect();
    with_engine(&engine(scratch), async move |engine| {
        engine.create_topic("t", partitions).await.unwrap();
        engine.send_all("t", records).await.unwrap();
    });
    sent
}

/// The committed offset of each partition.
pub(crate) fn committed(scratch: &Scratch, partitions: u32) -> Vec<u64> {
    with_engine(&engine(scratch), async move |engine| {
        let mut committed = Vec::new();
        for partition in 0..partitions {
            let of = TopicPartition { topic: "t".into(), partition };
            let found = engine.committed("g", &of).await;
            committed.push(found.map_or(0, |found| found.offset));
        }
        committed
    })
}
