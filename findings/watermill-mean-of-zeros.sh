#!/usr/bin/env bash
# The exponentially weighted mean of watermill is 1 after a thousand zeros and a one, also where a new value counts for 1 %.
#
# Version: watermill 0.1.2 (the newest in November 2026), Rust 1.95.0.
# One would guess 0.01: the documentation of `alpha` says that the mean adapts the more slowly the smaller it is. The first value
# becomes the mean as it is. Nothing counts the values: one is taken for the first if the mean is exactly 0. So after any number of
# zeros the next value replaces the mean, and so it does where values of both signs happen to cancel out. The variance is made
# of two such means, and says 0 for the first value that is different. Somebody who smooths errors per second, time-outs or the
# length of a queue gets an alarm from the first one, as if there had been no quiet hour before. With one value that is not quite
# zero at the start, the same data give no alarm.
#
# Seen, with alpha 0.01, the mean and the variance after the last value:
#   1000 times 0, then 1: mean 1, variance 0; one time 1e-9, 999 times 0, then 1: mean 0.01, variance 0.0099
#   with alpha 0.5, 1, -1, then 10: 10; 1, -1.5, then 10: 4.875
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "zeros"
version = "0.1.0"
edition = "2021"

[dependencies]
watermill = "=0.1.2"
E
cat >src/main.rs <<'E'
use watermill::{ewmean::EWMean, ewvariance::EWVariance, stats::Univariate};

/// The mean and the variance after `first`, 999 zeros, and 1.
fn alarm(first: f64) -> String {
    let (mut mean, mut variance) = (EWMean::new(0.01), EWVariance::new(0.01));
    for value in std::iter::once(first).chain([0.0; 999]).chain([1.0]) {
        mean.update(value);
        variance.update(value);
    }
    format!("mean {:.4}, variance {:.4}", mean.get(), variance.get())
}

/// The mean of these values, where each new one counts for a half.
fn half(values: [f64; 3]) -> f64 {
    let mut mean = EWMean::new(0.5);
    values.into_iter().for_each(|value| mean.update(value));
    mean.get()
}

fn main() {
    println!("0 at first: {}", alarm(0.0));
    println!("1e-9 at first: {}", alarm(1e-9));
    println!("1, -1, 10: {}", half([1.0, -1.0, 10.0]));
    println!("1, -1.5, 10: {}", half([1.0, -1.5, 10.0]));
}
E
seen=$(cargo run -q)
echo "$seen"
expected='0 at first: mean 1.0000, variance 0.0000
1e-9 at first: mean 0.0100, variance 0.0099
1, -1, 10: 10
1, -1.5, 10: 4.875'
[ "$seen" = "$expected" ] || { echo "changed: a mean of zero is another one"; exit 1; }
