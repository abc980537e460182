//! Simulations of programs: bugs that only some schedules show, each with a twin that has none.

mod attribute;
mod bugs;
mod cancel;
mod clocks;
mod confirmed;
mod exhaustive;
mod files;
mod hosts;
mod jobs;
mod late;
mod leaks;
mod lies;
mod limits;
mod net_bugs;
mod net_datagrams;
mod net_tcp;
mod pushes;
mod runs;
mod same;
mod select;
mod spawned_by_tokio;
mod trails;

use colored::sim::{Builder, Failure, Report};
use colored_tests::soak::repeat;
use std::ops::Range;

/// The seeds of a program without a bug: all of these once a week, and some of them otherwise.
fn silent(weekly: u64) -> Range<u64> {
    0..repeat(weekly as usize / 8, weekly as usize) as u64
}

/// The failure that a search has found, which is the same one when its run is repeated.
#[track_caller]
fn found(report: &Report) -> Failure {
    let failure = report.failure().unwrap_or_else(|| panic!("not found: {report}"));
    assert_eq!(failure.differs(), None, "{failure}");
    failure.clone()
}

/// The failure of a program that has a bug.
#[track_caller]
fn failure<F>(program: impl Fn() -> F + Sync) -> Failure
where
    F: Future<Output = ()> + Send + 'static,
{
    found(&Builder::new().run(program))
}

/// A search has found nothing, and each `sometimes!` of the program held in one of the runs.
#[track_caller]
fn assert_all_seen(report: &Report) {
    report.assert_passed();
    assert!(report.never_seen().is_empty(), "{report}");
}

/// The report of a program without one.
#[track_caller]
fn passes<F>(program: impl Fn() -> F + Sync) -> Report
where
    F: Future<Output = ()> + Send + 'static,
{
    let seeds = silent(1000);
    let report = Builder::new().seeds(seeds.clone()).run(program);
    report.assert_passed();
    assert_eq!(report.seeds(), seeds.end);
    report
}

/// Runs a program without a bug, with settings of its own.
#[track_caller]
fn passes_with<F>(builder: Builder, program: impl Fn() -> F + Sync)
where
    F: Future<Output = ()> + Send + 'static,
{
    builder.run(program).assert_passed();
}
