//! Records a second on JetStream.

use crate::process::draw;
use crate::side::{JetStream, Side};
use async_nats::jetstream;
use async_nats::jetstream::consumer::{AckPolicy, pull};
use colored::time::{Duration, Instant, sleep};
use colored_consumer::Consumer;
use colored_engines_proof::nats::Nats;
use futures_util::StreamExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn compute() {
    let start = std::time::Instant::now();
    while start.elapsed() < Duration::from_micros(1) {
        std::hint::spin_loop();
    }
}

/// By turns, from the first record on.
pub(crate) async fn rate(nats: &Nats, is_quick: bool) {
    let (count, rounds) = if is_quick { (20_000, 1) } else { (200_000, 5) };
    let side = JetStream::new(nats, "rate").await;
    let value = "v".repeat(100);
    let keys = draw(count, 1_000).into_iter();
    side.send(keys.map(|(key, _)| (key, value.clone()))).await;
    let mut rates = [Vec::new(), Vec::new()];
    for round in 0..rounds {
        rates[0].push(ours(&side, count, round).await);
        rates[1].push(colored::block_in_place(|| bare(&side.url(), side.topic(), count)));
    }
    let [ours, bare] = rates.map(|mut all| {
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    });
    println!("rate: {ours:.0} records/s, a bare pull consumer {bare:.0}: {:.2}", ours / bare);
}

async fn ours(side: &JetStream, count: u64, round: usize) -> f64 {
    let done = Arc::new(AtomicU64::new(0));
    let first = Arc::new(std::sync::OnceLock::new());
    let (counts, begins) = (Arc::clone(&done), Arc::clone(&first));
    let member = side.join_as(&format!("g{round}")).await;
    let consumer = Consumer::builder(member).start(move |_, _| {
        begins.get_or_init(Instant::now);
        compute();
        // Ordering: a count.
        counts.fetch_add(1, Ordering::Relaxed);
        std::future::ready(Ok(()))
    });
    let consumer = consumer.expect("the settings are good");
    // Ordering: a count.
    while done.load(Ordering::Relaxed) < count {
        sleep(Duration::from_millis(1)).await;
    }
    let took = first.get().expect("it has begun").elapsed();
    consumer.stop().await.expect("the engine works");
    count as f64 / took.as_secs_f64()
}

/// One consumer of the whole stream, which acknowledges nothing, on a thread with a runtime of its own, as ours has.
fn bare(url: &str, topic: &str, count: u64) -> f64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let client = async_nats::connect(url).await.expect("the server runs");
        let stream = jetstream::new(client).get_stream(topic).await.expect("there is one");
        let config = pull::Config { ack_policy: AckPolicy::None, ..pull::Config::default() };
        let consumer = stream.create_consumer(config).await.expect("a consumer");
        let mut messages = consumer.messages().await.expect("it can be read");
        let mut first = None;
        for _ in 0..count {
            let message = messages.next().await.expect("it never ends");
            drop(message.expect("the server works"));
            first.get_or_insert_with(Instant::now);
            compute();
        }
        count as f64 / first.expect("there are records").elapsed().as_secs_f64()
    })
}
