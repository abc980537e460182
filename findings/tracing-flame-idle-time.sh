#!/usr/bin/env bash
# tracing-flame counts the time in which nothing runs as time of the parent of what runs next, also without empty samples.
#
# Versions: tracing-flame 0.2.0 (the newest in November 2026), tracing 0.1.44, tracing-subscriber 0.3.23, Rust 1.95.0.
# One would guess that `with_empty_samples(false)` leaves out the time in which no span is entered, as its documentation says. When
# a span is entered, the time since the last event of the thread goes to the parent of that span, and it is left out only if the
# span has no parent. Nobody asks whether the parent is entered. In a program without async that is the same. But a span of a
# spawned task has a parent from where it was made, and is entered alone at each poll: the time in which the thread was parked
# before the poll, or ran tasks without spans, becomes the width of the request that once spawned the task. A graph of an idle
# server is full of busy requests.
#
# Seen, of a span `work`, made inside of `request`, which is left; then 500 ms with no span; then `work` is entered:
#   request: more than 500 ms, though it was entered for some microseconds
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "flame"
version = "0.1.0"
edition = "2021"

[dependencies]
tracing = { version = "=0.1.44", default-features = false, features = ["std"] }
tracing-flame = { version = "=0.2.0", default-features = false }
tracing-subscriber = { version = "=0.3.23", default-features = false, features = ["registry", "std"] }
E
cat >src/main.rs <<'E'
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tracing::{info_span, subscriber};
use tracing_subscriber::prelude::*;

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn main() {
    let lines = Lines::default();
    let layer = tracing_flame::FlameLayer::new(lines.clone())
        .with_empty_samples(false)
        .with_threads_collapsed(true)
        .with_module_path(false)
        .with_file_and_line(false);
    let inside = subscriber::with_default(tracing_subscriber::registry().with(layer), || {
        let request = info_span!("request");
        let start = Instant::now();
        // As a request does that spawns a task and is done.
        let work = request.in_scope(|| info_span!("work"));
        let inside = start.elapsed();
        std::thread::sleep(Duration::from_millis(500));
        work.in_scope(|| ());
        inside
    });
    let lines = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    eprint!("{lines}inside of request: {inside:?}\n");
    let counts = lines.lines().filter_map(|line| line.strip_prefix("all-threads; request "));
    let nanos: u64 = counts.map(|count| count.parse::<u64>().unwrap()).sum();
    let more = Duration::from_nanos(nanos) >= inside + Duration::from_millis(490);
    println!("500 ms without a span count for request: {more}");
}
E
seen=$(cargo run -q)
echo "$seen"
[ "$seen" = "500 ms without a span count for request: true" ] || { echo "changed: idle time goes elsewhere"; exit 1; }
