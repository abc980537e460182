//! Each key resolves to its true owner, also 5 s after joins and leaves: in simulated time, which no other program takes.

use super::world::Ring;
use chord::{Mistake, Settings};
use colored::sim::{self, Builder, Faults, Report};
use colored::time::{Duration, sleep};

const KEYS: usize = 10_000;

fn simulate(keys: usize, mistake: Mistake) -> Report {
    let builder = Builder::new().seeds(0..2).workers(2..=2).faults(Faults::none());
    builder.max_turns(20_000_000).run(move || async move {
        let settings = |_| Settings { mistake, seed: sim::random(), ..Settings::default() };
        let mut ring = Ring::start(10, 10, settings).await.expect("the ports are free");
        ring.settle(Duration::from_secs(20)).await;
        let right = ring.count_right(keys).await;
        sim::always!(right == keys, "each key resolves in a settled ring");
        ring.change().await;
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
