//! Bytes per idle task and per idle color.

use crate::counting::Counting;
use crate::latch::Latch;
use crate::ratio::{Options, line};
use crate::rivals::{Join, Rival, Runtimes};
use colored::{Color, ColorCell};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Idle tasks or cells per figure: many, so that the runtime's one-time allocations do not count.
const COUNT: usize = 100_000;
/// Where the colors of idle tasks and cells start.
const FIRST_COLOR: u64 = 1_000_000;
/// The most that an idle color may cost (design goal), in bytes.
const COLOR_GOAL: f64 = 128.0;

/// Prints the memory rows that match.
pub fn run(options: &Options, allocator: &'static Counting) {
    let rows = [
        "bytes_per_idle_task",
        "bytes_per_idle_task_unique",
        "bytes_per_idle_color",
        "bytes_per_idle_cell",
    ];
    if !rows.iter().any(|row| options.matches(row)) {
        return;
    }
    // Every figure has runtimes of its own: a runtime keeps freed memory, and allocations from
    // there are not counted.
    let serial = tasks(allocator, Runtimes::start().serial(), colored::spawn);
    let unique = tasks(allocator, Runtimes::start().unique(), colored::spawn_unique);
    let tokio = tasks(allocator, Runtimes::start().tokio(), tokio::spawn);
    let mut next = FIRST_COLOR;
    let named = tasks(allocator, Runtimes::start().serial(), move |task| {
        next += 1;
        colored::spawn_colored(Color::new(next), task)
    });
    let color = named - serial;
    let cell = cells(allocator, Runtimes::start().serial());
    let figures = [
        (serial, "tokio", tokio),
        (unique, "tokio", tokio),
        (color, "goal", COLOR_GOAL),
        (cell, "goal", COLOR_GOAL),
    ];
    for (row, (colored, peer, other)) in rows.into_iter().zip(figures) {
        if options.matches(row) {
            line(row, colored, peer, other, "B");
        }
    }
}

/// A future that reports its first poll and then waits for ever.
struct Idle {
    polled: Option<&'static Latch>,
}

impl Future for Idle {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if let Some(latch) = self.polled.take() {
            latch.hit();
        }
        Poll::Pending
    }
}

/// The cost of a task that `spawn` made, that has been polled, and that waits.
fn tasks<R, S, J>(allocator: &'static Counting, on: R, mut spawn: S) -> f64
where
    R: Rival,
    S: FnMut(Idle) -> J + Send + 'static,
    J: Join<()>,
{
    on.run(async move {
        let latch = Latch::leaked();
        let mut handles = Vec::with_capacity(COUNT);
        latch.expect(COUNT);
        let before = allocator.live();
        for _ in 0..COUNT {
            handles.push(spawn(Idle { polled: Some(latch) }));
        }
        latch.wait().await;
        let after = allocator.live();
        for handle in &handles {
            handle.abort();
        }
        for handle in handles {
            handle.await.expect_err("it waits for ever");
        }
        per_one(before, after)
    })
}

/// The cost of an empty cell with a color of its own.
fn cells<R: Rival>(allocator: &'static Counting, on: R) -> f64 {
    on.run(async move {
        let mut cells = Vec::with_capacity(COUNT);
        let before = allocator.live();
        let first = FIRST_COLOR + 2 * COUNT as u64;
        cells.extend((0..COUNT as u64).map(|index| ColorCell::new(Color::new(first + index), ())));
        per_one(before, allocator.live())
    })
}

fn per_one(before: usize, after: usize) -> f64 {
    (after as f64 - before as f64) / COUNT as f64
}
