#!/usr/bin/env bash
# A timer of hierarchical_hash_wheel_timer for 49 days and 17 hours rings after less than five hours, and one for the longest time
# that the wheel itself takes after 254 ms.
#
# Version: hierarchical_hash_wheel_timer 1.4.0 (the newest in November 2026), with its simulated time; Rust 1.95.0.
# One would guess that it rings when it is due: the four wheels are documented for up to 2^32 - 1 ms (49.7 days), and all beyond
# goes into a list. The place of a timer is found from the bytes in which the time when it is due differs from the time now. Both
# wrap around after 2^32 ms. A timer whose end is past that, and has the highest byte of now again, differs in the lower bytes only,
# so it is put into a lower wheel, and rings when that one gets there, in the present turn. That takes a time to go within 4.6
# hours of 49.7 days, and a wheel that has been running for some time; in a fresh wheel the same timer is right, and so are those
# of 49 days and of 60 days. `u32::MAX - 1` milliseconds, as somebody writes who means never, are over at once.
#
# Seen, with a wheel that has run for some time, in milliseconds:
#   after 600000: 4294800000 rings after 16609920 (49 days 17 h, 4.6 h); 4233600000 (49 days) and 5184000000 (60 days) are right
#   after 10: 4294967294 rings after 254
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "far"
version = "0.1.0"
edition = "2021"

[dependencies]
hierarchical_hash_wheel_timer = { version = "=1.4.0", default-features = false, features = ["fx-hash"] }
E
cat >src/main.rs <<'E'
use hierarchical_hash_wheel_timer::simulation::SimulationTimer;
use hierarchical_hash_wheel_timer::{ClosureTimer, OneShotClosureState, PeriodicClosureState};
use std::time::Duration;

/// Lets the time go on to `before`, and says after how many milliseconds a timer for `millis` rings.
fn rings(before: u64, millis: u64) -> String {
    let mut timer = SimulationTimer::<u64, OneShotClosureState<u64>, PeriodicClosureState<u64>>::for_closures();
    timer.schedule_action_once(1, Duration::from_millis(before), |_| ());
    timer.next();
    let start = timer.current_time();
    assert_eq!(start, u128::from(before));
    timer.schedule_action_once(2, Duration::from_millis(millis), |_| ());
    timer.next();
    format!("after {before}: {millis} rings after {}", timer.current_time() - start)
}

fn main() {
    const DAY: u64 = 24 * 60 * 60 * 1_000;
    for millis in [49 * DAY + 17 * DAY / 24, 49 * DAY, 60 * DAY] {
        println!("{}", rings(600_000, millis));
    }
    println!("{}", rings(10, u64::from(u32::MAX) - 1));
}
E
seen=$(cargo run -q)
echo "$seen"
expected='after 600000: 4294800000 rings after 16609920
after 600000: 4233600000 rings after 4233600000
after 600000: 5184000000 rings after 5184000000
after 10: 4294967294 rings after 254'
[ "$seen" = "$expected" ] || { echo "changed: far timers ring at other times"; exit 1; }
