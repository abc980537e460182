#!/usr/bin/env bash
# Asked in March 2026 for the last run of a monthly job that ended with 2024, cron tells the one of March 2024, not of December.
#
# Version: cron 0.17.0 (the newest in November 2026), chrono 0.4.45, Rust 1.95.0.
# One would guess December: the iterator goes in both directions, and all times of 2024 lie before. The search backwards begins
# with the month of the question, and does so also in the first year of the schedule that it looks at, if that is an earlier one.
# Only the search forwards takes a later year as a whole. So the months, days and hours behind those of the question are left out.
# It happens only if the schedule names years, and not that of the question. Somebody who looks after a restart for a run that was
# missed, or shows when a job ran last, gets a time that is months too early. In December the answer is right.
#
# Seen, the last run of a schedule, asked on the 15th at 08:00:
#   0 0 0 1 * * 2024: in 2024-12: 2024-12-01 00:00; in 2026-03: 2024-03-01 00:00; in 2026-12: 2024-12-01 00:00
#   0 0 12 * * * 2024: in 2026-03: 2024-03-14 12:00
#   0 0 0 1 * * 2020/2, all from 2020 by twos: in 2025-02: 2024-02-01 00:00; in 2026-02: 2026-02-01 00:00
#   forwards, 0 0 0 1 * * 2028: in 2026-03: 2028-01-01 00:00
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "previous-year"
version = "0.1.0"
edition = "2021"

[dependencies]
chrono = "=0.4.45"
cron = "=0.17.0"
E
cat >src/main.rs <<'E'
use chrono::{DateTime, Utc};
use cron::Schedule;

fn main() {
    let moment = |month: &str| format!("{month}-15T08:00:00Z").parse::<DateTime<Utc>>().unwrap();
    for (schedule, months) in [
        ("0 0 0 1 * * 2024", &["2024-12", "2026-03", "2026-12"][..]),
        ("0 0 12 * * * 2024", &["2026-03"]),
        ("0 0 0 1 * * 2020/2", &["2025-02", "2026-02"]),
    ] {
        for month in months {
            let last = schedule.parse::<Schedule>().unwrap().after(&moment(month)).next_back().unwrap();
            println!("{schedule}: in {month}: {}", last.format("%F %H:%M"));
        }
    }
    let next = "0 0 0 1 * * 2028".parse::<Schedule>().unwrap().after(&moment("2026-03")).next().unwrap();
    println!("forwards: {}", next.format("%F %H:%M"));
}
E
seen=$(cargo run -q)
echo "$seen"
expected='0 0 0 1 * * 2024: in 2024-12: 2024-12-01 00:00
0 0 0 1 * * 2024: in 2026-03: 2024-03-01 00:00
0 0 0 1 * * 2024: in 2026-12: 2024-12-01 00:00
0 0 12 * * * 2024: in 2026-03: 2024-03-14 12:00
0 0 0 1 * * 2020/2: in 2025-02: 2024-02-01 00:00
0 0 0 1 * * 2020/2: in 2026-02: 2026-02-01 00:00
forwards: 2028-01-01 00:00'
[ "$seen" = "$expected" ] || { echo "changed: the last runs are other ones"; exit 1; }
