#!/usr/bin/env bash
# A circuit breaker of failsafe that asks for a success rate of 50 % stays closed if nine of ten requests fail, and opens if nine
# of ten succeed: what counts of a burst is its first request.
#
# Version: failsafe 1.3.0 (the newest in November 2026), Rust 1.95.0.
# One would guess that each request counts for the same, or the newer ones for more, as the documentation says: the rate is an
# exponentially weighted moving average over a window. The weight of a request is not its own, but that of the pause before it, in
# whole milliseconds. A request in the same millisecond as the one before it has a weight of nothing. So if requests come in
# bursts, as from a page that asks for ten things at once or a batch that is sent each second, the first one stands for all. If it
# goes to something that is in a cache, the breaker never opens, however many of the others fail. If it is the one that fails, as
# after an idle connection was closed, the breaker opens for requests that are nearly all good. Single requests with the same share
# are judged right.
#
# Seen, with a window of 1 s, ten requests after each pause of 10 ms, or one, for up to 3 s:
#   bursts of one success and then nine failures: closed; bursts of one failure and then nine successes: open
#   single requests, one success and then nine failures: open; single requests, one failure and then nine successes: closed
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "success-rate"
version = "0.1.0"
edition = "2021"

[dependencies]
failsafe = "=1.3.0"
E
cat >src/main.rs <<'E'
use failsafe::{backoff, failure_policy, CircuitBreaker, Config, Error};
use std::time::{Duration, Instant};

/// Whether the breaker opens within three seconds, if every tenth request ends like `first` and all others do not.
fn opens(first: Result<(), ()>, bursts: bool) -> bool {
    let second = Duration::from_secs(1);
    let policy = failure_policy::success_rate_over_time_window(0.5, 5, second, backoff::constant(60 * second));
    let breaker = Config::new().failure_policy(policy).build();
    let others = if first.is_ok() { Err(()) } else { Ok(()) };
    let start = Instant::now();
    while start.elapsed() < 3 * second {
        for request in 0..10 {
            if request == 0 || !bursts {
                std::thread::sleep(Duration::from_millis(10));
            }
            if let Err(Error::Rejected) = breaker.call(|| if request == 0 { first } else { others }) {
                return true;
            }
        }
    }
    false
}

fn main() {
    for (requests, bursts) in [("bursts", true), ("single requests", false)] {
        println!("{requests}, one success, nine failures: open {}", opens(Ok(()), bursts));
        println!("{requests}, one failure, nine successes: open {}", opens(Err(()), bursts));
    }
}
E
seen=$(cargo run -q)
echo "$seen"
expected='bursts, one success, nine failures: open false
bursts, one failure, nine successes: open true
single requests, one success, nine failures: open true
single requests, one failure, nine successes: open false'
[ "$seen" = "$expected" ] || { echo "changed: the breaker judges bursts in another way"; exit 1; }
