//! What reports of the runtime, and its socket, tell of partitions: the feature `diagnose`.

use crate::support::{Effects, Scratch, engine, key, metrics_when, millis, send};
use colored::Handle;
use colored::sync::{Mutex, mpsc};
use colored::time::{Duration, Instant};
use colored_consumer::embedded::Engine;
use colored_consumer::{Consumer, Failure};
use std::sync::Arc;

/// The key k2 waits for a channel, at offset 2; k3 is tried twice and given up at its first record. The rest is done.
async fn start_stuck(engine: &Engine, effects: &Effects) -> (Consumer, mpsc::Sender<()>) {
    send(engine, 4, 0, 5).await;
    let (open, gate) = mpsc::channel::<()>(1);
    let gate = Arc::new(Mutex::new(gate));
    let seen = effects.clone();
    let member = engine.member("g", ["t"]).join().await.unwrap();
    let builder = Consumer::builder(member).strict(true).attempts(2).retry(millis(1), millis(1));
    let builder = builder.dead_letters(async |_| Ok(()));
    let consumer = builder.start(move |record, context| {
        let (seen, gate) = (seen.clone(), Arc::clone(&gate));
        async move {
            if key(&record) == "k2" {
                // `None` when the channel is closed.
                let _ = gate.lock().await.recv().await;
            }
            if record.offset == 3 {
                return Err(Failure::retry("never"));
            }
            seen.add(&record, context.generation());
            Ok(())
        }
    });
    let consumer = consumer.unwrap();
    effects.wait_for(14).await;
    metrics_when(&consumer, |metrics| metrics.done >= 15).await;
    (consumer, open)
}

#[colored::test]
async fn a_report_names_the_key_that_holds_a_partition_back_and_what_it_waits_for() {
    let scratch = Scratch::new();
    let engine = engine(&scratch, 1).await;
    let effects = Effects::default();
    let (consumer, open) = start_stuck(&engine, &effects).await;
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        // On a busy machine the task may be in the middle of its poll, or the consumer late.
        let report = Handle::current().observe(millis(100)).await;
        let text = report.to_string();
        let line = text.lines().find(|line| line.starts_with("partition t/0 stands for "));
        if let Some(line) = line
            && let Some((_, rest)) = line.split_once(", 13 records done above: ")
            && let Some(waits) =
                rest.strip_prefix("key \"k2\", offset 2, waits for its handler, which ")
            && waits.contains("waits for a value of a channel")
        {
            assert_eq!(report.partitions.len(), 1);
            let partition = &report.partitions[0];
            assert_eq!((partition.lag, partition.in_flight), (5, 5));
            assert_eq!((partition.retries, partition.dead_letters), (1, 1));
            assert!(partition.first.as_ref().unwrap().stood >= millis(50));
            break;
        }
        assert!(Instant::now() < end, "{text}");
    }
    drop(open);
    effects.wait_for(19).await;
    metrics_when(&consumer, |metrics| metrics.done >= 20).await;
    loop {
        let report = Handle::current().observe(millis(50)).await;
        if report.partitions.is_empty() {
            break;
        }
        assert!(Instant::now() < end, "{report}");
    }
    consumer.stop().await.unwrap();
}

#[cfg(unix)]
#[test]
fn the_socket_tells_of_partitions_while_there_is_a_consumer() {
    use colored::diagnose::Options;
    use std::io::{BufRead, BufReader, Write};
    use std::os::unix::net::UnixStream;

    let scratch = Scratch::new();
    let path = scratch.path().join("socket");
    let options = Options::new().inspect(&path);
    let runtime = colored::Builder::new().workers(2).diagnose(options).build().unwrap();
    let (_log, (consumer, open)) = runtime.run(async {
        let log = Scratch::new();
        let engine = engine(&log, 1).await;
        (log, start_stuck(&engine, &Effects::default()).await)
    });
    let mut reader = BufReader::new(UnixStream::connect(&path).unwrap());
    let mut wait_for = |wanted: &[&str]| {
        let mut line = String::new();
        // Two a second.
        for _ in 0..120 {
            reader.get_mut().write_all(b"snapshot\n").unwrap();
            line.clear();
            reader.read_line(&mut line).unwrap();
            if wanted.iter().all(|part| line.contains(part)) {
                return;
            }
        }
        panic!("{wanted:?} did not come: {line}");
    };
    wait_for(&[
        r#""partitions":[{"partition":"t/0","generation":"#,
        r#""lag":5,"in_flight":5,"done_above":13,"retries":1,"dead_letters":1,"paused":false"#,
        r#""first":{"key":"key \"k2\"","offset":2,"seconds":"#,
        r#""attempts":0,"waits_for":"its handler, which "#,
    ]);
    drop(open);
    runtime.run(consumer.stop()).unwrap();
    wait_for(&[r#""partitions":[],"report""#]);
}
