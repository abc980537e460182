#!/usr/bin/env bash
# The threads of blocking 1.7.0 do not end when they are idle: after one burst of 50 tasks there are 50 threads for good.
#
# Version: blocking 1.7.0 (the newest in November 2026), beside 1.6.2; Rust 1.95.0.
# One would guess that the threads are gone half a second after their last task: the documentation of the crate says that an idle
# thread waits for the next job or shuts down after a timeout, and 1.6.2 does so. 1.7.0 can change the limit of threads while the
# program runs, and for that it has a second condition where a thread ends: it ends only if there are more threads than the limit
# allows. The limit is 500 and the pool never grows past it, so the condition never holds, and each thread wakes up twice a
# second, sees that there is nothing to do, and stays. async-fs and smol are built on it. Only a call of
# `set_max_blocking_threads` with a number below that of the threads takes some away, and then for good too.
#
# Seen, the threads while 50 tasks wait for each other, and 6 seconds after the last of them:
#   1.6.2: 50, then 0
#   1.7.0: 50, then 50
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# Runs the program with one version, and prints what it says.
threads() {
    mkdir -p "$1/src"
    cat >"$1/Cargo.toml" <<E
[package]
name = "idle"
version = "0.1.0"
edition = "2021"

[dependencies]
blocking = "=$1"
futures-lite = "=2.6.1"
E
    cat >"$1/src/main.rs" <<'E'
use std::sync::{Arc, Barrier};
use std::time::Duration;

/// How many threads of the pool this process has: the pool names them.
fn threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.map(|task| std::fs::read_to_string(task.unwrap().path().join("comm")).unwrap_or_default());
    names.filter(|name| name.starts_with("blocking-")).count()
}

fn main() {
    let barrier = Arc::new(Barrier::new(51));
    let wait = || {
        let barrier = barrier.clone();
        blocking::unblock(move || barrier.wait())
    };
    let tasks: Vec<_> = (0..50).map(|_| wait()).collect();
    // Each of the tasks has a thread of its own when this returns.
    barrier.wait();
    let busy = threads();
    futures_lite::future::block_on(async {
        for task in tasks {
            task.await;
        }
    });
    std::thread::sleep(Duration::from_secs(6));
    println!("{busy}, then {}", threads());
}
E
    (cd "$1" && cargo run -q)
}

before=$(threads 1.6.2)
echo "1.6.2: $before"
now=$(threads 1.7.0)
echo "1.7.0: $now"
[ "$before" = "50, then 0" ] || { echo "changed: 1.6.2 keeps its threads too"; exit 1; }
[ "$now" = "50, then 50" ] || { echo "changed: idle threads end"; exit 1; }
