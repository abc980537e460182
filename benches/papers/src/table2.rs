//! Table 2 of libasync-smp: the gain of each of its steps.
//!
//! 16 tasks of different colors; each computes a little and spawns a child of its own color. The base is an
//! executor of its own, with one flat queue of events ([`colored_lab::flat`]), whose tasks are closures; the steps
//! after it are `colored` with less and less switched off. There all tasks are on one of two workers, so the queue of
//! the other is empty: without stealing it has nothing to do. (The paper has four processors and leaves the queue of
//! one empty.)
//!
//! Workers are pinned to their cores. Otherwise the kernel of a virtual machine may wake a thread on its waker's core,
//! and move it only when it next balances, so that the second worker starts milliseconds late.
//!
//! Two cores of such a machine may be one, shared by two threads of it. So there is a fifth way, in the
//! same rounds: half of the colors placed on each worker by hand. It has nothing to steal and both cores all the time,
//! so its gain over one core is the largest possible gain.

use super::{Goal, Plan, Report};
use colored::Color;
use colored::runtime::Tuning;
use colored_benches::chart::{Axis, Bars, Chart, Series, number};
use colored_benches::latch::Latch;
use colored_benches::measure::{Entry, Outcome, Sample};
use colored_benches::placement::stay_on;
use colored_benches::rivals::{Rival, Serial};
use colored_benches::spin::{PER_MICROSECOND, spin};
use colored_lab::{Events, Flat, Place, Places, Queues};
use std::ops::RangeInclusive;
use std::time::Duration;

/// Chains, each of a color, as in the paper.
const CHAINS: usize = 16;
/// Where their colors start.
const FIRST_COLOR: u64 = 4_000_000;
/// One worker has the work, and one is idle.
const WORKERS: usize = 2;
/// The computing time of a task in nanoseconds, step by step.
const COMPUTES: [u64; 4] = [0, 100, 300, 1_000];
/// The step that counts: "a little".
const USUAL: u64 = 100;

/// The last step of the table, which is `colored` as it is.
const STEALING: usize = 3;
/// The way that is no step of the table; it follows the steps.
const BY_HAND: usize = 4;

/// The steps of the table, and the paper's tasks a second.
const STEPS: [(&str, f64); 4] = [
    ("base: one queue of tasks", 61_420.0),
    ("+ a queue for each worker", 240_618.0),
    ("+ reuse of tasks' memory", 293_997.0),
    ("+ stealing", 384_765.0),
];

/// The base.
fn base() -> &'static Events {
    Flat::start(WORKERS, Queues::One, stay_on).leak()
}

