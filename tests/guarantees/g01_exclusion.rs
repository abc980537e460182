//! G1: at most one poll or callback of a color runs at any time.

use colored::{Color, ColorCell, Handle, spawn_colored, spawn_unique};
use colored_tests::drops::Drops;
use colored_tests::witness::Witness;
use colored_tests::{run, runtime_with_spares, shared, storm};
use std::sync::Arc;
use std::thread;

const EVENTS: u64 = 1_000_000;
/// Steals.
const MANY: u64 = 500;

/// Together with G2: per producer and color, the events arrive in the order of their making.
/// Shows G1, G2.
#[test]
fn a_million_events_of_64_colors_on_8_workers_under_stealing() {
    shared(|| {
        let runtime = runtime_with_spares(8);
        storm::rage(&runtime, EVENTS);
        let steals: u64 = runtime.metrics().workers.iter().map(|worker| worker.steals).sum();
        println!("{steals} steals");
        assert!(steals > MANY, "{steals} steals: too few for a test of stealing");
    });
}

/// Shows G1.
#[test]
fn hops_aborts_and_shutdown_keep_colors_apart() {
    shared(|| {
        for round in 0..10 {
            storm::wander_until_shutdown(runtime_with_spares(8), 400, round * 400);
        }
    });
}

/// Shows G1.
#[test]
fn tasks_posts_and_calls_of_one_color_keep_apart() {
    let witness = Arc::new(Witness::default());
    let ours = Arc::clone(&witness);
    run(8, async move {
        let cell = ColorCell::new(Color::new(1), Drops::default());
        let handle = Handle::current();
        // A thread that the runtime does not know takes part as well.
        let foreign = {
            let (cell, witness) = (cell.clone(), Arc::clone(&ours));
            move || {
                for _ in 0..5_000 {
                    let witness = Arc::clone(&witness);
                    cell.post(move |_| witness.touch());
                }
            }
        };
        let foreign = thread::spawn(foreign);
        let callers = (0..16).map(|_| {
            let (cell, witness) = (cell.clone(), Arc::clone(&ours));
            spawn_unique(async move {
                for _ in 0..1_000 {
                    let inside = Arc::clone(&witness);
                    cell.call(move |_| inside.touch()).await;
                    let inside = Arc::clone(&witness);
                    cell.post(move |_| inside.touch());
                    let inside = Arc::clone(&witness);
                    spawn_colored(1, async move { inside.touch() }).await.unwrap();
                }
            })
        });
        for caller in callers.collect::<Vec<_>>() {
            caller.await.unwrap();
        }
        handle.spawn_blocking(|| foreign.join().unwrap()).await.unwrap();
        cell.call(|_| ()).await;
        spawn_colored(1, async {}).await.unwrap();
    });
    assert_eq!(witness.count(), 5_000 + 16 * 3_000);
}
