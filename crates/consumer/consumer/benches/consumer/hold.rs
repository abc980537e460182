//! The memory of a consumer: with many records in flight, and while many keys pass. The benches of the other engines use it,
//! too.

use colored::sync::Semaphore;
use colored::time::{Duration, sleep};
use colored_consumer::{Consumer, Source};
use std::sync::Arc;

pub(crate) const KEYS: u64 = 1_000_000;
const HELD: usize = 100_000;

/// Reads records until so many are in flight, whose handlers wait. Then lets all pass, a key each.
pub(crate) async fn hold_and_pass<S: Source>(member: S, handlers: usize) {
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
        seen.push(format!("{:.0}", resident() - before));
    }
    consumer.stop().await.expect("the engine works");
    println!(
        "memory: {held:.1} MB with {in_flight} records in flight, {handlers} handlers at most; {} MB \
         after each 100,000 keys",
        seen.join(", ")
    );
}

/// The memory of this process in pages, in MB. Linux only.
fn resident() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let kilobytes = line.trim().strip_suffix(" kB").and_then(|number| number.parse().ok());
    kilobytes.unwrap_or(0.0) / 1024.0
}
