#!/usr/bin/env bash
# A retry budget of tower that is set to 51 % of the requests allows a retry for each of them.
#
# Version: tower 0.5.3 (the newest in November 2026), Rust 1.95.0.
# One would guess 510 retries for 1,000 requests: `retry_percent` is documented as the share of deposits that can be retried, and
# its own examples, 0.1 and 2.0, are exact. Up to 1.0 a deposit is one point, and a retry costs the whole part of 1 / percent. That
# is exact for 1/2, 1/3, 1/4 and so on; in between the cost is rounded down and the share up, to the next of these. So 0.51 to 0.99
# cost one point and are 1.0, and 0.34 to 0.49 are 0.5. Above 1.0 a deposit is a thousand points, and there it is right to a
# thousandth. A budget is there to keep a failing service from a load of retries, and here the load is up to twice what was allowed.
#
# Seen, the retries after 1,000 deposits, without a reserve:
#   0.1: 100, 0.2: 200, 0.3: 333, 0.34: 500, 0.4: 500, 0.5: 500, 0.51: 1000, 0.6: 1000, 0.8: 1000, 1: 1000, 1.5: 1501
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "percent"
version = "0.1.0"
edition = "2021"

[dependencies]
tower = { version = "=0.5.3", default-features = false, features = ["retry"] }
E
cat >src/main.rs <<'E'
use std::time::Duration;
use tower::retry::budget::{Budget, TpsBudget};

/// How many retries a budget allows after 1,000 requests.
fn retries(percent: f32) -> usize {
    let budget = TpsBudget::new(Duration::from_secs(60), 0, percent);
    (0..1_000).for_each(|_| budget.deposit());
    (0..).take_while(|_| budget.withdraw()).count()
}

fn main() {
    let percents = [0.1, 0.2, 0.3, 0.34, 0.4, 0.5, 0.51, 0.6, 0.8, 1.0, 1.5];
    println!("{}", percents.map(|percent| format!("{percent}: {}", retries(percent))).join(", "));
}
E
seen=$(cargo run -q)
echo "$seen"
expected='0.1: 100, 0.2: 200, 0.3: 333, 0.34: 500, 0.4: 500, 0.5: 500, 0.51: 1000, 0.6: 1000, 0.8: 1000, 1: 1000, 1.5: 1501'
[ "$seen" = "$expected" ] || { echo "changed: the shares are rounded in another way, or not"; exit 1; }
