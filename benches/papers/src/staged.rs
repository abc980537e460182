//! Staged middleware: how many events a stage takes at a time, and how work reaches idle workers.
//!
//! The paper's program: 502 stages, each with a line of 32 bytes of which a handler reads 8 bytes
//! and writes 4, then passes the event on. Here a stage is a cell with a color of its own, an event a
//! post, and the batch the number of polls in a slice. The ways with one queue of events have no batches: an executor
//! with colors ([`colored_lab::flat`]), and one without ([`colored_lab::queues`]), as in the paper.

mod events;
mod matrix;
mod stages;

pub(super) use self::events::Lines;

use super::{Goal, Plan, Report, queues};
use colored::runtime::Tuning;
use colored::{Color, ColorCell};
use colored_benches::chart::{Axis, Chart, Series, number};
use colored_benches::latch::Latch;
use colored_benches::measure::{Entry, Outcome, Sample};
use colored_benches::rivals::{Rival, Serial, workers};
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
/// The compared ways. The first, third and fifth are the paper's; the second is the default, and the last uses the
/// library's own stages.
const NAMES: [&str; 6] = [
    "a queue of stages for each worker, stages bound",
    "the same, with stealing",
    "one queue of stages",
    "one queue of events",
    "one queue of events without colors",
    "by `Stage`",
];

/// Places in [`NAMES`].
const BOUND: usize = 0;
const STEALING: usize = 1;
const SHARED: usize = 2;
const COLORED_EVENTS: usize = 3;
const EVENTS_ALONE: usize = 4;

/// Runtimes of each kind for each batch, of which the median counts. A lock that two workers use all the
/// time is cheap or expensive by chance, for as long as the runtime lives.
const COPIES: [usize; 6] = [1, 1, 1, 3, 3, 1];

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
    for (batch, outcomes) in BATCHES.into_iter().zip(points(plan)) {
        let costs: Vec<f64> = outcomes.iter().map(|one| one.cost * 1e9).collect();
        for (curve, cost) in curves.iter_mut().zip(&costs) {
            curve.points.push((f64::from(batch), *cost));
        }
        if batch == 1 {
            at_batch_1(&mut report, &costs);
        }
        let mut row = vec![number(f64::from(batch))];
        row.extend(costs.into_iter().map(number));
        rows.push(row);
    }
    let tasks = curves[COLORED_EVENTS].points.iter().map(|point| point.1);
    let (low, high) = (tasks.clone().fold(f64::INFINITY, f64::min), tasks.fold(0.0, f64::max));
    let what = "502 stages, one queue of events: the dearest batch over the cheapest (paper: 1)";
    report.goal(what, high / low, Goal::AtMost(1.1));
    report.text(&format!("{STAGES} stages in a ring, nanoseconds an event, by the batch:"));
    let mut head = vec!["batch"];
    head.extend(NAMES);
    report.table(&head, &rows);
    let title = String::from("502 stages: cost of an event by batch");
    let (x, y) = (Axis::log("events a turn"), Axis::linear("ns/event"));
    let chart = Chart { title, x, y, series: curves };
    report.plot("staged_batch", "cost of an event by batch", chart.draw());
    matrix::run(plan, &mut report);
    report
}

/// What the paper's text says of a batch of one event.
fn at_batch_1(report: &mut Report, costs: &[f64]) {
    let [own, shared] = [costs[STEALING], costs[SHARED]];
    report.ratio("staged_batch_1_vs_shared", own, "shared", shared, "ns/event");
    report.ratio("staged_batch_1_vs_tasks", own, "tasks", costs[COLORED_EVENTS], "ns/event");
    for (way, text) in [
        (BOUND, "a queue for each worker, stages bound, over one queue of stages"),
        (COLORED_EVENTS, "one queue of events over one queue of stages"),
        (EVENTS_ALONE, "one queue of events without colors over one queue of stages"),
    ] {
        let what = format!("502 stages, batch 1: {text} (paper: less)");
        report.goal(&what, costs[way] / shared, Goal::AtMost(1.0));
    }
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
    let sliced = |places: Option<&'static Places>| {
        let tuning = Tuning::new().slice(batch, LONG);
        Serial::start(plain().tuning(match places {
            Some(places) => tuning.policy(places),
            None => tuning,
        }))
    };
    let number = &Places { place: Place::Number, steals: false };
    let everybody = &Places { place: Place::Everybody, steals: false };
    let [bound, stealing, one, flat, alone, stages] = NAMES;
    let mut entries = vec![
        Entry::peer(bound, ring(sliced(Some(number)), hops)),
        Entry::peer(stealing, ring(sliced(None), hops)),
        Entry::peer(one, ring(sliced(Some(everybody)), hops)),
    ];
    entries.extend((0..COPIES[COLORED_EVENTS]).map(|_| {
        let on = Flat::start(workers(), Queues::One, |_| ()).leak();
        Entry::peer(flat, events::ring(on, hops))
    }));
    let load = queues::Load { each: EVENTS, hops };
    let unplaced = || queues::unplaced(workers(), load);
    entries.extend((0..COPIES[EVENTS_ALONE]).map(|_| Entry::peer(alone, unplaced())));
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
    let stage = |index| on.handle().cell(color(index), Line::default());
    Vec::leak((0..STAGES).map(stage).collect())
}

/// Where a color's number selects the worker, neighbours are on one worker: the first stages on the first, and so on.
fn color(stage: usize) -> Color {
    let (number, worker) = (stage * workers(), stage * workers() / STAGES);
    let first = FIRST_COLOR.next_multiple_of(workers() as u64);
    Color::new(first + (number + worker) as u64)
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
