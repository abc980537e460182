//! The times of records are those of the run, and retention goes by them.

use colored::sim::Builder;
use colored::time::{Duration, sleep, system_time};
use colored_consumer::TopicPartition;
use colored_consumer::embedded::{NewRecord, Options};
use colored_consumer::{Event, Room, Source};
use std::sync::{Arc, Mutex};
use std::time::UNIX_EPOCH;

const HOUR: Duration = Duration::from_secs(3_600);

fn millis() -> i64 {
    system_time().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64
}

/// Sends a record each hour; returns where the log begins, and the times of what is left.
async fn times() -> (u64, Vec<i64>) {
    let options = Options::new().segment_bytes(100).retain_for(Duration::from_secs(60));
    let engine = options.open("/log").await.unwrap();
    engine.create_topic("t", 1).await.unwrap();
    let mut sent = Vec::new();
    for number in 0..3 {
        let before = millis();
        let record = NewRecord::new("k", format!("{number} {}", "x".repeat(100)));
        engine.send("t", record).await.unwrap();
        sent.push(before..=millis());
        sleep(HOUR).await;
    }
    engine.delete_old().await;
    let of = TopicPartition { topic: "t".into(), partition: 0 };
    let (start, end) = engine.range(&of).await.unwrap();
    assert_eq!((start, end), (2, 3), "all are older than a minute, and the last stays");
    let mut times = Vec::new();
    let mut member = engine.member("g", ["t"]).join().await.unwrap();
    loop {
        match member.poll(Room { records: 10, bytes: 1_000 }).await.unwrap() {
            Event::Assigned(all) => member.begin(&all[0].owned, start),
            Event::Records { records, .. } => {
                times.extend(records.iter().map(|record| record.timestamp));
                if times.len() == 1 {
                    engine.send("t", NewRecord::new("k", "last")).await.unwrap();
                } else if let [last, now] = times[..] {
                    member.close().await.unwrap();
                    assert!(sent[2].contains(&last), "{times:?}");
                    assert!((millis() - now).abs() < 60_000, "{times:?}");
                    return (start, times);
                }
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn records_have_the_time_of_the_run() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    for _ in 0..2 {
        let sees = Arc::clone(&seen);
        let report = Builder::new().seeds(0..1).run(move || {
            let sees = Arc::clone(&sees);
            async move {
                let found = times().await;
                sees.lock().unwrap().push(found);
            }
        });
        report.assert_passed();
        // The system's clock goes on.
        std::thread::sleep(Duration::from_millis(20));
    }
    let seen = seen.lock().unwrap();
    assert!(seen.len() >= 2 && seen.iter().all(|found| *found == seen[0]), "{seen:?}");
}
