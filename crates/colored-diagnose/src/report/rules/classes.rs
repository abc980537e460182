//! Priorities: colors of a class that hardly runs while higher classes always have something to run.

use super::MOSTLY;
use crate::report::digest::Digest;
use crate::report::fault::{Fault, Finding};
use crate::report::text;
use crate::usage::Usage;
use colored_core::Priority;
use std::cmp::Reverse;
use std::time::Duration;

/// The classes that may starve, the lowest first.
const LOWER: [Priority; 2] = [Priority::Low, Priority::Normal];

/// A class that waits so much longer for each second that it runs than the higher classes do, starves.
const LONGER: f64 = 5.0;

/// A class that has more of the CPUs does not starve.
const SHARE: f64 = 0.2;

/// The mean number of tasks of the class that wait.
const QUEUE: f64 = 0.5;

/// The class that waits for CPUs while higher ones take them.
pub(super) fn starved(digest: &Digest<'_>) -> Option<Finding> {
    LOWER.into_iter().find_map(|class| starved_class(digest, class))
}

fn starved_class(digest: &Digest<'_>, class: Priority) -> Option<Finding> {
    let of = |is_in: &dyn Fn(Priority) -> bool| -> Usage {
        let colors = digest.colors.iter().filter(|color| is_in(color.priority));
        colors.map(|color| color.usage).fold(Usage::default(), |all, usage| all + usage)
    };
    let (low, high) = (of(&|of| of == class), of(&|of| of > class));
    let queue = digest.share(low.wait_cpu);
    let share = |usage: &Usage| digest.share(usage.run) / digest.capacity;
    let is_starved = queue >= QUEUE
        && share(&low) <= SHARE
        && share(&high) >= 0.5
        && digest.awake() >= super::FULL
        && waits_by_run(&low) >= LONGER * waits_by_run(&high)
        && digest.part(|windows| runs_above(windows, class, digest.capacity)) >= MOSTLY;
    if !is_starved {
        return None;
    }
    let mut colors: Vec<_> = digest.colors.iter().filter(|color| color.priority == class).collect();
    colors.sort_by_key(|color| Reverse(color.usage.wait_cpu));
    let worst = *colors.first()?;
    let sentence = format!(
        "{} colors of the priority `{class:?}` get {} of the CPUs and wait {} a second for them; higher priorities take {}",
        colors.len(),
        text::percent(share(&low)),
        text::seconds(queue),
        text::percent(share(&high).min(1.0))
    );
    let mean =
        |usage: &Usage| text::seconds(usage.wait_cpu.as_secs_f64() / usage.waits.max(1) as f64);
    let finding =
        Finding::new(Fault::StarvedClass, share(&high) * digest.capacity, sentence).about(worst);
    let evidence = format!(
        "a turn of that class waits {} for a worker, one of the higher classes {}; {} waits longest",
        mean(&low),
        mean(&high),
        digest.waits.name(worst.color)
    );
    Some(finding.because(evidence).mend(
        "give `Priority::High` to short and rare work only (`Handle::set_priority`), put a `Limit` or an `Admission` before \
         it, or let both have the same priority: then colors take turns",
    ))
}

/// How long it waits for each second that it runs.
fn waits_by_run(usage: &Usage) -> f64 {
    usage.wait_cpu.as_secs_f64() / usage.run.max(Duration::from_micros(1)).as_secs_f64()
}

/// Whether colors above the class have most of the CPUs.
fn runs_above(windows: &[crate::usage::Window], class: Priority, capacity: f64) -> bool {
    let length: f64 = windows.iter().map(|window| window.length.as_secs_f64()).sum();
    let colors = windows.iter().flat_map(|window| &window.colors);
    let run: Duration =
        colors.filter(|color| color.priority > class).map(|color| color.usage.run).sum();
    run.as_secs_f64() >= 0.4 * capacity * length
}
