#!/usr/bin/env bash
# A `flush` of rdkafka's `BaseProducer` takes 100 ms for a record that the broker has confirmed within some; its `poll` lasts
# for the whole time that it is given, also when its report has come.
#
# Version: rdkafka 0.39.0 (librdkafka 2.12.1, with its mock broker in the process), Rust 1.95.0.
# One would guess that both end early: `rd_kafka_poll` returns when it has served something, its time is how long it waits if
# nothing comes, and `rd_kafka_flush` returns as soon as nothing is under way. The Rust `poll` goes on until its time is over,
# and `flush` asks whether it is done, then calls that for 100 ms, and asks again. So a program that flushes after each record
# sends ten a second, whatever `linger.ms` says; and with `poll(1 s)` in its loop it sends one.
#
# Seen, the median of 9, each after one record:
#   poll for 300 ms: the report after less than 50 ms: true; it takes 300 ms or more: true
#   flush for at most 10 s takes 100 ms or more: true
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "flush"
version = "0.1.0"
edition = "2021"

[dependencies]
rdkafka = { version = "=0.39.0", default-features = false, features = ["libz"] }
E
cat >src/main.rs <<'E'
use rdkafka::client::ClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::message::DeliveryResult;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer, ProducerContext};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// When the last report came.
struct Reports(Mutex<Instant>);

impl ClientContext for Reports {}

impl ProducerContext for Reports {
    type DeliveryOpaque = ();

    fn delivery(&self, _: &DeliveryResult<'_>, (): ()) {
        *self.0.lock().unwrap() = Instant::now();
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn main() {
    let mut config = ClientConfig::new();
    config.set("test.mock.num.brokers", "1").set("linger.ms", "0").set("log_level", "0");
    let reports = Reports(Mutex::new(Instant::now()));
    let producer: BaseProducer<Reports> = config.create_with_context(reports).unwrap();
    let send = || producer.send(BaseRecord::<str, str>::to("t").payload("v")).unwrap();
    // The first record waits for the topic.
    send();
    producer.flush(Duration::from_secs(10)).unwrap();
    let (mut heard, mut polled, mut flushed) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..9 {
        let start = Instant::now();
        send();
        producer.poll(Duration::from_millis(300));
        polled.push(start.elapsed());
        heard.push(*producer.context().0.lock().unwrap() - start);
        let start = Instant::now();
        send();
        producer.flush(Duration::from_secs(10)).unwrap();
        flushed.push(start.elapsed());
    }
    let (heard, polled, flushed) = (median(heard), median(polled), median(flushed));
    eprintln!("{heard:?} {polled:?} {flushed:?}");
    println!(
        "poll for 300 ms: the report after less than 50 ms: {}; it takes 300 ms or more: {}",
        heard < Duration::from_millis(50),
        polled >= Duration::from_millis(300)
    );
    println!("flush for at most 10 s takes 100 ms or more: {}", flushed >= Duration::from_millis(98));
}
E
seen=$(cargo run -q)
echo "$seen"
expected='poll for 300 ms: the report after less than 50 ms: true; it takes 300 ms or more: true
flush for at most 10 s takes 100 ms or more: true'
[ "$seen" = "$expected" ] || { echo "poll or flush has changed"; exit 1; }
