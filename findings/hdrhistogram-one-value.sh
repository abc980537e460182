#!/usr/bin/env bash
# The least, the mean and the largest value of an HdrHistogram with one value are three numbers, and none is the value.
#
# Version: hdrhistogram 7.6.0 without default features, Rust 1.95.0.
# One would guess that a histogram rounds what is between, and keeps the extremes: it has fields for them, which each record
# updates. `min` and `max` give the ends of the bucket that the extreme fell into, and `mean` its middle. So a latency above a
# limit is reported that nobody measured, `min == max` does not say that all values are equal, and the deviation is 0 where the
# least and the largest value differ. The same with bounds: 1..=2,000 takes 2,047, and the next larger value is an error.
#
# Seen, for the one value 1,000,001 with 3 digits; then for bounds of 1 and 2,000:
#   min 999936 mean 1000192 max 1000447 stdev 0
#   2047: Ok(()) 2048: Err(ValueOutOfRangeResizeDisabled)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "one-value"
version = "0.1.0"
edition = "2021"

[dependencies]
hdrhistogram = { version = "=7.6.0", default-features = false }
E
cat >src/main.rs <<'E'
use hdrhistogram::Histogram;

fn main() {
    let mut one = Histogram::<u64>::new(3).unwrap();
    one.record(1_000_001).unwrap();
    println!("min {} mean {} max {} stdev {}", one.min(), one.mean(), one.max(), one.stdev());
    let mut bounded = Histogram::<u64>::new_with_bounds(1, 2_000, 3).unwrap();
    println!("2047: {:?} 2048: {:?}", bounded.record(2_047), bounded.record(2_048));
}
E
seen=$(cargo run -q)
echo "$seen"
expected='min 999936 mean 1000192 max 1000447 stdev 0
2047: Ok(()) 2048: Err(ValueOutOfRangeResizeDisabled)'
[ "$seen" = "$expected" ] || { echo "the extremes, or the bounds, have changed"; exit 1; }
