#!/usr/bin/env bash
# A reservoir sample of pdatastructs with one place never holds one of the first four of a hundred elements, and one with ten places
# takes the 41st element three times as often as any other.
#
# Version: pdatastructs 0.7.0 (the newest in November 2026), Rust 1.95.0.
# One would guess that each element of a stream is in the sample with the same probability, k of n: the documentation speaks of
# representative samples, and names the algorithm. There are three mistakes. Up to 4 k elements the random number is drawn below
# the number of elements before this one, not up to it, so the element after the first k always gets in. After 4 k elements it
# draws how many to skip, but before the first one of these it has drawn nothing, so that one always gets in as well. And a skip of
# 0 and one of 1 are the same, so later elements come in too often. Of the beginning of a stream a small sample has nothing.
#
# Seen, of 10,000 samples of streams with 100 elements:
#   1 place, the first ten: in fewer than 20 samples (1,000 would be right); the last ten: in more than 1,400
#   10 places, the 41st: in more than 2,900 samples (1,000 would be right); each of the first 40: in fewer than 900
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "reservoir"
version = "0.1.0"
edition = "2021"

[dependencies]
pdatastructs = "=0.7.0"
E
cat >src/main.rs <<'E'
use pdatastructs::rand::{rngs::StdRng, SeedableRng};
use pdatastructs::reservoirsampling::ReservoirSampling;

/// How many of 10,000 samples have each of 100 elements.
fn samples(places: usize) -> Vec<u32> {
    let mut samples = vec![0; 100];
    for seed in 0..10_000 {
        let mut sampling = ReservoirSampling::new(places, StdRng::seed_from_u64(seed));
        (0..100).for_each(|element| sampling.add(element));
        assert_eq!(sampling.reservoir().len(), places);
        sampling.reservoir().iter().for_each(|&element: &usize| samples[element] += 1);
    }
    eprintln!("{places}: {samples:?}");
    samples
}

fn main() {
    let one = samples(1);
    let sum = |elements: &[u32]| elements.iter().sum::<u32>();
    println!("1 place, the first four: {}", sum(&one[..4]));
    println!("1 place, the first ten in fewer than 20: {}", sum(&one[..10]) < 20);
    println!("1 place, the last ten in more than 1400: {}", sum(&one[90..]) > 1_400);
    let ten = samples(10);
    println!("10 places, the 41st in more than 2900: {}", ten[40] > 2_900);
    println!("10 places, each of the first 40 in fewer than 900: {}", ten[..40].iter().all(|&samples| samples < 900));
}
E
seen=$(cargo run -q --release)
echo "$seen"
expected='1 place, the first four: 0
1 place, the first ten in fewer than 20: true
1 place, the last ten in more than 1400: true
10 places, the 41st in more than 2900: true
10 places, each of the first 40 in fewer than 900: true'
[ "$seen" = "$expected" ] || { echo "changed: elements are drawn with another probability"; exit 1; }
