//! Queues that grow: more is scheduled than runs, window after window.

use crate::report::digest::{Digest, usage_in};
use crate::report::fault::{Fault, Finding};
use crate::report::text;
use std::slice;

/// A series rises if it does so in this part of its steps.
const STEPS: f64 = 0.75;

/// Fewer steps show no trend.
const FEWEST: usize = 4;

/// A queue that grows by less than this part of what runs drains with the next pause.
const GROWTH: f64 = 0.05;

/// A queue that grows by less than two slices may be between two slices.
const LEAST: f64 = 128.0;

/// The queue that grows most: of a color, or of the whole program.
pub(super) fn growing(digest: &Digest<'_>) -> Option<Finding> {
    of_a_color(digest).or_else(|| of_the_program(digest))
}

fn of_a_color(digest: &Digest<'_>) -> Option<Finding> {
    let growth_of = |color| {
        let depth =
            digest.windows.iter().map(|window| usage_in(slice::from_ref(window), color).0.depth);
        growth(&depth.collect::<Vec<_>>())
    };
    // Most colors have a short line, and the look at the windows takes a time in proportion to all colors.
    let long = digest.colors.iter().filter(|load| load.usage.depth as f64 >= LEAST);
    let growing = long.filter_map(|load| {
        let growth = growth_of(load.color)?;
        (growth >= GROWTH * load.usage.turns as f64).then_some((load, growth))
    });
    let (load, growth) = growing.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let ran = digest.rate(load.usage.turns);
    let sentence = format!(
        "the queue of {} grows by {} a second; {} are in line",
        digest.waits.name(load.color),
        text::number(growth / digest.length),
        text::number(load.usage.depth as f64)
    );
    let finding = Finding::new(Fault::UnboundedQueue, load.busy, sentence).about(load);
    let evidence = format!(
        "{} turns a second are scheduled under it, and {} run; it is {} busy",
        text::number(ran + growth / digest.length),
        text::number(ran),
        text::percent(load.busy)
    );
    Some(finding.because(evidence).mend(
        "put a bound before the color: `Limit::new(color, n)` makes its callers wait or refuses them, an `Admission` refuses \
         work that would be late, a `stage` has a bounded queue; use `call` in place of `post` where the sender can wait",
    ))
}

/// Tasks that are spawned faster than they complete, while the CPUs are full.
fn of_the_program(digest: &Digest<'_>) -> Option<Finding> {
    let tasks: Vec<u64> = digest.windows.iter().map(|window| window.tasks).collect();
    let growth = growth(&tasks)?;
    let (first, last) = (*tasks.first()?, *tasks.last()?);
    let waits = |windows: &[crate::usage::Window]| {
        let of = |window: &crate::usage::Window| {
            let colors =
                window.colors.iter().map(|color| color.usage.wait_cpu + color.usage.wait_color);
            colors.sum::<std::time::Duration>() + window.others.wait_cpu + window.others.wait_color
        };
        windows.iter().map(of).sum::<std::time::Duration>()
    };
    let half = digest.windows.len() / 2;
    let (early, late) = digest.windows.split_at(half);
    let is_slower = waits(late) > waits(early).mul_f64(1.5);
    if growth < GROWTH * digest.all.turns as f64 || digest.awake() < super::FULL || !is_slower {
        return None;
    }
    let sentence = format!(
        "tasks are spawned faster than they complete: {} more a second, and the CPUs are full",
        text::number(growth / digest.length)
    );
    let finding = Finding::new(Fault::UnboundedQueue, digest.capacity, sentence);
    let evidence = format!(
        "there were {first} tasks after the first part of the observation, and {last} at its end"
    );
    Some(finding.because(evidence).mend(
        "admit fewer at a time: `admission` refuses work that would be late, a `Limit` makes the spawners wait, a `stage` has \
         a bounded queue",
    ))
}

/// By how much a series grows, if it rises in most of its steps.
fn growth(series: &[u64]) -> Option<f64> {
    let steps = series.len().checked_sub(1).filter(|steps| *steps + 1 >= FEWEST)?;
    let rises = series.windows(2).filter(|pair| pair[1] > pair[0]).count();
    let growth = series[steps].saturating_sub(series[0]) as f64;
    (rises as f64 >= STEPS * steps as f64 && growth >= LEAST).then_some(growth)
}
