#!/usr/bin/env bash
# The normalized difference of inferno sets a profile to nothing if the second one has a single sample less.
#
# Version: inferno 0.12.8 (the newest in November 2026), as a library without default features; Rust 1.95.0.
# One would guess that `normalize` (`-n` of inferno-diff-folded) makes the totals of both profiles equal, up to a few samples: it
# is documented as balancing the first one, so that load does not color all frames. Each stack is scaled alone and rounded down. A
# stack with one sample becomes 0 for each factor below 1, also for 0.999, and nothing carries the rest over. Sampled profiles of
# async programs have thousands of deep stacks that were seen once: all of them are new in the difference, as if the first program
# had done nothing there. For a factor of 1.9 the same stacks stay at 1, and the first profile is little more than half of what it
# should be.
#
# Seen, the sums of both columns, for 1,000 stacks with one sample each before, and 999 or 1,900 of the kind after:
#   999: 0 and 999, without normalize 1000 and 999
#   1900: 1000 and 1900
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "normalize"
version = "0.1.0"
edition = "2021"

[dependencies]
inferno = { version = "=0.12.8", default-features = false }
E
cat >src/main.rs <<'E'
use inferno::differential::{from_readers, Options};

/// So many stacks, with one sample each.
fn profile(stacks: usize) -> String {
    (0..stacks).map(|stack| format!("main;step_{stack} 1\n")).collect()
}

/// The sums of the two columns of the difference.
fn sums(normalize: bool, after: usize) -> String {
    let (before, after) = (profile(1_000), profile(after));
    let mut lines = Vec::new();
    from_readers(Options { normalize, ..Options::default() }, before.as_bytes(), after.as_bytes(), &mut lines).unwrap();
    let mut sums = [0_u64; 2];
    for line in String::from_utf8(lines).unwrap().lines() {
        let mut columns = line.split(' ').skip(1);
        sums.iter_mut().for_each(|sum| *sum += columns.next().unwrap().parse::<u64>().unwrap());
    }
    format!("{} and {}", sums[0], sums[1])
}

fn main() {
    println!("999: {}, without normalize {}", sums(true, 999), sums(false, 999));
    println!("1900: {}", sums(true, 1_900));
}
E
seen=$(cargo run -q)
echo "$seen"
expected='999: 0 and 999, without normalize 1000 and 999
1900: 1000 and 1900'
[ "$seen" = "$expected" ] || { echo "changed: the first profile is balanced in another way"; exit 1; }
