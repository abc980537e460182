//! Table 2 of libasync-smp: what each of its steps is worth.
//!
//! 16 tasks of different colors; each computes a little and spawns a child of its own color. All of
//! them are on one of two workers, so the other one's queue is empty: without stealing it has
//! nothing to do. (The paper has four processors and leaves the queue of one empty.)

use super::{Goal, Plan, Report};
use crate::chart::{Axis, Bars, Chart, Series, number};
use crate::latch::Latch;
use crate::measure::{Entry, Outcome, Sample};
use crate::rivals::{Rival, Serial};
use crate::spin::{PER_MICROSECOND, spin};
use colored::Color;
use colored::runtime::lab::{Balance, Queue};
use std::time::Duration;

/// Chains, each of a color, as in the paper.
const CHAINS: usize = 16;
/// Where their colors start.
const FIRST_COLOR: u64 = 4_000_000;
/// One to have the work, one to be idle.
const WORKERS: usize = 2;
/// What a task computes, in nanoseconds, step by step.
const COMPUTES: [u64; 4] = [0, 100, 300, 1_000];
/// The step that counts: "a little".
const USUAL: u64 = 100;

/// The steps of the table, and the paper's tasks a second.
const STEPS: [(&str, f64); 4] = [
    ("base: one queue of tasks", 61_420.0),
    ("+ a queue for each worker", 240_618.0),
    ("+ reuse of tasks' memory", 293_997.0),
    ("+ stealing", 384_765.0),
];

fn runtimes() -> [Serial; 4] {
    let with = |queue, balance, reuse| {
        let builder = colored::Runtime::builder().workers(WORKERS);
        Serial::start(builder.queue(queue).balance(balance).reuse(reuse))
    };
    [
        with(Queue::SharedTasks, Balance::None, false),
        with(Queue::PerWorker, Balance::None, false),
        with(Queue::PerWorker, Balance::None, true),
        with(Queue::PerWorker, Balance::Steal, true),
    ]
}

/// Runs all steps.
///
/// # Panics
///
/// If the idle worker runs anything without stealing, or a task is lost.
#[must_use]
pub fn run(plan: &Plan) -> Report {
    let mut report = Report::new(plan);
    let runtimes = runtimes();
    let mut curves = STEPS.map(|(name, _)| Series::measured(name, Vec::new()));
    for nanos in COMPUTES {
        let outcomes = point(plan, &runtimes, nanos);
        for (curve, one) in curves.iter_mut().zip(&outcomes) {
            curve.points.push((nanos as f64, one.rate));
        }
        if nanos == USUAL {
            usual(&mut report, &outcomes);
        }
    }
    let title = String::from("tasks a second by what a task computes");
    let (x, y) = (Axis::linear("nanoseconds a task"), Axis::log("tasks/s"));
    let chart = Chart { title, x, y, series: curves.to_vec() };
    report.plot("table2_compute", "tasks a second by work a task", chart.draw());
    report
}

/// The table beside the paper's, and what it must show.
fn usual(report: &mut Report, outcomes: &[Outcome]) {
    let rates: Vec<f64> = outcomes.iter().map(|one| one.rate).collect();
    let mut rows = Vec::new();
    for (index, (name, paper)) in STEPS.into_iter().enumerate() {
        let before = index.saturating_sub(1);
        let step = rates[index] / rates[before];
        let paper_step = paper / STEPS[before].1;
        rows.push(vec![
            name.to_owned(),
            number(rates[index]),
            number(step),
            number(paper),
            number(paper_step),
        ]);
        if index > 0 {
            let [cost, base] = [index, before].map(|index| outcomes[index].cost * 1e9);
            report.ratio(&format!("table2_step_{index}"), cost, "step_before", base, "ns/task");
            // Strictly rising: more than the step before, by any amount.
            let goal = if index == 3 { Goal::AtLeast(1.6) } else { Goal::Above(1.0) };
            report.goal(&format!("Table 2, {name}: over the step before"), step, goal);
        }
    }
    let head = ["", "tasks/s", "over the step before", "paper, tasks/s", "paper's step"];
    report.table(&head, &rows);
    report.text(&format!(
        "A task computes {USUAL} ns here. In the two steps with a queue for each worker and no \
         stealing, the worker whose queue is empty ran nothing: that is asserted in every sample."
    ));
    let over_base = |rate: f64, base: f64| Some(rate / base);
    let bars = Bars {
        title: String::from("Table 2 of libasync-smp: tasks a second, over the base"),
        axis: Axis::linear("over the base"),
        groups: STEPS.map(|(name, _)| name.to_owned()).to_vec(),
        series: vec![
            (
                format!("measured, {WORKERS} workers"),
                rates.iter().map(|&rate| over_base(rate, rates[0])).collect(),
            ),
            (
                String::from("paper, 4 processors"),
                STEPS.map(|(_, paper)| over_base(paper, STEPS[0].1)).to_vec(),
            ),
        ],
    };
    report.plot("table2", "tasks a second by step", bars.draw());
}

fn point(plan: &Plan, runtimes: &[Serial; 4], nanos: u64) -> Vec<Outcome> {
    let links = plan.pick(2_000, 1_000, 50);
    let steps = nanos * PER_MICROSECOND / 1_000;
    let entry = |index: usize| {
        // In one shared queue nobody's is empty, and a thief's is not for long.
        let idle = index == 1 || index == 2;
        let sample = chains(runtimes[index], links, steps, idle);
        if index == 0 { Entry::subject(sample) } else { Entry::peer(STEPS[index].0, sample) }
    };
    plan.alternate(Duration::from_secs(6), (0..STEPS.len()).map(entry).collect())
}

fn chains(on: Serial, links: usize, steps: u64, idle: bool) -> impl FnMut() -> Sample {
    let latch = Latch::leaked();
    move || {
        let before = on.polls();
        let sample = Sample::time((CHAINS * links) as u64, || {
            on.run(async move {
                latch.expect(CHAINS);
                for chain in 0..CHAINS as u64 {
                    link(Color::new(FIRST_COLOR + chain), latch, links, steps);
                }
                latch.wait().await;
            });
        });
        let polls = on.polls().into_iter().zip(before).map(|(after, before)| after - before);
        if idle {
            assert_eq!(polls.min(), Some(0), "the worker with the empty queue ran something");
        }
        sample
    }
}

fn link(color: Color, latch: &'static Latch, left: usize, steps: u64) {
    drop(colored::spawn_colored(color, async move {
        spin(steps);
        if left > 1 {
            link(color, latch, left - 1, steps);
        } else {
            latch.hit();
        }
    }));
}
