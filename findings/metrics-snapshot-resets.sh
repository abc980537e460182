#!/usr/bin/env bash
# A snapshot of metrics-util's DebuggingRecorder sets counters and gauges to zero, and empties histograms.
#
# Versions: metrics 0.24.6, metrics-util 0.20.4 (feature `debugging`), Rust 1.95.0.
# One would guess that a snapshot is a look, as its name says, so that two of them without an event between are equal, and a
# gauge says what it was set to last. Each snapshot takes what it shows: a test that subtracts two of them to see what a step has
# added subtracts what is gone already, and a gauge that nobody touched in between reads as zero.
#
# Seen, after a counter was raised by 5, a gauge set to 5 and a histogram given a 5:
#   first:  Counter(5) Gauge(5.0) Histogram([5.0])
#   second: Counter(0) Gauge(0.0) Histogram([])
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "snapshots"
version = "0.1.0"
edition = "2021"

[dependencies]
metrics = "=0.24.6"
metrics-util = { version = "=0.20.4", default-features = false, features = ["debugging"] }
E
cat >src/main.rs <<'E'
use metrics_util::debugging::DebuggingRecorder;

fn main() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, || {
        metrics::counter!("a").increment(5);
        metrics::gauge!("b").set(5.0);
        metrics::histogram!("c").record(5.0);
    });
    for _ in 0..2 {
        let seen = snapshotter.snapshot().into_vec();
        let seen: Vec<String> = seen.into_iter().map(|(_, _, _, value)| format!("{value:?}")).collect();
        println!("{}", seen.join(" "));
    }
}
E
seen=$(cargo run -q)
echo "$seen"
expected='Counter(5) Gauge(5.0) Histogram([5.0])
Counter(0) Gauge(0.0) Histogram([])'
[ "$seen" = "$expected" ] || { echo "snapshots have changed"; exit 1; }
