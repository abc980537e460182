//! One cell that all clients want: the gain of parallel reads, by the cost of a read.

use super::super::{Goal, Plan, Report};
use super::WRITE_EVERY;
use crate::clients::{CLIENTS, closed_loop};
use colored::{Color, ColorCell};
use colored_benches::chart::{Axis, Chart, Series, number};
use colored_benches::latch::Latch;
use colored_benches::measure::{Entry, Outcome, Sample};
use colored_benches::rivals::{Rival, Runtimes};
use colored_benches::spin::{PER_MICROSECOND, spin};
use std::time::Duration;
use tokio::sync::RwLock;

/// The cost of a read in microseconds, step by step.
const COSTS: [f64; 7] = [0.0, 0.2, 1.0, 2.0, 5.0, 20.0, 50.0];
/// The step of the `RATIO` lines: about the time to render a small page, or for a query over some
/// thousand values.
const USUAL: f64 = 20.0;
/// The required gain of shared reading.
const WANTED: f64 = 1.6;
/// The least cost of a read for which the gain is required: a read without cost has nothing to
/// share.
const SHORT: f64 = 1.0;
/// The cell's color.
const COLOR: u64 = 2_999_999;

/// The part of writes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writes {
    None,
    /// As many as in the store.
    Some,
}

impl Writes {
    /// Whether an operation writes.
    fn has(self, operation: usize) -> bool {
        self == Writes::Some && operation.is_multiple_of(WRITE_EVERY)
    }
}

/// Runs the sweep, without writes and with them.
pub(super) fn run(plan: &Plan, on: Runtimes, report: &mut Report) {
    let (mut series, mut pays) = (Vec::new(), Vec::new());
    let mut rows: Vec<_> = COSTS.iter().map(|&cost| vec![number(cost)]).collect();
    for (writes, name) in [(Writes::None, "reads only"), (Writes::Some, "5 % writes")] {
        let mut gains = [const { Vec::new() }; 3];
        let mut gained = Vec::new();
        for (cost, row) in COSTS.into_iter().zip(&mut rows) {
            let outcomes = point(plan, on, cost, writes);
            let [shared, exclusive, lock] = [0, 1, 2].map(|at| outcomes[at].cost * 1e6);
            let over_exclusive = [0, 2, 3].map(|at| outcomes[at].gain_over(&outcomes[1]));
            row.extend([shared, exclusive].map(number));
            row.extend(over_exclusive.map(number));
            // A logarithmic axis has no zero.
            if cost > 0.0 {
                for (gains, gain) in gains.iter_mut().zip(over_exclusive) {
                    gains.push((cost, gain));
                }
            }
            if cost == USUAL {
                usual(report, name, [shared, exclusive, lock]);
                let what =
                    format!("gain by shared reading of one hot cell, {USUAL} us a read, {name}");
                report.goal(&what, over_exclusive[0], Goal::AtLeast(WANTED));
            }
            gained.push((cost, over_exclusive[0]));
        }
        let what = format!("us a read from which on shared reading gains {WANTED}, {name}");
        report.goal(&what, from_which_on(&gained, WANTED), Goal::AtMost(SHORT));
        let [ours, lock, free] = gains;
        pays.push(format!("{name}, {}", from_where_it_pays(&gained)));
        series.push(Series::measured(&format!("colored, {name}"), ours));
        series.push(Series::measured(&format!("tokio RwLock, {name}"), lock));
        if writes == Writes::None {
            series.push(Series::reference("no cell at all", free));
        }
    }
    report.text(
        "One hot cell, by the cost of a read, in microseconds an operation; gains are throughput over \
         that of exclusive access, the median over the rounds. *Free* is the same work with no cell \
         at all: what the machine allows. First reads only, then with 5 % writes:",
    );
    let part = ["shared", "exclusive", "gain", "RwLock", "free"];
    let head = [&["read, us"][..], &part, &part].concat();
    report.table(&head, &rows);
    report.text(&format!("Where shared reading gains: {}.", pays.join("; ")));
    let title = String::from("one hot cell: throughput over that of exclusive access");
    let (x, y) = (Axis::log("microseconds a read"), Axis::linear("gain"));
    report.plot("kv_hot", "gain by shared reading", Chart { title, x, y, series }.draw());
}

