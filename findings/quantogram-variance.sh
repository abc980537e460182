#!/usr/bin/env bash
# The variance that quantogram tells of 1, 2, 3, 4 and 5 is 10, and of the same five values ten times over it is 100.
#
# Version: quantogram 0.4.4 (the newest in November 2026), Rust 1.95.0.
# One would guess 2, or 2.5 with a divisor that is one less: the documentation says that `variance` is the exact weighted variance
# of all values. It is the sum of the squared distances from the mean, which grows with each value. `stddev` does divide it by the
# weight, so the two do not belong together: the square of the standard deviation is not the variance. A dashboard that shows the
# variance of latencies shows a rising line while nothing changes, and an alarm that compares the variances of two hosts tells
# which one has more requests.
#
# Seen, the variance, and the standard deviation squared:
#   1 to 5: 10 and 2; ten times: 100 and 2; a thousand times: 10000 and 2; 1 to 5, each with a weight of 0.5: 5 and 2
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "variance"
version = "0.1.0"
edition = "2021"

[dependencies]
quantogram = "=0.4.4"
E
cat >src/main.rs <<'E'
use quantogram::Quantogram;

/// The variance, and the standard deviation squared, of 1 to 5, so many times, with that weight.
fn dispersion(times: usize, weight: f64) -> String {
    let mut values = Quantogram::new();
    for value in (0..times).flat_map(|_| 1..=5) {
        values.add_weighted(f64::from(value), weight);
    }
    format!("{:.6} and {:.6}", values.variance(), values.stddev().unwrap().powi(2))
}

fn main() {
    for times in [1, 10, 1000] {
        println!("{times} times: {}", dispersion(times, 1.0));
    }
    println!("weight 0.5: {}", dispersion(1, 0.5));
}
E
seen=$(cargo run -q)
echo "$seen"
expected='1 times: 10.000000 and 2.000000
10 times: 100.000000 and 2.000000
1000 times: 10000.000000 and 2.000000
weight 0.5: 5.000000 and 2.000000'
[ "$seen" = "$expected" ] || { echo "changed: the variance is another one"; exit 1; }
