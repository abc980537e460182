#!/usr/bin/env bash
# loom looks at LOOM_MAX_DURATION once in 20,000 executions.
#
# Version: loom 0.7.2, Rust 1.95.0.
# One would guess that a search with LOOM_MAX_DURATION=1 ends after a second, with one execution more. The clock is read where
# a checkpoint is due, and that is each 20,000 executions by default, also if no checkpoints are written: a model whose
# execution takes half a millisecond runs for ten seconds, and one of 50 ms for a quarter of an hour. LOOM_CHECKPOINT_INTERVAL,
# which nobody connects with it, makes the limit hold.
#
# Seen, with an execution of some 0.5 ms:
#   LOOM_MAX_DURATION=1: 19999 executions
#   LOOM_MAX_DURATION=1 LOOM_CHECKPOINT_INTERVAL=100: fewer than 5,000, in a second
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "duration"
version = "0.1.0"
edition = "2021"

[dependencies]
loom = "=0.7.2"
E
cat >src/main.rs <<'E'
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

static EXECUTIONS: AtomicUsize = AtomicUsize::new(0);

fn main() {
    loom::model(|| {
        EXECUTIONS.fetch_add(1, SeqCst);
        std::thread::sleep(std::time::Duration::from_micros(200));
        let word = loom::sync::Arc::new(loom::sync::atomic::AtomicUsize::new(0));
        let adders: Vec<_> = (0..2)
            .map(|_| {
                let word = word.clone();
                loom::thread::spawn(move || {
                    for _ in 0..6 {
                        word.fetch_add(1, SeqCst);
                        word.load(SeqCst);
                    }
                })
            })
            .collect();
        adders.into_iter().for_each(|adder| adder.join().unwrap());
    });
    println!("{}", EXECUTIONS.load(SeqCst));
}
E
cargo build -q --release
usual=$(LOOM_MAX_DURATION=1 target/release/duration | tail -1)
often=$(LOOM_MAX_DURATION=1 LOOM_CHECKPOINT_INTERVAL=100 target/release/duration | tail -1)
echo "LOOM_MAX_DURATION=1: $usual executions"
echo "LOOM_MAX_DURATION=1 LOOM_CHECKPOINT_INTERVAL=100: $often executions"
[ "$usual" = 19999 ] || { echo "the interval has changed"; exit 1; }
[ "$often" -lt 5000 ] || { echo "the limit does not hold either"; exit 1; }
