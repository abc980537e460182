#!/usr/bin/env bash
# The injector of crossbeam-deque hands over one of 23 tasks, or all 23, by how many went through it before.
#
# Version: crossbeam-deque 0.8.8, Rust 1.95.0.
# One would guess 12 each time: the documentation of `steal_batch` speaks of about half the queue, up to a constant. That holds
# only where the queue lies in one block of 63 places. Where it reaches into the next one, the batch ends with the block: a thief
# takes a single task of 23 at one place, and all of them at another, so work that comes at once is spread evenly on one day and
# not on the next.
#
# Seen, with 23 tasks behind N that were pushed and stolen before:
#   N = 0..39 and 51: 12; N = 40: 23; then one less for each, down to 1 at N = 62
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "batches"
version = "0.1.0"
edition = "2021"

[dependencies]
crossbeam-deque = "=0.8.8"
E
cat >src/main.rs <<'E'
use crossbeam_deque::{Injector, Steal, Worker};

/// How many of 23 tasks one batch takes when `before` others have gone through the injector.
fn batch(before: u32) -> usize {
    let injector = Injector::new();
    (0..before).for_each(|task| injector.push(task));
    for _ in 0..before {
        assert!(matches!(injector.steal(), Steal::Success(_)));
    }
    (0..23).for_each(|task| injector.push(task));
    let thief = Worker::new_fifo();
    assert!(matches!(injector.steal_batch(&thief), Steal::Success(())));
    thief.len()
}

fn main() {
    let sizes: Vec<String> = (0..63).map(|before| batch(before).to_string()).collect();
    println!("{}", sizes.join(" "));
}
E
sizes=$(cargo run -q)
echo "$sizes"
expected="$(printf '12 %.0s' {0..39})$(seq -s ' ' 23 -1 1)"
[ "$sizes" = "$expected" ] || { echo "the sizes of batches have changed"; exit 1; }
