//! The memory of a consumer: with many records in flight, and while many keys pass.
//!
//! A process of its own is measured, which has never held more.

use crate::support::{Directory, open, resident, runtime};
use colored::sync::Semaphore;
use colored::time::{Duration, sleep};
use colored_consumer::Consumer;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

/// The name of the child's task.
pub(crate) const CHILD: &str = "hold-and-pass";

const KEYS: u64 = 1_000_000;
const HELD: usize = 100_000;

pub(crate) fn memory() {
    let directory = Directory::new("memory");
    for part in 0..10 {
        directory.fill(part * 100_000..(part + 1) * 100_000);
    }
    let program = std::env::current_exe().expect("the program has a file");
    for handlers in ["256", "100000"] {
        let status = Command::new(&program).args([CHILD, handlers]).arg(directory.path()).status();
        assert!(status.expect("it starts").success());
    }
}

/// Reads records until so many are in flight, whose handlers wait. Then lets all pass, a key each.
pub(crate) fn hold_and_pass(handlers: usize, path: PathBuf) {
    runtime(2).run(async move {
        let engine = open(path).await;
        let member = engine.member(&format!("g{handlers}"), ["t"]).join().await.expect("a member");
        let before = resident();
        let gate = Arc::new(Semaphore::new(0));
        let entered = Arc::clone(&gate);
        // Reading stops when a sixteenth of the bound is left.
        let builder = Consumer::builder(member).concurrency(handlers).records(HELD + HELD / 15);
        let consumer = builder.start(move |_, _| {
            let entered = Arc::clone(&entered);
            async move {
                drop(entered.acquire().await);
                Ok(())
            }
        });
        let consumer = consumer.expect("the settings are good");
        while consumer.metrics().await.in_flight < HELD - HELD / 100 {
            sleep(Duration::from_millis(50)).await;
        }
        sleep(Duration::from_millis(500)).await;
        let (held, in_flight) = (resident() - before, consumer.metrics().await.in_flight);
        gate.add_permits(HELD);
        let mut seen = Vec::new();
        for part in 1..=10 {
            while consumer.metrics().await.done < KEYS / 10 * part {
                sleep(Duration::from_millis(5)).await;
            }
            seen.push(resident() - before);
        }
        consumer.stop().await.expect("the engine works");
        let seen: Vec<_> = seen.iter().map(|now| format!("{now:.0}")).collect();
        println!(
            "memory: {held:.1} MB with {in_flight} records in flight, {handlers} handlers at most; {} MB \
             after each 100,000 keys",
            seen.join(", ")
        );
    });
}
