//! Spawning empty tasks: from inside, from another thread, and awaiting them.

use super::Row;
use crate::latch::Latch;
use crate::measure::{Case, Entry, Pace, Sample, Unit};
use crate::rivals::{Rival, Runtimes};

/// The rows of this file. Plain rows name no color; in rows that end in `_unique` every task has a
/// color of its own.
pub const ROWS: &[Row] = &[
    Row { name: "spawn_many", build: |on, _| case(on, on.serial(), Shape::Detached) },
    Row { name: "spawn_many_unique", build: |on, _| case(on, on.unique(), Shape::Detached) },
    Row { name: "spawn_join", build: |on, _| case(on, on.serial(), Shape::Joined) },
    Row { name: "spawn_join_unique", build: |on, _| case(on, on.unique(), Shape::Joined) },
    Row { name: "spawn_remote", build: |on, _| case(on, on.serial(), Shape::Remote) },
    Row { name: "spawn_remote_unique", build: |on, _| case(on, on.unique(), Shape::Remote) },
];

/// Tasks per sample, as in tokio's own benches.
const TASKS: usize = 10_000;

#[derive(Clone, Copy)]
enum Shape {
    /// A task spawns them, drops their handles, and waits for a countdown.
    Detached,
    /// A task spawns them and awaits every handle.
    Joined,
    /// A thread outside the runtime spawns them and waits for a countdown.
    Remote,
}

fn case(on: Runtimes, subject: impl Rival, shape: Shape) -> Case {
    Case {
        unit: Unit::ns("ns/task"),
        pace: Pace::Short,
        entries: vec![
            Entry::subject(sampler(subject, shape)),
            Entry::peer("tokio", sampler(on.tokio(), shape)),
            Entry::plotted("tokio_ct", sampler(on.tokio_ct(), shape)),
        ],
    }
}

fn sampler<R: Rival>(on: R, shape: Shape) -> impl FnMut() -> Sample + 'static {
    let latch = Latch::leaked();
    move || {
        Sample::time(TASKS as u64, || match shape {
            Shape::Detached => on.run(detached(on, latch)),
            Shape::Joined => on.run(joined(on)),
            Shape::Remote => remote(on, latch),
        })
    }
}

async fn detached<R: Rival>(on: R, latch: &'static Latch) {
    latch.expect(TASKS);
    for _ in 0..TASKS {
        drop(on.spawn(async { latch.hit() }));
    }
    latch.wait().await;
}

async fn joined<R: Rival>(on: R) {
    let tasks: Vec<_> = (0..TASKS).map(|_| on.spawn(async {})).collect();
    for task in tasks {
        task.await.expect("an empty task does not panic");
    }
}

fn remote<R: Rival>(on: R, latch: &'static Latch) {
    latch.expect(TASKS);
    for _ in 0..TASKS {
        drop(on.spawn_from_outside(async { latch.hit() }));
    }
    on.run(latch.wait());
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