fn usual(report: &mut Report, name: &str, [shared, exclusive, lock]: [f64; 3]) {
    let key = if name == "reads only" { "kv_hot_reads" } else { "kv_hot_writes" };
    report.ratio(&format!("{key}_vs_exclusive"), shared, "exclusive", exclusive, "us/op");
    report.ratio(&format!("{key}_vs_rwlock"), shared, "tokio_rwlock", lock, "us/op");
}

/// The least cost from which on all steps gain at least `least`; infinite if the last step does
/// not.
fn from_which_on(gains: &[(f64, f64)], least: f64) -> f64 {
    let enough = gains.iter().rev().take_while(|(_, gain)| *gain >= least).last();
    enough.map_or(f64::INFINITY, |(cost, _)| *cost)
}

/// The least costs of a read, among the steps, from which on it gains at all, and as much as
/// required.
fn from_where_it_pays(gains: &[(f64, f64)]) -> String {
    let from = |least: f64| match from_which_on(gains, least) {
        f64::INFINITY => String::from("nowhere"),
        cost => format!("from {} us a read", number(cost)),
    };
    format!("{}, and by {WANTED} {}", from(1.0), from(WANTED))
}

fn point(plan: &Plan, on: Runtimes, micros: f64, writes: Writes) -> Vec<Outcome> {
    let steps = (micros * PER_MICROSECOND as f64) as u64;
    // A sample takes thirty milliseconds or more, because a kernel may let the second worker begin
    // late.
    let ops = plan.pick(60_000.0, 10_000.0, 500.0) / (micros + 0.5);
    let ops = (ops as usize).max(64);
    let cell: &'static ColorCell<u64> = Box::leak(Box::new(on.handle.cell(Color::new(COLOR), 0)));
    let shared = cells(on, ops, writes, move |write| async move {
        if write {
            cell.call(|value| *value += 1).await;
        } else {
            cell.read(move |_| spin(steps)).await;
        }
    });
    let exclusive = cells(on, ops, writes, move |write| async move {
        if write {
            cell.call(|value| *value += 1).await;
        } else {
            cell.call(move |_| spin(steps)).await;
        }
    });
    let free = cells(on, ops, writes, move |write| async move {
        if !write {
            spin(steps);
        }
    });
    let entries = vec![
        Entry::subject(shared),
        Entry::peer("exclusive", exclusive),
        Entry::peer("tokio_rwlock", locks(on.tokio(), ops, writes, steps)),
        Entry::peer("free", free),
    ];
    plan.alternate(Duration::from_secs(3), entries)
}

fn cells<C, F>(on: Runtimes, ops: usize, writes: Writes, operate: C) -> impl FnMut() -> Sample
where
    C: Fn(bool) -> F + Copy + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let latch = Latch::leaked();
    move || {
        Sample::time(ops as u64, || {
            closed_loop(on.unique(), latch, CLIENTS, ops, move |share| async move {
                for operation in share {
                    operate(writes.has(operation)).await;
                }
            });
        })
    }
}

fn locks<R: Rival>(on: R, ops: usize, writes: Writes, steps: u64) -> impl FnMut() -> Sample {
    let latch = Latch::leaked();
    let lock: &'static RwLock<u64> = Box::leak(Box::default());
    move || {
        Sample::time(ops as u64, || {
            closed_loop(on, latch, CLIENTS, ops, move |share| async move {
                for operation in share {
                    if writes.has(operation) {
                        *lock.write().await += 1;
                    } else {
                        let value = lock.read().await;
                        spin(steps);
                        drop(value);
                    }
                }
            });
        })
    }
}
