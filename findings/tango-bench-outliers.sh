#!/usr/bin/env bash
# tango-bench finds no outlier among ten that are 10,000 times too large, unless there is one that is too small too.
#
# Version: tango-bench 0.9.0 (the newest in November 2026), without default features; Rust 1.95.0.
# One would guess that all ten are left out: `iqr_variance_thresholds`, which `--filter-outliers` uses, is documented as the method
# of Tukey: a value is an outlier if it is further from its quartile than 1.5 times the distance of the quartiles. The function
# counts the outliers on each side, takes the smaller one of both numbers, and cuts off so many on both sides. If one side has none,
# it says that there are none at all. A disturbance makes a sample longer, never shorter. If only the candidate is disturbed, as by
# page faults of its own, the differences that are wrong are all on one side, and the option has no effect. A single disturbed
# sample of the baseline then takes away one of ten, and nine stay in the mean.
#
# Seen, for 100 values from 100 to 199:
#   with ten above 1,000,000: no thresholds; with one below -1,000,000 as well: 100 to 1000009, so nine of the ten stay
#   with ten on each side: 100 to 199
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "outliers"
version = "0.1.0"
edition = "2021"

[dependencies]
tango-bench = { version = "=0.9.0", default-features = false }
E
cat >src/main.rs <<'E'
use tango_bench::iqr_variance_thresholds;

/// What remains of 100 usual values with so many that are too large, and so many that are too small.
fn remains(large: i32, small: i32) -> String {
    let mut values: Vec<f64> = (100..200).map(f64::from).collect();
    values.extend((1..=large).map(|large| f64::from(1_000_000 + large)));
    values.extend((1..=small).map(|small| f64::from(-1_000_000 - small)));
    match iqr_variance_thresholds(values.clone()) {
        Some(range) => {
            let stay = values.iter().filter(|value| **value > 1e6 && range.contains(value)).count();
            format!("{} to {}, {stay} too large ones stay", range.start(), range.end())
        }
        None => "no thresholds".into(),
    }
}

fn main() {
    for (large, small) in [(10, 0), (10, 1), (10, 10)] {
        println!("{large} too large, {small} too small: {}", remains(large, small));
    }
}
E
seen=$(cargo run -q)
echo "$seen"
expected='10 too large, 0 too small: no thresholds
10 too large, 1 too small: 100 to 1000009, 9 too large ones stay
10 too large, 10 too small: 100 to 199, 0 too large ones stay'
[ "$seen" = "$expected" ] || { echo "changed: other values are outliers"; exit 1; }
