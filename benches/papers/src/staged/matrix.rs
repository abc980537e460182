//! Four kinds of load, five ways of giving work to idle workers.

use super::super::{Goal, Plan, Report};
use super::ring;
use colored::Color;
use colored::runtime::Tuning;
use colored_benches::chart::{Axis, Bars, number};
use colored_benches::latch::Latch;
use colored_benches::measure::{Entry, Outcome, Sample, median};
use colored_benches::rivals::{Rival, Serial, workers};
use colored_benches::spin::{PER_MICROSECOND, spin};
use colored_lab::{Place, Places};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// Where the colors start.
const FIRST_COLOR: u64 = 6_000_000;
/// Colors of the uniform load, and of the one-hot one.
const COLORS: usize = 64;
/// Tasks a sample.
const TASKS: usize = 2_000;
/// Stages of the pipeline.
const STEPS: usize = 8;
/// The number of lanes by which a queue must exceed the shortest one before a lane is pushed there.
const THRESHOLD: usize = 4;

/// The policies by which work reaches idle workers.
const POLICIES: [(&str, Option<&Places>); 5] = [
    ("steal", None),
    ("hybrid", Some(&Places { place: Place::Least(THRESHOLD), steals: true })),
    ("push", Some(&Places { place: Place::Least(THRESHOLD), steals: false })),
    ("none", Some(&Places { place: Place::Usual, steals: false })),
    ("pinned", Some(&Places { place: Place::Number, steals: false })),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Load {
    /// All colors have the same work.
    Uniform,
    /// One color has a worker's share, the others share the rest.
    OneHot,
    /// Events go around a ring of 502 stages.
    Ring,
    /// Items go through stages one after another.
    Pipeline,
}

const LOADS: [(Load, &str); 4] = [
    (Load::Uniform, "uniform"),
    (Load::OneHot, "one-hot"),
    (Load::Ring, "ring of 502"),
    (Load::Pipeline, "pipeline of 8"),
];

/// The imbalance of each sample of one entry.
type Imbalances = Rc<RefCell<Vec<f64>>>;

/// Runs the matrix.
pub(super) fn run(plan: &Plan, report: &mut Report) {
    let runtimes = POLICIES.map(|(_, places)| {
        let builder = colored::Runtime::builder().workers(workers());
        Serial::start(match places {
            Some(places) => builder.tuning(Tuning::new().policy(places)),
            None => builder,
        })
    });
    let mut costs = vec![Vec::new(); POLICIES.len()];
    let mut rows = Vec::new();
    for (load, name) in LOADS {
        let (outcomes, imbalances) = point(plan, &runtimes, load);
        let best = outcomes.iter().map(|one| one.cost).fold(f64::INFINITY, f64::min);
        let mut row = vec![name.to_owned()];
        for ((costs, one), imbalance) in costs.iter_mut().zip(&outcomes).zip(&imbalances) {
            costs.push(Some(one.cost / best));
            row.push(format!("{}; {}", number(one.cost / best), number(*imbalance)));
        }
        rows.push(row);
        let [steal, hybrid] = [outcomes[0].cost, outcomes[1].cost];
        let what = format!("{name} load: the better of steal and hybrid over the best policy");
        report.goal(&what, steal.min(hybrid) / best, Goal::AtMost(1.05));
        let name = format!("matrix_{}_steal_vs_best", key(load));
        report.ratio(&name, steal * 1e3, "best", best * 1e3, "ms/run");
        if load == Load::OneHot {
            let what = "one-hot load: the busiest worker's polls over the mean, by stealing";
            report.goal(what, imbalances[0], Goal::AtMost(1.2));
        }
    }
    report.text(
        "The table compares the policies by which workers hand work over: the time over the best policy's, and the polls of \
         the busiest worker over the mean of all workers, each the median of the samples. Everything is spawned by one task, \
         so that it begins on one worker.",
    );
    let mut head = vec!["load"];
    head.extend(POLICIES.map(|(name, ..)| name));
    report.table(&head, &rows);
    let bars = Bars {
        title: String::from("time by balancing policy, over the best policy's"),
        axis: Axis::linear("time over the best"),
        groups: LOADS.map(|(_, name)| name.to_owned()).to_vec(),
        series: POLICIES
            .iter()
            .zip(costs)
            .map(|((name, ..), all)| ((*name).to_owned(), all))
            .collect(),
    };
    report.plot("staged_matrix", "time by load and policy", bars.draw());
}

const fn key(load: Load) -> &'static str {
    match load {
        Load::Uniform => "uniform",
        Load::OneHot => "one_hot",
        Load::Ring => "ring",
        Load::Pipeline => "pipeline",
    }
}

