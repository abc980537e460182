#!/usr/bin/env bash
# In the night in which clocks are set back, the next time after a moment that cron tells can be 59 minutes before that moment.
#
# Version: cron 0.17.0 (the newest in November 2026), chrono 0.4.45, chrono-tz 0.10.4, Rust 1.95.0.
# One would guess that `after(t)` gives times after t, in their order, as it does in any other night: the source says that it takes
# care to keep the direction where an hour comes twice. For each local time that comes twice it gives both moments, one behind the
# other: 02:00, an hour later 02:00 again, then back to the first 02:30. Somebody who takes only the first item each time, and
# sleeps until then, has it worse. From the last minute of the first hour it looks for a later local time, so a job of each minute
# does not run for an hour. And who asks during the second hour, e.g. since the program starts then, gets a moment of the first
# hour: a sleep of less than nothing, so the job runs without a pause for the rest of that hour. `upcoming` is the same.
#
# Seen, in Berlin on 2026-10-25:
#   each half hour: 01:30 +02, 02:00 +02, 02:00 +01, 02:30 +02, 02:30 +01, 03:00 +01
#   each minute, the first one after 02:30 +02 is 1 minutes later; after 02:59 +02: 61; after 02:30 +01: -59; after 03:30 +01: 1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "repeated-hour"
version = "0.1.0"
edition = "2021"

[dependencies]
chrono = "=0.4.45"
chrono-tz = "=0.10.4"
cron = "=0.17.0"
E
cat >src/main.rs <<'E'
use chrono::DateTime;
use chrono_tz::Europe::Berlin;
use cron::Schedule;

fn main() {
    let moment = |time: &str, offset: u32| {
        let text = format!("2026-10-25T{time}:00+0{offset}:00");
        DateTime::parse_from_rfc3339(&text).unwrap().with_timezone(&Berlin)
    };

    let halves: Schedule = "0 0,30 * * * *".parse().unwrap();
    let start = moment("01:00", 2);
    let times: Vec<String> = halves.after(&start).take(6).map(|time| time.format("%H:%M %z").to_string()).collect();
    println!("each half hour: {}", times.join(", "));

    let minutes: Schedule = "0 * * * * *".parse().unwrap();
    for (time, offset) in [("02:30", 2), ("02:59", 2), ("02:30", 1), ("03:30", 1)] {
        let time = moment(time, offset);
        let next = minutes.after(&time).next().unwrap();
        println!("after {}: {} minutes later", time.format("%H:%M %z"), (next - time).num_minutes());
    }
}
E
seen=$(cargo run -q)
echo "$seen"
expected='each half hour: 01:30 +0200, 02:00 +0200, 02:00 +0100, 02:30 +0200, 02:30 +0100, 03:00 +0100
after 02:30 +0200: 1 minutes later
after 02:59 +0200: 61 minutes later
after 02:30 +0100: -59 minutes later
after 03:30 +0100: 1 minutes later'
[ "$seen" = "$expected" ] || { echo "changed: the times are other ones"; exit 1; }
