#!/usr/bin/env bash
# If two CKMS sketches of quantiles are added, most of the values of the second one count for nothing.
#
# Version: quantiles 0.7.1 (the newest in November 2026), Rust 1.95.0.
# One would guess that `+=` gives a sketch of all values: `count` and `cma`, the mean, are right afterwards, and a sketch for an
# error of 1 % cannot be far off. A sketch keeps a few of the values, each with a weight: how many values it stands for. The first
# sketch keeps its weights. Of the second one each kept value is inserted as one new value, with the weight 1, and the rest is lost.
# So the sketch to which the others are added has nearly the whole say. A program that collects the sketches of ten servers sees the
# times of the first one. With few values nothing is compressed yet, and the sum is right; so it is in small tests.
#
# Seen, 10,000 values from 0 to 9,999 (the first sketch), and 90,000 from 1,000,000 to 1,089,999 (the second one):
#   all in one sketch: the median is above 1,000,000, as it should be
#   added: the count is 100000 and the mean above 900,000, the median is below 10,000
#   added the other way round: the quantile 0.05, which should be about 5,000, is above 1,000,000
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "merge"
version = "0.1.0"
edition = "2021"

[dependencies]
quantiles = "=0.7.1"
E
cat >src/main.rs <<'E'
use quantiles::ckms::CKMS;

/// A sketch of so many numbers from `from` on.
fn sketch(from: u32, numbers: u32) -> CKMS<f64> {
    let mut sketch = CKMS::new(0.01);
    (from..from + numbers).for_each(|number| sketch.insert(number.into()));
    sketch
}

/// The quantile, as what it is near to.
fn quantile(sketch: &CKMS<f64>, q: f64) -> &'static str {
    let (rank, value) = sketch.query(q).unwrap();
    eprintln!("quantile {q}: {value}, rank {rank}");
    if value < 10_000.0 { "below 10000" } else { "above 1000000" }
}

fn main() {
    let mut one = sketch(0, 10_000);
    (1_000_000..1_090_000).for_each(|number| one.insert(number.into()));
    println!("one sketch: count {}, quantile 0.05 {}, median {}", one.count(), quantile(&one, 0.05), quantile(&one, 0.5));

    let mut sum = sketch(0, 10_000);
    sum += sketch(1_000_000, 90_000);
    let large = sum.cma().unwrap() > 900_000.0;
    println!("added: count {}, mean above 900000: {large}, median {}", sum.count(), quantile(&sum, 0.5));

    let mut sum = sketch(1_000_000, 90_000);
    sum += sketch(0, 10_000);
    println!("the other way round: count {}, quantile 0.05 {}", sum.count(), quantile(&sum, 0.05));
}
E
seen=$(cargo run -q --release)
echo "$seen"
expected='one sketch: count 100000, quantile 0.05 below 10000, median above 1000000
added: count 100000, mean above 900000: true, median below 10000
the other way round: count 100000, quantile 0.05 above 1000000'
[ "$seen" = "$expected" ] || { echo "changed: sums of sketches have other quantiles"; exit 1; }