fn imbalance(polls: &[u64]) -> f64 {
    let most = polls.iter().copied().max().unwrap_or(0) as f64;
    let all = polls.iter().sum::<u64>() as f64;
    most * polls.len() as f64 / all
}

/// The outcomes by policy, and the median imbalances.
fn point(plan: &Plan, runtimes: &[Serial; 5], load: Load) -> (Vec<Outcome>, Vec<f64>) {
    let all: Vec<Imbalances> = runtimes.iter().map(|_| Imbalances::default()).collect();
    let entry = |index: usize| {
        let (on, name) = (runtimes[index], POLICIES[index].0);
        let sample = watched(on, Rc::clone(&all[index]), sampler(plan, on, load));
        if index == 0 { Entry::subject(sample) } else { Entry::peer(name, sample) }
    };
    let entries = (0..POLICIES.len()).map(entry).collect();
    let outcomes = plan.alternate(Duration::from_secs(8), entries);
    (outcomes, all.iter().map(|one| median(one.borrow().iter().copied())).collect())
}

/// Keeps the imbalance of each sample. (In the sum of all samples, a sample with too much work on one
/// worker would cancel a sample with too much on another.)
fn watched(
    on: Serial,
    imbalances: Imbalances,
    mut sample: impl FnMut() -> Sample,
) -> impl FnMut() -> Sample {
    move || {
        let before = on.polls();
        let taken = sample();
        let polls: Vec<u64> =
            on.polls().into_iter().zip(before).map(|(after, before)| after - before).collect();
        imbalances.borrow_mut().push(imbalance(&polls));
        taken
    }
}

/// One sample is one operation: its time is the makespan.
fn sampler(plan: &Plan, on: Serial, load: Load) -> Box<dyn FnMut() -> Sample> {
    let scale = plan.pick(1, 1, 10);
    match load {
        Load::Uniform => Box::new(spread(on, TASKS / scale, |task| task % COLORS)),
        Load::OneHot => Box::new(spread(on, TASKS / scale, |task| {
            // The hot tasks are mixed in evenly, so that they come neither first nor last.
            if task.is_multiple_of(workers()) { 0 } else { 1 + task % (COLORS - 1) }
        })),
        Load::Ring => {
            let mut ring = ring(on, 2);
            Box::new(move || Sample { ops: 1, ..ring() })
        }
        Load::Pipeline => Box::new(pipeline(on, TASKS / STEPS / scale)),
    }
}

/// Tasks of ten microseconds, with the colors that `color` returns.
fn spread(on: Serial, tasks: usize, color: fn(usize) -> usize) -> impl FnMut() -> Sample {
    let latch = Latch::leaked();
    move || {
        Sample::time(1, || {
            on.run(async move {
                latch.expect(tasks);
                for task in 0..tasks {
                    let color = Color::new(FIRST_COLOR + color(task) as u64);
                    drop(colored::spawn_colored(color, async {
                        spin(10 * PER_MICROSECOND);
                        latch.hit();
                    }));
                }
                latch.wait().await;
            });
        })
    }
}

/// Items that spend ten microseconds at each stage; a stage is a color.
fn pipeline(on: Serial, items: usize) -> impl FnMut() -> Sample {
    let latch = Latch::leaked();
    move || {
        Sample::time(1, || {
            on.run(async move {
                latch.expect(items);
                for _ in 0..items {
                    drop(colored::spawn_colored(Color::new(FIRST_COLOR), async {
                        for step in 0..STEPS as u64 {
                            colored::hop(Color::new(FIRST_COLOR + step)).await;
                            spin(10 * PER_MICROSECOND);
                        }
                        latch.hit();
                    }));
                }
                latch.wait().await;
            });
        })
    }
}
