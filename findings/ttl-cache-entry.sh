#!/usr/bin/env bash
# A TtlCache for 2 entries keeps 1,000 if they come by way of `entry`, and `insert` takes none of them away.
#
# Version: ttl_cache 0.5.1 (the newest in November 2026), Rust 1.95.0.
# One would guess that there are never more than two: the documentation says that the cache holds at most `capacity` items. Only
# `insert` looks at the capacity. The `insert` of an entry that `entry` gave puts the value into the map and is done. The cache does
# not remove what has expired either, before `iter` or `entry` of the same key finds it. So a cache that is filled as usual, look it
# up or compute it, grows with each new key, for as long as the program runs. A call of the other `insert` does not help: it removes
# one for the one that it adds. Its iterator is wrong from the back: it ends at the first entry that has expired, so one entry with
# a short life at the end hides all the others.
#
# Seen:
#   1,000 keys by entry(): 1000 entries, of a capacity of 2; one more by insert(): 1000; 1,000 keys by insert(): 2
#   three entries for an hour, then one that has expired: 3 from the front, 0 from the back
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "entry"
version = "0.1.0"
edition = "2021"

[dependencies]
ttl_cache = "=0.5.1"
E
cat >src/main.rs <<'E'
use std::{thread, time::Duration};
use ttl_cache::{Entry, TtlCache};

const HOUR: Duration = Duration::from_secs(3600);

fn main() {
    let mut cache = TtlCache::new(2);
    for key in 0..1_000 {
        if let Entry::Vacant(vacant) = cache.entry(key) {
            vacant.insert(key, HOUR);
        }
    }
    println!("by entry: {} of {}", cache.iter().count(), cache.capacity());
    cache.insert(1_000, 1_000, HOUR);
    println!("then one by insert: {} of {}", cache.iter().count(), cache.capacity());
    let mut cache = TtlCache::new(2);
    for key in 0..1_000 {
        cache.insert(key, key, HOUR);
    }
    println!("all by insert: {} of {}", cache.iter().count(), cache.capacity());

    let mut cache = TtlCache::new(10);
    for (key, life) in [(1, HOUR), (2, HOUR), (3, HOUR), (4, Duration::from_millis(1))] {
        cache.insert(key, key, life);
    }
    thread::sleep(Duration::from_millis(10));
    println!("{} from the front, {} from the back", cache.iter().count(), cache.iter().rev().count());
}
E
seen=$(cargo run -q)
echo "$seen"
expected='by entry: 1000 of 2
then one by insert: 1000 of 2
all by insert: 2 of 2
3 from the front, 0 from the back'
[ "$seen" = "$expected" ] || { echo "changed: another number of entries"; exit 1; }
