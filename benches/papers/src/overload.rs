//! More work than the machine can do: the requests that are answered in time, with admission and
//! without.
//!
//! An open loop: requests come at random times, whether or not others have been answered. A request
//! takes 200 microseconds of a core. It is *good* if it is done within two target delays and its own
//! time of the moment at which it was due. Two figures give its delay until its work begins: from the
//! time at which it was due, and from the time at which it was offered. They differ by the lateness of
//! the generator, whose thread shares the cores with the workers. The admission knows when a request
//! was due.

mod load;

use self::load::{Figures, Load};
use super::{Goal, Plan, Report};
use colored_benches::chart::{Axis, Chart, Series, number};
use colored_benches::latch::Latch;
use colored_benches::measure::{Sample, median};
use colored_benches::rivals::{Rival, Serial, workers};
use colored_benches::spin::spin;
use std::time::Duration;

/// Steps of a request's work, some 200 microseconds.
const STEPS: u64 = 200 * colored_benches::spin::PER_MICROSECOND;
/// The target delay.
const TARGET: Duration = Duration::from_millis(5);
/// The offered work, over the capacity.
const OFFERED: [f64; 7] = [0.5, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0];

/// Runs all loads, with admission and without.
///
/// # Panics
///
/// If a request is neither done nor refused.
#[must_use]
pub fn run(plan: &Plan) -> Report {
    let mut report = Report::new(plan);
    let on = Serial::start(colored::Runtime::builder().workers(workers()));
    let capacity = capacity(on, plan.pick(11, 5, 1));
    let service = workers() as f64 / capacity;
    let window = Duration::from_millis(plan.pick(3_000, 500, 50));
    let mut rows = Vec::new();
    let mut figures = [Vec::new(), Vec::new()];
    for offered in OFFERED {
        let load = Load { rate: offered * capacity, window, service, target: TARGET };
        for (index, figures) in figures.iter_mut().enumerate() {
            let taken = load.run(on, index == 0);
            rows.push(row(offered, index == 0, capacity, &taken));
            figures.push(taken);
        }
    }
    report.text(&format!(
        "{} workers do {} requests a second at most. Target delay {} ms:",
        workers(),
        number(capacity),
        TARGET.as_millis()
    ));
    report.table(&HEAD, &rows);
    let late = figures.iter().flatten().map(|one| one.late).fold(0.0, f64::max);
    report.text(&format!(
        "A share is the part of the requests that arrived. A delay is measured for each request that the server answered. \
         The generator offered 99 of 100 requests within {} ms of when they were due, at the load at which it was latest.",
        number(late * 1e3)
    ));
    goals(&mut report, &figures, capacity);
    plots(&mut report, &figures, capacity);
    report
}

const HEAD: [&str; 10] = [
    "offered",
    "admission",
    "good",
    "refused",
    "shed after admission",
    "from due: p50, ms",
    "from due: p99, ms",
    "from the offer: p50, ms",
    "from the offer: p99, ms",
    "most at once",
];

fn row(offered: f64, admission: bool, capacity: f64, figures: &Figures) -> Vec<String> {
    let admission = String::from(if admission { "yes" } else { "no" });
    let share = |part: usize| format!("{:.1} %", 100.0 * part as f64 / figures.came as f64);
    let mut row = vec![number(offered), admission, number(figures.goodput / capacity)];
    row.extend([figures.refused, figures.shed].map(share));
    for delay in [&figures.from_due, &figures.from_offer] {
        row.extend([delay.p50, delay.p99].map(|delay| number(delay * 1e3)));
    }
    row.push(number(figures.most as f64));
    row
}

fn goals(report: &mut Report, [with, without]: &[Vec<Figures>; 2], capacity: f64) {
    let peak = with.iter().map(|one| one.goodput).fold(0.0, f64::max);
    let [last, plain] = [with, without].map(|all| &all[OFFERED.len() - 1]);
    let what = "twice the capacity: good requests over the most at any load";
    report.goal(what, last.goodput / peak, Goal::AtLeast(0.9));
    let target = TARGET.as_secs_f64();
    for (delay, from) in [(&last.from_due, "when it was due"), (&last.from_offer, "its offer")] {
        let what = format!(
            "twice the capacity: p99 of the delay from {from} of what was done, over the target"
        );
        report.goal(&what, delay.p99 / target, Goal::AtMost(2.0));
    }
    let what = "twice the capacity: most requests at once, over what comes in four targets";
    let most = last.most as f64 / (2.0 * capacity * 4.0 * target);
    report.goal(what, most, Goal::AtMost(1.0));
    // The cost of a request: the time of the machine for one good answer.
    let cost = |one: &Figures| 1e6 / one.goodput.max(1.0);
    let (ours, plain) = (cost(last), cost(plain));
    report.ratio("overload_with_admission", ours, "without", plain, "us/good-answer");
}

fn plots(report: &mut Report, figures: &[Vec<Figures>; 2], capacity: f64) {
    let curve = |name: &str, index: usize, value: &dyn Fn(&Figures) -> f64| {
        let points = OFFERED.into_iter().zip(&figures[index]);
        Series::measured(name, points.map(|(offered, one)| (offered, value(one))).collect())
    };
    let goodput = |one: &Figures| one.goodput / capacity;
    let x = || Axis::linear("offered, over the capacity");
    let chart = Chart {
        title: String::from("requests done in time, over the capacity"),
        x: x(),
        y: Axis::linear("good requests over the capacity"),
        series: vec![curve("admission", 0, &goodput), curve("no admission", 1, &goodput)],
    };
    report.plot("overload_goodput", "good requests by load", chart.draw());
    let p99 = |one: &Figures| (one.from_due.p99 * 1e3).max(0.01);
    let target = TARGET.as_secs_f64() * 1e3;
    let chart = Chart {
        title: String::from("delay from when a request was due until it begins, 99th percentile"),
        x: x(),
        y: Axis::log("milliseconds"),
        series: vec![
            curve("admission", 0, &p99),
            curve("no admission", 1, &p99),
            Series::reference("target", OFFERED.map(|offered| (offered, target)).to_vec()),
        ],
    };
    report.plot("overload_delay", "delay by load", chart.draw());
}

/// The requests a second when there is always another request.
fn capacity(on: Serial, rounds: usize) -> f64 {
    const REQUESTS: usize = 400;
    let latch = Latch::leaked();
    let round = || {
        Sample::time(REQUESTS as u64, || {
            on.run(async move {
                latch.expect(REQUESTS);
                for _ in 0..REQUESTS {
                    drop(colored::spawn_unique(async {
                        spin(STEPS);
                        latch.hit();
                    }));
                }
                latch.wait().await;
            });
        })
    };
    1.0 / median((0..rounds).map(|_| round().per_op()))
}
