#!/usr/bin/env bash
# A limiter of ratelimit with one token an hour gives one each two hours, if it is asked at the wrong pace.
#
# Version: ratelimit 2.0.0 (the newest in November 2026), Rust 1.95.0; with a clock of our own, so nothing depends on the machine.
# One would guess one token after an hour, however often somebody asks in between: the documentation promises accurate limits at
# any rate without tuning, and shows a period for rates below one a second. The limiter counts millionths of a token. Each question
# adds what has grown since the last one, rounds it down to whole millionths, and moves the time of the last one to now, so the
# fraction is lost. Of an hour a millionth is 3.6 ms: who asks each 7.1 ms gets one millionth where 1.97 were due, each time. Where
# nothing has grown the time is not moved, so somebody who asks every 0.1 ms or only once loses nothing. A limit for rare messages,
# asked for each of 140 requests a second, lets through half of what it is set to.
#
# Seen, the first token of a limiter with one an hour, in seconds:
#   asked each 100 us: 3600; 1000 us: 4000; 5000 us: 5000; 7100 us: 7100; 10000 us: 5000; 1000000 us: 3611
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "often"
version = "0.1.0"
edition = "2021"

[dependencies]
ratelimit = "=2.0.0"
E
cat >src/main.rs <<'E'
use ratelimit::{Builder, Clock};
use std::{cell::Cell, rc::Rc, time::Duration};

#[derive(Clone, Default)]
struct Manual(Rc<Cell<Duration>>);

impl Clock for Manual {
    fn elapsed(&self) -> Duration {
        self.0.get()
    }
}

/// The whole seconds until the first token, for somebody who asks each `pause`.
fn first(pause: Duration) -> u64 {
    let clock = Manual::default();
    let limiter = Builder::with_clock(1, clock.clone()).period(Duration::from_secs(3600)).build().unwrap();
    while limiter.try_wait().is_err() {
        clock.0.set(clock.0.get() + pause);
    }
    clock.0.get().as_secs()
}

fn main() {
    let says = |pause| format!("{pause} us: {}", first(Duration::from_micros(pause)));
    println!("asked each {}", [100, 1_000, 5_000, 7_100, 10_000, 1_000_000].map(says).join("; "));
}
E
seen=$(cargo run -q --release)
echo "$seen"
expected='asked each 100 us: 3600; 1000 us: 4000; 5000 us: 5000; 7100 us: 7100; 10000 us: 5000; 1000000 us: 3611'
[ "$seen" = "$expected" ] || { echo "changed: the pace of the questions has another effect, or none"; exit 1; }
