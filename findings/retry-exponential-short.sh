#!/usr/bin/env bash
# An exponential delay of retry that starts with 1 ms and a factor of 1.5 never grows, and one made from 900 µs is no delay at all.
#
# Version: retry 2.2.0 (the newest in November 2026), Rust 1.95.0.
# One would guess 1, 1.5, 2.25, 3.4 ms and so on, and 0.9, 1.8, 3.6 ms for the other. The delay is kept in whole milliseconds, and
# what is behind the point is cut off after each step. So 1.5 ms is 1 ms again, and the next step begins at 1 once more. Each start
# below the one where the factor adds a whole millisecond stays where it is: 9 ms by 1.1, 3 ms by 1.3. Others grow, but slower than
# they should: 10 ms by 1.1 is 46 ms after 20 steps, where 67 were due. `Exponential` also comes from a `Duration`, as `Fixed`
# does, which keeps what it is given. Somebody who has set a growing delay for a fast network, and then waits for a server that is
# down, asks it a thousand times a second, or as fast as the processor can, without end.
#
# Seen, in ms, the first steps of an exponential delay, and the one after 20 steps:
#   1 by 1.5: 1, 1, 1, 1, then 1; 9 by 1.1: 9, 9, 9, 9, then 9; 3 by 1.3: 3, 3, 3, 3, then 3; 10 by 1.1: 10, 11, 12, 13, then 46
#   from 900 us: 0, 0, 0, 0, then 0; fixed, from 900 us: 0.9 each time
#   101 tries of something that fails, by the exponential delay from 900 us, with pauses of 0 ns in all
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "short"
version = "0.1.0"
edition = "2021"

[dependencies]
retry = "=2.2.0"
E
cat >src/main.rs <<'E'
use retry::delay::{Exponential, Fixed};
use std::time::Duration;

/// The first four delays in milliseconds, and the one after 20 steps.
fn delays(name: &str, delay: impl Iterator<Item = Duration>) {
    let delays: Vec<String> = delay.take(21).map(|delay| (delay.as_secs_f64() * 1000.0).to_string()).collect();
    println!("{name}: {}, then {}", delays[..4].join(", "), delays[20]);
}

fn main() {
    for (start, factor) in [(1, 1.5), (9, 1.1), (3, 1.3), (10, 1.1)] {
        delays(&format!("{start} by {factor}"), Exponential::from_millis_with_factor(start, factor));
    }
    let short = Duration::from_micros(900);
    delays("from 900 us", Exponential::from(short));
    delays("fixed, from 900 us", Fixed::from(short));

    let pauses: Duration = Exponential::from(short).take(100).sum();
    let tries = retry::retry(Exponential::from(short).take(100), || Err::<(), &str>("down")).unwrap_err().tries;
    println!("{tries} tries, with pauses of {pauses:?}");
}
E
seen=$(cargo run -q)
echo "$seen"
expected='1 by 1.5: 1, 1, 1, 1, then 1
9 by 1.1: 9, 9, 9, 9, then 9
3 by 1.3: 3, 3, 3, 3, then 3
10 by 1.1: 10, 11, 12, 13, then 46
from 900 us: 0, 0, 0, 0, then 0
fixed, from 900 us: 0.9, 0.9, 0.9, 0.9, then 0.9
101 tries, with pauses of 0ns'
[ "$seen" = "$expected" ] || { echo "changed: the delays are other ones"; exit 1; }
