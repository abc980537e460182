//! Tasks that wake and spawn each other: chains, pairs, yields.

use super::Row;
use crate::latch::Latch;
use crate::measure::{Case, Entry, Pace, Sample, Unit};
use crate::rivals::{Rival, Runtimes};
use tokio::sync::oneshot;

/// The rows of this file that spawn more than they wake, so that the allocator matters. Plain rows
/// name no color; in rows that end in `_unique` every task has a color of its own.
pub const CHAINS: &[Row] = &[
    Row { name: "chained_spawn", build: |on, _| case(on, on.serial(), Shape::Chain) },
    Row { name: "chained_spawn_unique", build: |on, _| case(on, on.unique(), Shape::Chain) },
];

/// The other rows of this file.
pub const ROWS: &[Row] = &[
    Row { name: "ping_pong", build: |on, _| case(on, on.serial(), Shape::Pairs) },
    Row { name: "ping_pong_unique", build: |on, _| case(on, on.unique(), Shape::Pairs) },
    Row { name: "yield_many", build: |on, _| case(on, on.serial(), Shape::Yields) },
    Row { name: "yield_many_unique", build: |on, _| case(on, on.unique(), Shape::Yields) },
];

/// Links of the chain: ten times tokio's own bench, so that its start does not count.
const LINKS: usize = 10_000;
/// Pairs at once, as in tokio's own bench.
const PAIRS: usize = 1_000;
/// Tasks that yield, as in tokio's own bench.
const YIELDERS: usize = 200;
/// Yields of each, as in tokio's own bench.
const YIELDS: usize = 1_000;

#[derive(Clone, Copy)]
enum Shape {
    /// Each task spawns the next and ends.
    Chain,
    /// Pairs of tasks send each other one message, all pairs at once.
    Pairs,
    /// Many tasks yield many times.
    Yields,
}

fn case(on: Runtimes, subject: impl Rival, shape: Shape) -> Case {
    let unit = match shape {
        Shape::Chain => Unit::ns("ns/task"),
        Shape::Pairs => Unit::ns("ns/pair"),
        Shape::Yields => Unit::ns("ns/yield"),
    };
    Case {
        unit,
        pace: Pace::Short,
        entries: vec![
            Entry::subject(sampler(subject, shape)),
            Entry::peer("tokio", sampler(on.tokio(), shape)),
            Entry::plotted("tokio_ct", sampler(on.tokio_ct(), shape)),
        ],
    }
}

fn sampler<R: Rival>(on: R, shape: Shape) -> Box<dyn FnMut() -> Sample> {
    let latch = Latch::leaked();
    match shape {
        Shape::Chain => Box::new(move || Sample::time(LINKS as u64, || on.run(chain(on, latch)))),
        Shape::Pairs => Box::new(move || Sample::time(PAIRS as u64, || on.run(pairs(on, latch)))),
        Shape::Yields => {
            let yields = (YIELDERS * YIELDS) as u64;
            Box::new(move || Sample::time(yields, || on.run(yield_many(on, latch))))
        }
    }
}

async fn chain<R: Rival>(on: R, latch: &'static Latch) {
    latch.expect(1);
    link(on, latch, LINKS);
    latch.wait().await;
}

fn link<R: Rival>(on: R, latch: &'static Latch, left: usize) {
    drop(on.spawn(async move { if left > 1 { link(on, latch, left - 1) } else { latch.hit() } }));
}

async fn pairs<R: Rival>(on: R, latch: &'static Latch) {
    latch.expect(PAIRS);
    for _ in 0..PAIRS {
        drop(on.spawn(async move {
            let (ping, pinged) = oneshot::channel();
            let (pong, ponged) = oneshot::channel();
            drop(on.spawn(async move {
                pinged.await.expect("the ping comes");
                pong.send(()).expect("the pong is awaited");
            }));
            ping.send(()).expect("the ping is awaited");
            ponged.await.expect("the pong comes");
            latch.hit();
        }));
    }
    latch.wait().await;
}

async fn yield_many<R: Rival>(on: R, latch: &'static Latch) {
    latch.expect(YIELDERS);
    for _ in 0..YIELDERS {
        drop(on.spawn(async move {
            for _ in 0..YIELDS {
                on.yield_now().await;
            }
            latch.hit();
        }));
    }
    latch.wait().await;
}
