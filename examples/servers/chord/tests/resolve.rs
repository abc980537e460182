//! Each key resolves to its true owner: in a settled ring of 100 nodes, and after joins and leaves.

use super::world::{Ring, settings};
use chord::{Mistake, Settings};
use colored::sim::{self, Builder, Faults, Report};
use colored::time::{Duration, Instant, sleep};

const KEYS: usize = 10_000;

/// Until a ring is settled on a busy machine.
const MOST: Duration = Duration::from_secs(120);

/// What a machine that is busy otherwise may take: a process that gets no CPU for 5 s counts as dead for a while.
const ATTEMPTS: usize = 3;

async fn start(settings: impl Fn(u16) -> Settings) -> Ring {
    Ring::start(10, 10, settings).await.expect("loopback is there")
}

/// Eight nodes join, and eight leave, half of them without a word.
async fn change(ring: &mut Ring) {
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
}

/// How many keys resolve when the ring is settled, and when it is settled again after the changes.
async fn resolve() -> [usize; 2] {
    let mut ring = start(|_| settings(Mistake::None)).await;
    assert!(ring.settle(MOST).await, "the ring settles");
    let settled = ring.count_right(KEYS).await;
    let begin = Instant::now();
    change(&mut ring).await;
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

/// The same in simulated time, which no other program takes: 5 s after the changes.
fn simulate(keys: usize, mistake: Mistake) -> Report {
    let builder = Builder::new().seeds(0..2).workers(2..=2).faults(Faults::none());
    builder.max_turns(20_000_000).run(move || async move {
        let settings = |_| Settings { mistake, seed: sim::random(), ..Settings::default() };
        let mut ring = start(settings).await;
        ring.settle(Duration::from_secs(20)).await;
        let right = ring.count_right(keys).await;
        sim::always!(right == keys, "each key resolves in a settled ring");
        change(&mut ring).await;
        sleep(Duration::from_secs(5)).await;
        let right = ring.count_right(keys).await;
        sim::always!(right == keys, "each key resolves 5 s after the changes");
    })
}

#[test]
fn ten_thousand_keys_resolve_5_s_after_the_changes() {
    simulate(KEYS, Mistake::None).assert_passed();
}

#[test]
fn keys_do_not_resolve_if_nodes_ignore_joins() {
    assert!(simulate(1000, Mistake::IgnoresJoins).failure().is_some());
}
