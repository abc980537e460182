//! Tasks from other threads, while every worker has tasks that never end.

use super::Row;
use crate::latch::Latch;
use crate::measure::{Case, Entry, Pace, Sample, Unit};
use crate::rivals::{Rival, Runtimes};
use crate::spin::{PER_MICROSECOND, spin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The rows of this file. Every task has a color of its own.
pub const ROWS: &[Row] = &[
    Row { name: "outside_spawn_busy", build: |on, _| case(on, Shape::Spawn) },
    Row { name: "outside_blocking_busy", build: |on, _| case(on, Shape::Blocking) },
];

/// Tasks that yield for ever.
const BUSY: usize = 4;
/// The work of such a task in a poll: 20 µs, in steps.
const WORK: u64 = 20 * PER_MICROSECOND;
/// Tasks that come from a foreign thread.
const SPAWNS: usize = 500;
/// Tasks that each await a blocking call.
const CALLS: usize = 300;
/// How long a blocking call takes.
const CALL: Duration = Duration::from_micros(50);

#[derive(Clone, Copy)]
enum Shape {
    /// A thread outside the runtime spawns empty tasks and waits for a countdown.
    Spawn,
    /// Tasks await one blocking call each.
    Blocking,
}

fn case(on: Runtimes, shape: Shape) -> Case {
    let text = match shape {
        Shape::Spawn => "us/task",
        Shape::Blocking => "us/call",
    };
    Case {
        unit: Unit::us(text),
        pace: Pace::Short,
        entries: vec![
            Entry::subject(sampler(on.unique(), shape)),
            Entry::peer("tokio", sampler(on.tokio(), shape)),
        ],
    }
}

fn sampler<R: Rival>(on: R, shape: Shape) -> impl FnMut() -> Sample + 'static {
    let (latch, ended) = (Latch::leaked(), Latch::leaked());
    let over: &'static AtomicBool = Box::leak(Box::default());
    move || {
        // Ordering: the flag orders no other data.
        over.store(false, Ordering::Relaxed);
        ended.expect(BUSY);
        for _ in 0..BUSY {
            drop(on.spawn_from_outside(async move {
                while !over.load(Ordering::Relaxed) {
                    spin(WORK);
                    on.yield_now().await;
                }
                ended.hit();
            }));
        }
        // By then all workers have found their tasks.
        thread::sleep(Duration::from_millis(5));
        let start = Instant::now();
        let ops = match shape {
            Shape::Spawn => spawns(on, latch),
            Shape::Blocking => calls(on, latch),
        };
        let wall = start.elapsed();
        over.store(true, Ordering::Relaxed);
        on.run(ended.wait());
        Sample { cost: wall, wall, ops: ops as u64 }
    }
}

fn spawns<R: Rival>(on: R, latch: &'static Latch) -> usize {
    latch.expect(SPAWNS);
    for _ in 0..SPAWNS {
        drop(on.spawn_from_outside(async { latch.hit() }));
    }
    on.run(latch.wait());
    SPAWNS
}

fn calls<R: Rival>(on: R, latch: &'static Latch) -> usize {
    latch.expect(CALLS);
    on.run(async move {
        for _ in 0..CALLS {
            drop(on.spawn(async move {
                on.blocking(|| thread::sleep(CALL)).await;
                latch.hit();
            }));
        }
        latch.wait().await;
    });
    CALLS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Mode;

    #[test]
    fn every_shape_ends_on_every_rival() {
        let on = Runtimes::start();
        for row in ROWS {
            let outcomes = (row.build)(on, Mode::Smoke).alternate(Mode::Smoke);
            assert_eq!(outcomes.len(), 2, "{}", row.name);
        }
    }
}
