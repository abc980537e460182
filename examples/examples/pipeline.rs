//! A pipeline of stages: numbers come in, four at a time are factored, and one stage counts what is
//! found. Each stage has a bounded queue, so the slowest one sets the pace and memory stays flat.
//!
//! ```text
//! cargo run --release -p colored-examples --example pipeline
//! ```

use colored::stage::{Batch, Builder, Events, Graph, Stage, each};
use colored_examples::{Args, Failure};
use std::collections::BTreeMap;
use std::time::Instant;

const NUMBERS: u64 = 100_000;
const PARTITIONS: usize = 4;

#[colored::main]
async fn main() -> Result<(), Failure> {
    Args::from_command_line("pipeline").end()?;
    let start = Instant::now();
    let mut graph = Graph::new();
    // The last stage first: a stage is made before the stages that send to it.
    let (report, reported) = colored::sync::oneshot::channel();
    let count = graph.add("count", counter(report));
    let factor = graph.add("factor", factorizer(count));

    for number in 2..NUMBERS + 2 {
        // Waits while the queue is full.
        factor.send(number).await?;
    }
    for (name, done) in graph.drain().await {
        println!("{name}: {} events in {} batches", done.handled, done.batches);
    }
    let counts = reported.await?;
    for (factor, numbers) in counts.iter().take(4) {
        println!("{numbers} numbers have the smallest factor {factor}");
    }
    println!("{} kinds in {:.1?}", counts.len(), start.elapsed());
    Ok(())
}

/// Four partitions, each under a color of its own. Their batches grow as long as that helps.
fn factorizer(count: Stage<u64>) -> Stage<u64> {
    let factor = move |numbers: Events<u64>| {
        let count = count.clone();
        async move {
            for number in numbers {
                // Closed only after this stage has been drained.
                count.send(smallest_factor(number)).await.expect("it is open");
            }
        }
    };
    Builder::new()
        .capacity(1_024)
        .parallel(PARTITIONS, |number: &u64| *number)
        .batch(Batch::Adaptive { max: 256 })
        .build(factor)
}

/// Counts kinds, and hands the counts over when it ends.
struct Counter {
    counts: BTreeMap<u64, u64>,
    report: Option<colored::sync::oneshot::Sender<BTreeMap<u64, u64>>>,
}

impl Drop for Counter {
    fn drop(&mut self) {
        if let Some(report) = self.report.take() {
            // No task waits if the program failed before.
            let _ = report.send(std::mem::take(&mut self.counts));
        }
    }
}

/// One event at a time, and so no lock around the counts.
fn counter(report: colored::sync::oneshot::Sender<BTreeMap<u64, u64>>) -> Stage<u64> {
    let mut counter = Counter { counts: BTreeMap::new(), report: Some(report) };
    let mut handler = Some(each(move |kind: u64| *counter.counts.entry(kind).or_default() += 1));
    Builder::new().capacity(1_024).build_with(move |_| handler.take().expect("one partition"))
}

fn smallest_factor(number: u64) -> u64 {
    (2..).take_while(|n| n * n <= number).find(|n| number.is_multiple_of(*n)).unwrap_or(number)
}
