//! JetStream.

use crate::plan::{self, Engine, PARTITIONS};
use colored_consumer::{Event, Room, Source, TopicPartition};
use colored_consumer_jetstream::Engine as Client;
use colored_engines_proof::nats::Nats;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

fn with_client<T: Send + 'static>(nats: &Nats, run: impl AsyncFnOnce(Client) -> T) -> T {
    let (runtime, url) = (colored::Runtime::new().unwrap(), nats.url());
    runtime.block_on(async move {
        for _ in 0..50 {
            // The server may have just started.
            if let Ok(client) = Client::connect(&url).await {
                return run(client).await;
            }
            colored::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{url} takes no connection");
    })
}

fn partition(topic: &str, partition: u32) -> TopicPartition {
    TopicPartition { topic: topic.into(), partition }
}

/// Reads a part of a topic as another group: the offsets have gaps.
async fn read(client: &Client, topic: &str, from: &[u64], to: &[u64]) -> HashSet<(usize, u64)> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Ordering: the numbers are different, whatever their order.
    let group = format!("look-{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let mut member = client.member(&group, [topic]).join().await.unwrap();
    let (room, mut places) = (Room { records: 10_000, bytes: 64 << 20 }, HashSet::new());
    // A partition without a record ends at the begin of the stream.
    let has_more = |(from, to): &(&u64, &u64)| from < to && **to > 1;
    let ends: Vec<u64> = from.iter().zip(to).filter(has_more).map(|(_, to)| *to).collect();
    let mut left = ends.len();
    while left > 0 {
        match member.poll(room).await.unwrap() {
            Event::Assigned(all) => {
                for of in all {
                    let start = from[of.owned.partition.partition as usize].max(of.log.start);
                    member.begin(&of.owned, start);
                }
            }
            Event::Records { records, .. } => {
                left -= records.iter().filter(|record| ends.contains(&(record.offset + 1))).count();
                places.extend(records.iter().map(|of| (of.partition as usize, of.offset)));
            }
            other => panic!("{other:?}"),
        }
    }
    member.close().await.unwrap();
    places
}

impl Engine for Nats {
    const NAME: &str = "jetstream";
    const NUMBERS_TOGETHER: bool = true;

    fn url(&self) -> String {
        Nats::url(self)
    }

    fn create_topic(&self, topic: &str) {
        with_client(self, async |client| client.create_topic(topic, PARTITIONS).await.unwrap());
    }

    fn send(&self, topic: &str, records: &[(String, u64)]) {
        let records = records.iter().map(|(key, number)| (Some(key), number.to_string()));
        with_client(self, async |client| client.send_all(topic, records).await.unwrap());
    }

    fn committed(&self, topic: &str) -> Vec<u64> {
        with_client(self, async |client| {
            let mut all = Vec::new();
            for number in 0..PARTITIONS {
                let found =
                    client.committed(&format!("g-{topic}"), &partition(topic, number)).await;
                all.push(found.unwrap().map_or(0, |committed| committed.offset));
            }
            all
        })
    }

    fn ends(&self, topic: &str) -> Vec<u64> {
        with_client(self, async |client| {
            let mut all = Vec::new();
            for number in 0..PARTITIONS {
                all.push(client.end(&partition(topic, number)).await.unwrap());
            }
            all
        })
    }

    fn places(&self, topic: &str, from: &[u64], to: &[u64]) -> HashSet<(usize, u64)> {
        with_client(self, async |client| read(&client, topic, from, to).await)
    }

    fn restart(&mut self) {
        Nats::restart(self);
    }
}

/// One test: the server is restarted.
#[test]
fn jetstream() {
    let Some(mut nats) = Nats::start() else { return };
    plan::poison_stops_only_itself(&mut nats);
    plan::a_commit_on_receipt_is_found(&mut nats);
    plan::a_missing_drain_is_found(&mut nats);
    plan::kills_lose_nothing(&mut nats);
}
