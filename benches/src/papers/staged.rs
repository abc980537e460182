//! Staged middleware: how many events a stage takes at a time, and how work reaches idle workers.
//!
//! The paper's program: 502 stages, each with a line of 32 bytes of which a handler reads 8 bytes
//! and writes 4, then passes the event on. Here a stage is a cell with a color of its own, an event a
//! post, and the batch the number of polls in a slice. The way with one queue of events is an executor
//! of its own ([`colored_lab::flat`]), which has no batches.

mod events;
mod matrix;
mod stages;

use super::{Goal, Plan, Report};
use crate::chart::{Axis, Chart, Series, number};
use crate::latch::Latch;
use crate::measure::{Entry, Outcome, Sample};
use crate::rivals::{Rival, Serial, workers};
use colored::{Color, ColorCell};
use colored_lab::{Flat, Place, Places, Queues};
use std::hint::black_box;
use std::time::Duration;

/// Stages, as in the paper.
const STAGES: usize = 502;
/// Where the stages' colors start.
const FIRST_COLOR: u64 = 5_000_000;
/// Events that wait at each stage at the start: more than the smaller batches.
const EVENTS: usize = 64;
/// Polls in a slice, step by step.
const BATCHES: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
/// A time so long that a slice ends by its polls.
const LONG: Duration = Duration::from_secs(1);
/// The compared ways: the first is the default, the last uses the library's own stages.
const NAMES: [&str; 4] = [
    "a queue of stages for each worker",
    "one queue of stages",
    "one queue of events",
    "the same by `Stage`",
];

/// Runtimes of each kind for each batch, of which the median counts. A lock that two workers use all the
/// time is cheap or expensive by chance, for as long as the runtime lives.
const COPIES: [usize; 4] = [1, 1, 3, 1];

/// A stage's state: one half of a cache line.
#[repr(align(32))]
#[derive(Default)]
struct Line {
    read: u64,
    written: u32,
}

impl Line {
    /// The paper's handler.
    fn handle(&mut self) {
        let read = black_box(self.read);
        self.written = self.written.wrapping_add(read as u32 + 1);
    }
}

/// Runs the sweep, then the matrix.
///
/// # Panics
///
/// If an event is lost.
#[must_use]
pub fn run(plan: &Plan) -> Report {
    let mut report = Report::new(plan);
    let mut curves = NAMES.map(|name| Series::measured(name, Vec::new())).to_vec();
    let mut rows = Vec::new();
    let mut order = String::new();
    for (batch, outcomes) in BATCHES.into_iter().zip(points(plan)) {
        let costs: Vec<f64> = outcomes.iter().map(|one| one.cost * 1e9).collect();
        for (curve, cost) in curves.iter_mut().zip(&costs) {
            curve.points.push((f64::from(batch), *cost));
        }
        if batch == 1 {
            report.ratio("staged_batch_1_vs_shared", costs[0], "shared", costs[1], "ns/event");
            report.ratio("staged_batch_1_vs_tasks", costs[0], "tasks", costs[2], "ns/event");
            let what = "502 stages, batch 1: a queue for each worker over one queue";
            report.goal(what, costs[0] / costs[1], Goal::AtMost(1.0));
            order = format!(
                "By the paper, an event in one queue of events costs less than one in one queue of stages \
                 at batch 1. Here it costs {} ns, and {} in one queue of stages.",
                number(costs[2]),
                number(costs[1]),
            );
        }
        let mut row = vec![number(f64::from(batch))];
        row.extend(costs.into_iter().map(number));
        rows.push(row);
    }
    let tasks = curves[2].points.iter().map(|point| point.1);
    let (low, high) = (tasks.clone().fold(f64::INFINITY, f64::min), tasks.fold(0.0, f64::max));
    let what = "502 stages, one queue of events: the dearest batch over the cheapest";
    report.goal(what, high / low, Goal::AtMost(1.1));
    report.text(&format!("{STAGES} stages in a ring, nanoseconds an event, by the batch:"));
    let mut head = vec!["batch"];
    head.extend(NAMES);
    report.table(&head, &rows);
    report.text(&order);
    let title = String::from("502 stages: cost of an event by batch");
    let (x, y) = (Axis::log("events a turn"), Axis::linear("ns/event"));
    let chart = Chart { title, x, y, series: curves };
    report.plot("staged_batch", "cost of an event by batch", chart.draw());
    matrix::run(plan, &mut report);
    report
}

/// The outcomes by batch, in the order of [`NAMES`]. All batches are sampled in turn, as rivals are: the
/// noise of the machine's other guests changes within a minute, and would otherwise look like an effect
/// of the batch.
fn points(plan: &Plan) -> Vec<Vec<Outcome>> {
    let entries = BATCHES.into_iter().flat_map(|batch| ways(plan, batch)).collect();
    let mut outcomes = plan.alternate(Duration::from_secs(48), entries).into_iter();
    let mut copies = |count: usize| {
        let mut some: Vec<_> = outcomes.by_ref().take(count).collect();
        some.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        some.swap_remove(count / 2)
    };
    BATCHES.map(|_| COPIES.map(&mut copies).into()).to_vec()
}

fn ways(plan: &Plan, batch: u32) -> Vec<Entry> {
    let hops = plan.pick(4, 2, 1);
    let plain = || colored::Runtime::builder().workers(workers());
    let sliced = || plain().slice(batch, LONG);
    let shared = sliced().policy(&Places { place: Place::Everybody, steals: false });
    let [own, one, flat, stages] = NAMES;
    let mut entries = vec![
        Entry::peer(own, ring(Serial::start(sliced()), hops)),
        Entry::peer(one, ring(Serial::start(shared), hops)),
    ];
    entries.extend((0..COPIES[2]).map(|_| {
        let on = Flat::start(workers(), Queues::One, |_| ()).leak();
        Entry::peer(flat, events::ring(on, hops))
    }));
    entries.push(Entry::peer(stages, stages::ring(Serial::start(plain()), batch, hops)));
    entries
}

/// Every stage has [`EVENTS`] events, and each event visits `hops` more stages.
fn ring(on: Serial, hops: usize) -> impl FnMut() -> Sample {
    let latch = Latch::leaked();
    let stages = stages(on);
    let events = STAGES * EVENTS;
    let mut handled = 0;
    move || {
        let runs = (events * (hops + 1)) as u64;
        let sample = Sample::time(runs, || {
            on.run(async move {
                latch.expect(events);
                for _ in 0..EVENTS {
                    (0..STAGES).for_each(|stage| visit(stages, stage, hops, latch));
                }
                latch.wait().await;
            });
        });
        handled += runs;
        let written = on.run(async move {
            let mut written = 0;
            for stage in stages {
                written += u64::from(stage.call(|line| line.written).await);
            }
            written
        });
        assert_eq!(written, handled, "an event was lost");
        sample
    }
}

fn stages(on: Serial) -> &'static [ColorCell<Line>] {
    let stage =
        |index: usize| on.handle().cell(Color::new(FIRST_COLOR + index as u64), Line::default());
    Vec::leak((0..STAGES).map(stage).collect())
}

fn visit(stages: &'static [ColorCell<Line>], stage: usize, hops: usize, latch: &'static Latch) {
    stages[stage].post(move |line| {
        line.handle();
        if hops == 0 {
            latch.hit();
        } else {
            visit(stages, (stage + 1) % STAGES, hops - 1, latch);
        }
    });
}
