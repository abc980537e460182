#!/usr/bin/env bash
# A limited queue of deadqueue that is made from three items holds none of them, and takes no others: it is empty and full.
#
# Version: deadqueue 0.2.5 (the newest in November 2026), Rust 1.95.0.
# One would guess three items: the documentation of `From` speaks of a new queue from the given objects. It puts them into a queue,
# and then returns another one of the same size, which is empty; the counters beside it, of items and of free places, are those of
# the queue that was dropped. So `len` is 0, `available` is 3, and a push is refused because no place is free. A resizable queue
# keeps its items, but the counter that decides whether it is empty begins at 0 instead of 3: the first item that leaves tells all
# who wait for the empty queue that it is empty, while two are inside.
#
# Seen:
#   limited from 3: len 0, is_empty true, available 3, capacity 3, try_push Err(4)
#   resizable from 3, one taken: len 2, told that it is empty: true
#   resizable with 3 pushed, one taken: len 2, told that it is empty: false
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir src
cat >Cargo.toml <<'E'
[package]
name = "items"
version = "0.1.0"
edition = "2021"

[dependencies]
deadqueue = "=0.2.5"
E
cat >src/main.rs <<'E'
use deadqueue::{limited, resizable};

/// Takes one item, and says whether somebody who waits for the empty queue would go on.
fn take(from: &str, queue: resizable::Queue<u32>) {
    let empty = queue.subscribe_empty();
    assert_eq!(queue.try_pop(), Some(1));
    let told = empty.has_changed().unwrap();
    println!("resizable {from}, one taken: len {}, told that it is empty: {told}", queue.len());
}

fn main() {
    let queue = limited::Queue::from([1, 2, 3]);
    print!("limited from 3: len {}, is_empty {}, ", queue.len(), queue.is_empty());
    println!("available {}, capacity {}, try_push {:?}", queue.available(), queue.capacity(), queue.try_push(4));

    take("from 3", [1, 2, 3].into_iter().collect());
    let pushed = resizable::Queue::new(3);
    (1..=3).for_each(|item| pushed.try_push(item).unwrap());
    take("with 3 pushed", pushed);
}
E
seen=$(cargo run -q)
echo "$seen"
expected='limited from 3: len 0, is_empty true, available 3, capacity 3, try_push Err(4)
resizable from 3, one taken: len 2, told that it is empty: true
resizable with 3 pushed, one taken: len 2, told that it is empty: false'
[ "$seen" = "$expected" ] || { echo "changed: queues that are made from items hold or count others"; exit 1; }
