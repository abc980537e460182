#!/usr/bin/env bash
# A job of clokwerk each day plus 6 hours plus 13 minutes runs at 06:04, and one each week plus 2 days on Wednesdays and Tuesdays
# in turn.
#
# Version: clokwerk 0.4.0 (the newest in November 2026), chrono 0.4.45, Rust 1.95.0; with a clock of our own.
# One would guess 06:13 and Wednesdays: the documentation calls `plus` an offset, has the first line as its example, and says that
# an offset changes the time of a job, but normally not how often it runs. Nothing is added. `plus(13.minutes())` looks for the
# next multiple of 13 minutes since midnight, and `plus(2.days())` for the next multiple of two days since the first day of the
# year 1. So an offset is right only if it divides what comes before it: 30 minutes do, in each hour. Seven days have a remainder
# by two, so a weekly job moves to and fro. An hourly job plus 25 minutes has pauses of 50 and 75 minutes. Somebody who spreads
# hourly jobs over the hour, plus 5 and plus 25 minutes, has both at 02:05. Also the example with 125 minutes is not what the
# documentation says, which is 02:05, 04:05, 06:05.
#
# Seen:
#   each day plus 6 hours plus 13 minutes: 06:04, 06:04, 06:04
#   each week plus 2 days, from Thursday, 2026-10-01: Wed 07, Tue 13, Wed 21, Tue 27
#   each hour plus 30 minutes: 00:30, 01:30, 02:30, 03:30, 04:30, 05:30, 06:30
#   each hour plus 25 minutes: 00:25, 01:15, 02:05, 03:20, 04:10, 05:25, 06:15
#   each hour plus 125 minutes: 01:00, 02:05, 04:10, 06:15
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "plus"
version = "0.1.0"
edition = "2021"

[dependencies]
chrono = "=0.4.45"
clokwerk = "=0.4.0"
E
cat >src/main.rs <<'E'
use chrono::{DateTime, TimeZone, Utc};
use clokwerk::{timeprovider::TimeProvider, Interval, Job, Scheduler, TimeUnits};
use std::sync::{atomic::AtomicI64, atomic::Ordering::SeqCst, Arc, Mutex};

/// Minutes of the manual clock since 1970.
static MINUTE: AtomicI64 = AtomicI64::new(0);

struct Manual;

impl TimeProvider for Manual {
    fn now<Tz: TimeZone + Sync + Send>(tz: &Tz) -> DateTime<Tz> {
        DateTime::from_timestamp(MINUTE.load(SeqCst) * 60, 0).unwrap().with_timezone(tz)
    }
}

/// When a job runs that is made one minute before October 2026, in the hours after that.
fn runs(each: Interval, plus: &[Interval], hours: i64, format: &'static str) -> String {
    let start = "2026-09-30T23:59:00Z".parse::<DateTime<Utc>>().unwrap().timestamp() / 60;
    MINUTE.store(start, SeqCst);
    let mut scheduler = Scheduler::with_tz_and_provider::<Utc, Manual>(Utc);
    let runs = Arc::new(Mutex::new(Vec::new()));
    let job = scheduler.every(each);
    for offset in plus {
        job.plus(*offset);
    }
    let log = runs.clone();
    job.run(move || log.lock().unwrap().push(Manual::now(&Utc).format(format).to_string()));
    for minute in 1..=hours * 60 {
        MINUTE.store(start + minute, SeqCst);
        scheduler.run_pending();
    }
    let runs = runs.lock().unwrap().join(", ");
    runs
}

fn main() {
    println!("each day plus 6 hours plus 13 minutes: {}", runs(1.day(), &[6.hours(), 13.minutes()], 72, "%H:%M"));
    println!("each week plus 2 days: {}", runs(1.week(), &[2.days()], 31 * 24, "%a %d"));
    for minutes in [30, 25, 125] {
        println!("each hour plus {minutes} minutes: {}", runs(1.hour(), &[minutes.minutes()], 7, "%H:%M"));
    }
}
E
seen=$(cargo run -q)
echo "$seen"
expected='each day plus 6 hours plus 13 minutes: 06:04, 06:04, 06:04
each week plus 2 days: Wed 07, Tue 13, Wed 21, Tue 27
each hour plus 30 minutes: 00:30, 01:30, 02:30, 03:30, 04:30, 05:30, 06:30
each hour plus 25 minutes: 00:25, 01:15, 02:05, 03:20, 04:10, 05:25, 06:15
each hour plus 125 minutes: 01:00, 02:05, 04:10, 06:15'
[ "$seen" = "$expected" ] || { echo "changed: the offsets are other ones"; exit 1; }
