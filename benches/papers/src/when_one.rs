//! One cell by `when`, which must not cost more than a call.

use super::{Goal, Plan, Report};
use colored::{Color, ColorCell};
use colored_benches::chart::number;
use colored_benches::measure::{Entry, Outcome, Sample};
use colored_benches::rivals::{Rival, Serial};
use std::time::Duration;

/// The color of the cell that no task holds at first.
const OTHER: u64 = 3_100_000;

/// The state in which an access finds the cell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    /// Nothing runs or waits under its color.
    Idle,
    /// The caller runs under its color.
    Own,
    /// A post waits under its color, so that each access has to wait too.
    Busy,
}

/// Measures both in all three states.
///
/// # Panics
///
/// If an access is lost.
#[must_use]
pub fn run(plan: &Plan) -> Report {
    let mut report = Report::new(plan);
    // There is one worker, because a second worker would take the cell's color away, or not, by
    // chance.
    let on = Serial::start(colored::Runtime::builder().workers(1));
    let mut rows = Vec::new();
    for (found, name) in [(Found::Idle, "idle"), (Found::Own, "own"), (Found::Busy, "busy")] {
        let outcomes = point(plan, on, found);
        let [when, call] = [0, 1].map(|index: usize| outcomes[index].cost * 1e9);
        report.ratio(&format!("when_one_vs_call_{name}"), when, "call", call, "ns/access");
        let color = match found {
            Found::Idle => "an idle color",
            Found::Own => "the color of the caller",
            Found::Busy => "a busy color",
        };
        rows.push(vec![color.to_owned(), number(when), number(call)]);
        let what = format!("one cell of {color}: an access by `when` over one by `call`");
        // A round has one sample of each way, so noise that affects both cancels.
        report.goal(&what, outcomes[1].paired, Goal::AtMost(1.05));
    }
    report.text("Nanoseconds an access, one after another, on one worker:");
    report.table(&["a cell of", "when", "call"], &rows);
    report
}

fn point(plan: &Plan, on: Serial, found: Found) -> Vec<Outcome> {
    let color = if found == Found::Own { Color::DEFAULT } else { Color::new(OTHER) };
    let cell: &'static ColorCell<u64> = Box::leak(Box::new(on.handle().cell(color, 0)));
    let count = plan.pick(50_000, 5_000, 100);
    let when = accesses(on, cell, count, found, move || async move {
        colored::when((cell,), |value| *value += 1).await;
    });
    let call = accesses(on, cell, count, found, move || async move {
        cell.call(|value| *value += 1).await;
    });
    plan.alternate(Duration::from_secs(1), vec![Entry::subject(when), Entry::peer("call", call)])
}

fn accesses<C, F>(
    on: Serial,
    cell: &'static ColorCell<u64>,
    count: u64,
    found: Found,
    access: C,
) -> impl FnMut() -> Sample
where
    C: Fn() -> F + Copy + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    move || {
        let before = on.run(async { cell.call(|value| *value).await });
        let sample = Sample::time(count, || {
            on.run(async move {
                for _ in 0..count {
                    if found == Found::Busy {
                        cell.post(|_| ());
                    }
                    access().await;
                }
            });
        });
        let after = on.run(async { cell.call(|value| *value).await });
        assert_eq!(after - before, count, "an access was lost");
        sample
    }
}
