//! Each key resolves to its true owner, in a settled ring and 5 s after joins and leaves.

use super::world::Ring;
use chord::{Mistake, Settings};
use colored::time::{Duration, sleep};

/// What a machine that is busy otherwise may take.
const ATTEMPTS: usize = 3;

/// How many of the keys resolve in a ring of 100 nodes: when it is settled, and 5 s after 8 nodes have joined and 8 have
/// left.
async fn resolve(keys: usize, mistake: Mistake, patience: Duration) -> [usize; 2] {
    let settings = |_| Settings { mistake, ..Settings::default() };
    let mut ring = Ring::start(10, 10, settings).await.expect("loopback is there");
    ring.settle(patience).await;
    let settled = ring.count_right(keys).await;
    for (number, process) in ring.processes.iter().enumerate().take(8) {
        process.join(10).await.expect("the ring is there");
        match number % 2 {
            0 => process.leave(3).await,
            _ => process.stop(3).await,
        }
        let (joined, left) = (process.contact(10), process.contact(3));
        ring.members.retain(|member| *member != left);
        ring.members.push(joined);
    }
    sleep(Duration::from_secs(5)).await;
    [settled, ring.count_right(keys).await]
}

#[colored::test]
async fn ten_thousand_keys_resolve_to_their_owners() {
    let mut seen = Vec::new();
    for _ in 0..ATTEMPTS {
        let right = resolve(10_000, Mistake::None, Duration::from_secs(60)).await;
        if right == [10_000, 10_000] {
            return;
        }
        seen.push(right);
    }
    panic!("of 10,000 keys, so many resolve before and behind the changes: {seen:?}");
}

#[colored::test]
async fn keys_do_not_resolve_if_nodes_ignore_joins() {
    let right = resolve(1000, Mistake::IgnoresJoins, Duration::from_secs(2)).await;
    assert!(right[0] < 1000 && right[1] < 1000, "{right:?}");
}
