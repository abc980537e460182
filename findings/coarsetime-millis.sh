#!/usr/bin/env bash
# A millisecond of coarsetime is the 1024th part of a second: 500 of them are 488 ms, and 999 of them end 24 ms before a second.
#
# Version: coarsetime 0.1.38 (the newest in November 2026), Rust 1.95.0.
# One would guess that `Duration::from_millis(500)` is half a second, up to one unit of the clock, as the conversion of a
# `std::time::Duration` gives it. The crate keeps the part below a second as a binary fraction of 32 bits. `from_millis` takes whole
# seconds out of the number, and shifts the rest by 22 bits, which is a division by 1024. `from_secs`, `new` and the conversion
# from std divide by the right number, and `as_millis` does too. So a time-out or a time to live of 0.5 s is 2.3 % too early,
# twice the half is not the whole, and it is right in each test that has whole seconds.
#
# Seen, in milliseconds: what was asked for, what `as_millis` says, and what comes by way of std (rounded to the nearest)
#   1: 0 and 1; 100: 97 and 100; 500: 488 and 500; 999: 975 and 999; 1000: 1000 and 1000; 1500: 1488 and 1500
#   2 * 500 ms is 976 ms; from_millis(500) to std: 488.28125ms
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "millis"
version = "0.1.0"
edition = "2021"

[dependencies]
coarsetime = "=0.1.38"
E
cat >src/main.rs <<'E'
use coarsetime::Duration;
use std::time::Duration as Std;

fn main() {
    let both = |millis: u64| {
        let by_std = Duration::from(Std::from_millis(millis));
        format!("{millis}: {} and {}", Duration::from_millis(millis).as_millis(), (by_std.as_micros() + 500) / 1000)
    };
    println!("{}", [1, 100, 500, 999, 1000, 1500].map(both).join("; "));
    let half = Duration::from_millis(500);
    println!("2 * 500 ms is {} ms; from_millis(500) to std: {:?}", (half * 2).as_millis(), Std::from(half));
}
E
seen=$(cargo run -q)
echo "$seen"
expected='1: 0 and 1; 100: 97 and 100; 500: 488 and 500; 999: 975 and 999; 1000: 1000 and 1000; 1500: 1488 and 1500
2 * 500 ms is 976 ms; from_millis(500) to std: 488.28125ms'
[ "$seen" = "$expected" ] || { echo "changed: a millisecond is another part of a second"; exit 1; }
