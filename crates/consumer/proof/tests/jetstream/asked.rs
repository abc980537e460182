//! What the server sends is what there is room for, and it is sent once: whatever the bounds of a consumer are.

use crate::support::{Topic, nats};
use colored::block_in_place;
use colored::sync::Semaphore;
use colored::time::{Duration, sleep};
use colored_consumer::{Builder, Consumer};
use colored_consumer_jetstream::Member;
use std::sync::Arc;

const PARTITIONS: u32 = 4;

/// Handles so many records of this size. Returns how many of them the server had sent while no handler had come to its end, and
/// how many in all.
async fn handle(
    name: &str,
    (count, size): (u64, usize),
    set: impl FnOnce(Builder<Member>) -> Builder<Member>,
) -> Option<(u64, u64)> {
    let nats = nats()?;
    let topic = Topic::create_at(nats, name, PARTITIONS).await;
    let record = |number| (Some(format!("k{number}")), "v".repeat(size));
    topic.engine.send_all(name, (0..count).map(record).collect::<Vec<_>>()).await.unwrap();
    let gate = Arc::new(Semaphore::new(0));
    let opens = Arc::clone(&gate);
    let builder = set(Consumer::builder(topic.member().join().await.unwrap()).strict(true));
    let consumer = builder.start(move |_, _| {
        let gate = Arc::clone(&gate);
        async move {
            drop(gate.acquire().await);
            Ok(())
        }
    });
    let consumer = consumer.unwrap();
    let delivered = || block_in_place(|| nats.delivered(name));
    // The consumer holds as much as it may when nothing more is sent.
    let mut waiting = 0;
    loop {
        sleep(Duration::from_secs(1)).await;
        let now = delivered();
        if now == std::mem::replace(&mut waiting, now) && now > 0 {
            break;
        }
    }
    opens.add_permits(256);
    assert!(consumer.caught_up().await);
    assert_eq!(consumer.metrics().await.done, count);
    let all = delivered();
    consumer.stop().await.unwrap();
    Some((waiting, all))
}

#[colored::test]
async fn pulls_ask_for_what_there_is_room_for() {
    const COUNT: u64 = 2_000;
    for (name, bound) in [
        ("asked", None),
        ("asked-1", Some(1)),
        ("asked-100", Some(100)),
        ("asked-10000", Some(10_000)),
    ] {
        let sent = handle(name, (COUNT, 100), |builder| match bound {
            Some(bound) => builder.records(bound).partition_records(bound),
            None => builder,
        });
        let Some((waiting, all)) = sent.await else { return };
        println!("{name}: {waiting} were sent before any was handled, and {all} of {COUNT} in all");
        assert!(waiting <= bound.map_or(COUNT, |bound| bound as u64 + 2 * u64::from(PARTITIONS)));
        assert_eq!(all, COUNT, "{name}");
    }
}

#[colored::test]
async fn pulls_ask_for_no_more_bytes_than_there_is_room_for() {
    const COUNT: u64 = 200;
    const SIZE: usize = 100_000;
    let sent = handle("asked-bytes", (COUNT, SIZE), |builder| builder.bytes(1 << 20));
    let Some((waiting, all)) = sent.await else { return };
    println!("{waiting} were sent before any was handled, and {all} of {COUNT} in all");
    // What nothing is known of is taken for small.
    assert!(waiting <= (2 << 20) / SIZE as u64 + 8 * u64::from(PARTITIONS), "{waiting}");
    assert_eq!(all, COUNT);
}
