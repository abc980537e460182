//! The runs that the environment asks for, and the command that repeats one of them.

use crate::fault::Fault;
use crate::run::{Plan, Run};
use std::ops::Range;

/// How many seeds run, and how many events each has, unless the environment says so.
#[cfg(debug_assertions)]
const DEFAULT: (u64, u64) = (60, 20_000);
#[cfg(not(debug_assertions))]
const DEFAULT: (u64, u64) = (200, 100_000);

/// The variables, by name.
pub(crate) trait Environment: Fn(&str) -> Option<String> {}

impl<F: Fn(&str) -> Option<String>> Environment for F {}

/// The variables of this process.
pub(crate) fn environment() -> impl Environment {
    |name: &str| std::env::var(name).ok()
}

/// Whether to repeat all that CI repeats.
pub(crate) fn is_long() -> bool {
    std::env::var_os("COLORED_LONG_TESTS").is_some()
}

fn number(of: &impl Environment, name: &str) -> Option<u64> {
    let text = of(name)?;
    let number = text.parse();
    Some(number.unwrap_or_else(|_| panic!("{name} is a number, not {text:?}")))
}

/// How the environment wants each seed to be run.
pub(crate) fn plan(of: &impl Environment) -> Plan {
    let lines = number(of, "COLORED_SIM_LINES").unwrap_or(60) as usize;
    let events = number(of, "COLORED_SIM_EVENTS").unwrap_or(DEFAULT.1);
    assert!(events >= LEAST, "COLORED_SIM_EVENTS is {LEAST} at least, not {events}");
    let kind = of("COLORED_SIM_KIND").map(|kind| &*kind.leak());
    Plan { events, lines, fault: Fault::None, kind, records: false }
}

/// A program with fewer events does nothing yet.
const LEAST: u64 = 100;

/// The seeds that the environment asks for.
pub(crate) fn seeds(of: &impl Environment) -> Range<u64> {
    match number(of, "COLORED_SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 1..1 + number(of, "COLORED_SIM_SEEDS").unwrap_or(DEFAULT.0),
    }
}

/// The command that repeats this run. It names all that the run follows from. The run is the same with and without
/// debug assertions.
pub(crate) fn command(plan: &Plan, run: &Run) -> String {
    let profile = if cfg!(debug_assertions) { "" } else { " --release" };
    format!(
        "COLORED_SIM_SEED={} COLORED_SIM_KIND='{}' COLORED_SIM_EVENTS={} \
         cargo test{profile} -p colored-core --test simulator whole",
        run.seed, run.name, plan.events
    )
}

/// The text that reports a violation.
pub(crate) fn report(plan: &Plan, run: &Run) -> Option<String> {
    let violation = run.violation.as_ref()?;
    let (seed, again) = (run.seed, command(plan, run));
    Some(format!("seed {seed}: {violation}\nagain: {again}"))
}
