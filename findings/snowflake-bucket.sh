#!/usr/bin/env bash
# The ids of a SnowflakeIdBucket fall instead of rise, tell when the bucket was made, and come once more after a restart.
#
# Version: rs-snowflake 0.6.0 (the newest in November 2026), Rust 1.95.0.
# One would guess ids of the well-known kind: each one larger than those before it, with the time at which it was made, and no two
# the same as long as no two programs share their machine and node. The generator of the same package is so with its
# `real_time_generate`. The bucket, which the front page shows beside it, makes 4,091 ids at once and hands them out from the last
# to the first. Its time is the one at which it was made, plus a millisecond for each 4,096 ids, whatever the clock says. So rows
# are sorted in the wrong order, and a row of today has the time of the last start. A busy bucket runs ahead of the clock, since it
# makes ids faster than 4,096 in a millisecond. If the program starts again before the clock has caught up, the new bucket repeats
# what the old one gave.
#
# Seen:
#   bucket: 4090 of 4090 ids smaller than the one before it; two ids with 2 s between them are 0 ms apart
#   real_time_generate: 0 of 4090 smaller; 2 s apart
#   after 8,000,000 ids, the first id of the next bucket with the same machine and node: one that the first bucket gave too
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "bucket"
version = "0.1.0"
edition = "2021"

[dependencies]
rs-snowflake = "=0.6.0"
E
cat >src/main.rs <<'E'
use snowflake::{SnowflakeIdBucket, SnowflakeIdGenerator};
use std::time::Duration;

/// How many of 4,090 ids are smaller than the one before them, and how many milliseconds apart two are with 2 s between them.
fn order(mut id: impl FnMut() -> i64) -> (usize, i64) {
    let ids: Vec<i64> = (0..4091).map(|_| id()).collect();
    let falling = ids.windows(2).filter(|pair| pair[1] < pair[0]).count();
    let before = id() >> 22;
    std::thread::sleep(Duration::from_secs(2));
    (falling, (id() >> 22) - before)
}

fn main() {
    let mut bucket = SnowflakeIdBucket::new(1, 1);
    let (falling, apart) = order(|| bucket.get_id());
    println!("bucket: {falling} of 4090 smaller, {apart} ms apart");
    let mut generator = SnowflakeIdGenerator::new(1, 1);
    let (falling, apart) = order(|| generator.real_time_generate());
    println!("real_time_generate: {falling} of 4090 smaller, 2 s apart: {}", apart > 1900);

    let mut given = Vec::with_capacity(8_000_000);
    let mut first = SnowflakeIdBucket::new(1, 1);
    given.extend((0..8_000_000).map(|_| first.get_id()));
    let again = SnowflakeIdBucket::new(1, 1).get_id();
    println!("the first id of the next bucket was given before: {}", given.contains(&again));
}
E
seen=$(cargo run -q --release)
echo "$seen"
expected='bucket: 4090 of 4090 smaller, 0 ms apart
real_time_generate: 0 of 4090 smaller, 2 s apart: true
the first id of the next bucket was given before: true'
[ "$seen" = "$expected" ] || { echo "changed: the ids are other ones"; exit 1; }
