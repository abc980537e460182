#!/usr/bin/env bash
# The mode that streaming-stats finds is a value that occurs two times, where two others occur three times each.
#
# Version: streaming-stats 0.2.3 (the newest in November 2026), Rust 1.95.0.
# One would guess `None`: `mode` is documented as exact, with `None` if the data have no mode; `modes` gives both values, and the
# `mode` of `Frequencies` gives `None` for the same data. `mode` goes through the sorted values with one candidate. If a second
# value reaches the same number, there is no candidate any more, and the number to beat is set to 0. A larger value that occurs
# twice is then the mode, however often the others were seen. So the answer depends on which of the values is the largest.
# The same crate adds up the results of workers: there two empty `OnlineStats` become NaN when they are merged, and NaN stays in
# all that is merged with them, though the empty one is documented as the value that changes nothing.
#
# Seen:
#   1 1 1 2 2 2 3 3: mode 3, modes 1 and 2, by Frequencies none; 3 3 3 2 2 2 1 1: mode none
#   two empty ones and [1, 3]: mean NaN; one empty one and [1, 3]: mean 2
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "mode"
version = "0.1.0"
edition = "2021"

[dependencies]
streaming-stats = "=0.2.3"
E
cat >src/main.rs <<'E'
use stats::{merge_all, mode, modes, Frequencies, OnlineStats};

fn main() {
    // The second line is the first one with 1 and 3 exchanged.
    for values in [[1, 1, 1, 2, 2, 2, 3, 3], [3, 3, 3, 2, 2, 2, 1, 1]] {
        let exact: Frequencies<i32> = values.into_iter().collect();
        let (one, all) = (mode(values.into_iter()), modes(values.into_iter()));
        println!("{values:?}: mode {one:?}, modes {all:?}, by frequencies {:?}", exact.mode());
    }
    for workers in [vec![vec![], vec![], vec![1, 3]], vec![vec![], vec![1, 3]]] {
        let results = workers.iter().map(|values| values.iter().copied().collect::<OnlineStats>());
        println!("{workers:?}: mean {}", merge_all(results).unwrap().mean());
    }
}
E
seen=$(cargo run -q)
echo "$seen"
expected='[1, 1, 1, 2, 2, 2, 3, 3]: mode Some(3), modes [1, 2], by frequencies None
[3, 3, 3, 2, 2, 2, 1, 1]: mode None, modes [2, 3], by frequencies None
[[], [], [1, 3]]: mean NaN
[[], [1, 3]]: mean 2'
[ "$seen" = "$expected" ] || { echo "changed: another mode, or another mean"; exit 1; }
