#!/usr/bin/env bash
# With the jitter of exponential-backoff half of all clients wait for exactly the same time, and for the rest a piece is left out.
#
# Version: exponential-backoff 2.1.1 (the newest in November 2026), Rust 1.95.0.
# One would guess that the default jitter of 0.3 spreads the first delays around 100 ms, so that hardly two of 10,000 clients come
# back together. Half of the delays are made shorter, by up to 30 %; then each one is put back between the least and the largest
# delay. The first one is the least one already, so half of all clients wait for 100 ms to the nanosecond; and half of those that
# reach the limit wait for exactly the limit, and from the next step on all of them. The other half is made longer, but the number
# that is drawn for them is at least 30 and is then halved: by 15 to 29 %, never by less. So between 0 and +15 % there is nobody,
# and the mean is too long.
#
# Seen, of 10,000 clients with delays from 100 ms to 800 ms:
#   first delay exactly 100 ms: about half; third delay (400 ms) in 401..459 ms: 0; fifth delay exactly 800 ms: all
#   fourth delay (800 ms, which is the limit) exactly 800 ms: about half
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "jitter"
version = "0.1.0"
edition = "2021"

[dependencies]
exponential-backoff = "=2.1.1"
E
cat >src/main.rs <<'E'
use exponential_backoff::Backoff;
use std::time::Duration;

fn main() {
    let millis = Duration::from_millis;
    let backoff = Backoff::new(6, millis(100), millis(800));
    let clients: Vec<Vec<Duration>> = (0..10_000).map(|_| backoff.iter().flatten().collect()).collect();
    let equal = |delay: usize, to| clients.iter().filter(|delays| delays[delay] == to).count();
    let (first, fourth, fifth) = (equal(0, millis(100)), equal(3, millis(800)), equal(4, millis(800)));
    let gap = clients.iter().filter(|delays| delays[2] > millis(400) && delays[2] < millis(460)).count();
    eprintln!("{first} {gap} {fourth} {fifth}");
    let half = |clients| if (4_500..5_500).contains(&clients) { "half" } else { "another number" };
    println!("first exactly 100 ms: {}; third in 401..459 ms: {gap}", half(first));
    println!("fourth exactly 800 ms: {}; fifth: {}", half(fourth), if fifth == 10_000 { "all" } else { "not all" });
}
E
seen=$(cargo run -q)
echo "$seen"
expected='first exactly 100 ms: half; third in 401..459 ms: 0
fourth exactly 800 ms: half; fifth: all'
[ "$seen" = "$expected" ] || { echo "changed: delays are spread in another way"; exit 1; }
