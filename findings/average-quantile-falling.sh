#!/usr/bin/env bash
# Each quantile that average estimates of the numbers from 999 down to 0 is 997, also the one of 10 %.
#
# Version: average 0.17.0 (the newest in November 2026), with easy-cast 0.5.4, the newest for Rust 1.95.0.
# One would guess some error, as `Quantile` says that it is estimated by the P² algorithm, but the same one whether values rise or
# fall; rising ones give 99, 499 and 989. The algorithm keeps five markers. A new value moves up the positions of all that are
# above it. For a value below all others the crate moves the lowest one too, which has to stay at 1. Then the five keep their
# distances, none looks out of place, and no marker is adjusted: a new minimum does not count at all. So whenever values fall
# for some time, as a queue that gets empty or a server that warms up, the estimate stands still, and later it is far off. Values
# in random order hide it. It is wrong for less than five values as well: it sorts a copy of them, and then takes the one at the
# right place from those that are not sorted.
#
# Seen, the quantiles 0.1, 0.5 and 0.99:
#   0 to 999: 99, 499, 989; 999 to 0: 997, 997, 997; 999 to 500 and then 500 to 999: below 600 for 0.5, where 750 would be right
#   the median of 3, 1, 2: 1; of 1, 3, 2: 3; of 1, 2, 3: 2
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "falling"
version = "0.1.0"
edition = "2021"

[dependencies]
average = "=0.17.0"
easy-cast = "=0.5.4"
E
cat >src/main.rs <<'E'
use average::{Estimate, Quantile};

/// The estimated quantile of these values, in this order.
fn quantile(p: f64, values: impl IntoIterator<Item = i32>) -> f64 {
    let mut quantile = Quantile::new(p);
    values.into_iter().for_each(|value| quantile.add(value.into()));
    quantile.quantile()
}

fn main() {
    let rising = [0.1, 0.5, 0.99].map(|p| quantile(p, 0..1_000));
    let falling = [0.1, 0.5, 0.99].map(|p| quantile(p, (0..1_000).rev()));
    println!("rising {rising:?}, falling {falling:?}");
    let both = quantile(0.5, (500..1_000).rev().chain(500..1_000));
    eprintln!("down and up: {both}");
    println!("down and up, below 600: {}", both < 600.0);
    println!("medians: {:?}", [[3, 1, 2], [1, 3, 2], [1, 2, 3]].map(|values| quantile(0.5, values)));
}
E
seen=$(cargo run -q)
echo "$seen"
expected='rising [99.0, 499.0, 989.0], falling [997.0, 997.0, 997.0]
down and up, below 600: true
medians: [1.0, 3.0, 2.0]'
[ "$seen" = "$expected" ] || { echo "changed: quantiles have other estimates"; exit 1; }
