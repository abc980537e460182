//! Each key resolves to its true owner: in a settled ring of 100 nodes, and after joins and leaves.

use super::sockets::{self, MOST, settings};
use chord::Mistake;
use colored::time::Instant;

const KEYS: usize = 10_000;

/// What a machine that is busy otherwise may take: a process that gets no CPU for 5 s counts as dead for a while.
const ATTEMPTS: usize = 3;

/// How many keys resolve when the ring is settled, and when it is settled again after the changes.
async fn resolve() -> [usize; 2] {
    let mut ring = sockets::start(10, 10, |_| settings(Mistake::None)).await;
    let settled = ring.count_right(KEYS).await;
    let begin = Instant::now();
    ring.change().await;
    assert!(ring.settle(MOST).await, "the ring settles again");
    println!("settled again {:?} after the first change", begin.elapsed());
    [settled, ring.count_right(KEYS).await]
}

#[colored::test]
async fn ten_thousand_keys_resolve_to_their_owners() {
    let mut seen = Vec::new();
    for _ in 0..ATTEMPTS {
        let right = resolve().await;
        if right == [KEYS, KEYS] {
            return;
        }
        seen.push(right);
    }
    panic!("of {KEYS} keys, so many resolve before and behind the changes: {seen:?}");
}
