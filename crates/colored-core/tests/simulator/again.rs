//! Which runs the environment asks for, and how to ask for one of them again.

use crate::fault::Fault;
use crate::run::{Plan, Run};
use std::ops::Range;

/// Seeds and events of each, unless the environment says how many.
#[cfg(debug_assertions)]
const DEFAULT: (u64, u64) = (60, 20_000);
#[cfg(not(debug_assertions))]
const DEFAULT: (u64, u64) = (200, 100_000);

/// The variables, by name.
pub(crate) trait Environment: Fn(&str) -> Option<String> {}

impl<F: Fn(&str) -> Option<String>> Environment for F {}

/// This process's.
pub(crate) fn environment() -> impl Environment {
    |name: &str| std::env::var(name).ok()
}

fn number(of: &impl Environment, name: &str) -> Option<u64> {
    let text = of(name)?;
    let number = text.parse();
    Some(number.unwrap_or_else(|_| panic!("{name} is a number, not {text:?}")))
}

/// How each seed is run.
pub(crate) fn plan(of: &impl Environment) -> Plan {
    let lines = number(of, "COLORED_SIM_LINES").unwrap_or(60) as usize;
    let events = number(of, "COLORED_SIM_EVENTS").unwrap_or(DEFAULT.1);
    assert!(events >= LEAST, "COLORED_SIM_EVENTS is {LEAST} at least, not {events}");
    let kind = of("COLORED_SIM_KIND").map(|kind| &*kind.leak());
    Plan { events, lines, fault: Fault::None, kind }
}

/// A program with fewer does nothing yet.
const LEAST: u64 = 100;

/// The seeds that are run.
pub(crate) fn seeds(of: &impl Environment) -> Range<u64> {
    match number(of, "COLORED_SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 1..1 + number(of, "COLORED_SIM_SEEDS").unwrap_or(DEFAULT.0),
    }
}

/// The command that runs this one again: whatever a run follows from is named. With or without
/// debug assertions it is the same run.
pub(crate) fn command(plan: &Plan, run: &Run) -> String {
    let profile = if cfg!(debug_assertions) { "" } else { " --release" };
    format!(
        "COLORED_SIM_SEED={} COLORED_SIM_KIND='{}' COLORED_SIM_EVENTS={} \
         cargo test{profile} -p colored-core --test simulator whole",
        run.seed, run.name, plan.events
    )
}

/// What a violation is reported as.
pub(crate) fn report(plan: &Plan, run: &Run) -> Option<String> {
    let violation = run.violation.as_ref()?;
    let (seed, again) = (run.seed, command(plan, run));
    Some(format!("seed {seed}: {violation}\nagain: {again}"))
}