/// One runtime for each step after the base, and one for the placement by hand.
fn runtimes() -> [Serial; 4] {
    let builder = |reuse| {
        colored::Runtime::builder().workers(WORKERS).pin(true).tuning(Tuning::new().reuse(reuse))
    };
    let still = &Places { place: Place::Usual, steals: false };
    let by_hand = &Places { place: Place::Number, steals: false };
    [
        Serial::start(builder(false).tuning(Tuning::new().policy(still))),
        Serial::start(builder(true).tuning(Tuning::new().policy(still))),
        Serial::start(builder(true)),
        Serial::start(builder(true).tuning(Tuning::new().policy(by_hand))),
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
    let (base, runtimes) = (base(), runtimes());
    let mut curves = STEPS.map(|(name, _)| Series::measured(name, Vec::new()));
    for nanos in COMPUTES {
        let outcomes = point(plan, base, &runtimes, nanos);
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

/// The table beside the paper's, and its goals.
fn usual(report: &mut Report, outcomes: &[Outcome]) {
    let rates: Vec<f64> = outcomes.iter().map(|one| one.rate).collect();
    let gain = |one: usize, other: usize| outcomes[one].gain_over(&outcomes[other]);
    let mut rows = Vec::new();
    for (index, (name, paper)) in STEPS.into_iter().enumerate() {
        let before = index.saturating_sub(1);
        let step = gain(index, before);
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
            let goal = if index == STEALING { Goal::AtLeast(1.6) } else { Goal::Above(1.0) };
            report.goal(&format!("Table 2, {name}: over the step before"), step, goal);
        }
    }
    let of_even = gain(STEALING, BY_HAND);
    report.goal("Table 2, + stealing: over colors placed by hand", of_even, Goal::AtLeast(0.9));
    let head = ["", "tasks/s", "over the step before", "paper, tasks/s", "paper's step"];
    report.table(&head, &rows);
    report.text(&format!(
        "A task computes {USUAL} ns here. A step is the median over the rounds. In the two steps with a \
         queue for each worker and no stealing, the worker whose queue is empty ran nothing: that is \
         asserted in every sample. With half of the colors placed on each worker by hand, and no \
         stealing, it is {} tasks a second, {} of the step before the last: that is what the second \
         core was worth in the same rounds.",
        number(rates[BY_HAND]),
        number(gain(BY_HAND, STEALING - 1)),
    ));
    let over_base = |rate: f64, base: f64| Some(rate / base);
    let bars = Bars {
        title: String::from("Table 2 of libasync-smp: tasks a second, over the base"),
        axis: Axis::linear("over the base"),
        groups: STEPS.map(|(name, _)| name.to_owned()).to_vec(),
        series: vec![
            (
                format!("measured, {WORKERS} workers"),
                rates[..STEPS.len()].iter().map(|&rate| over_base(rate, rates[0])).collect(),
            ),
            (
                String::from("paper, 4 processors"),
                STEPS.map(|(_, paper)| over_base(paper, STEPS[0].1)).to_vec(),
            ),
        ],
    };
    report.plot("table2", "tasks a second by step", bars.draw());
}

fn point(plan: &Plan, base: &'static Events, runtimes: &[Serial; 4], nanos: u64) -> Vec<Outcome> {
    let links = plan.pick(4_000, 2_000, 50);
    let steps = nanos * PER_MICROSECOND / 1_000;
    let entry = |index: usize| {
        let half = (CHAINS * links / WORKERS) as u64;
        let fewer = match index {
            // The queue of a thief is not empty for long.
            STEALING => 0..=u64::MAX,
            // The last task of a worker may not be counted yet.
            BY_HAND => half * 9 / 10..=u64::MAX,
            _ => 0..=0,
        };
        let sample = chains(runtimes[index - 1], links, steps, fewer);
        match index {
            BY_HAND => Entry::peer("by hand", sample),
            _ => Entry::peer(STEPS[index].0, sample),
        }
    };
    let mut entries = vec![Entry::subject(flat_chains(base, links, steps))];
    entries.extend((1..=runtimes.len()).map(entry));
    plan.alternate(Duration::from_secs(10), entries)
}

/// `fewer` is the expected number of tasks on the worker that runs fewer.
fn chains(
    on: Serial,
    links: usize,
    steps: u64,
    fewer: RangeInclusive<u64>,
) -> impl FnMut() -> Sample {
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
        let ran = polls.min().expect("there are workers");
        assert!(fewer.contains(&ran), "one worker ran {ran} tasks, not {fewer:?}");
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

/// The same by the base, where both workers take from the one queue.
fn flat_chains(on: &'static Events, links: usize, steps: u64) -> impl FnMut() -> Sample {
    let latch = Latch::leaked();
    move || {
        let before: u64 = on.ran().into_iter().sum();
        let tasks = (CHAINS * links) as u64;
        let sample = Sample::time(tasks, || {
            on.run(0, async move {
                latch.expect(CHAINS);
                (1..=CHAINS as u16).for_each(|color| flat_link(on, color, latch, links, steps));
                latch.wait().await;
            });
        });
        let ran = on.ran().into_iter().sum::<u64>() - before;
        // The count also has the polls of the waiting task.
        assert!(ran >= tasks, "{ran} of {tasks} tasks have run");
        sample
    }
}

fn flat_link(on: &'static Events, color: u16, latch: &'static Latch, left: usize, steps: u64) {
    on.post(color, move || {
        spin(steps);
        if left > 1 {
            flat_link(on, color, latch, left - 1, steps);
        } else {
            latch.hit();
        }
    });
}
