//! Logs that are not what they were, under any schedule: the embedded engine, on simulated files, and the engine in memory;
//! and engines that lie about their logs, which the suite has to find.

use crate::directory::Directory;
use crate::memory::{Lie, Memory};
use colored::sim::{Builder, random};
use colored_consumer::conformance::alter::{Case, check_case};
use std::path::Path;

/// How many places of a bit a search chooses from.
const BITS: u32 = 20_000;

/// The bits that flip are a quarter of the cases.
fn any_case() -> Case {
    let with_bits = random().is_multiple_of(4);
    let cases = if with_bits { Case::all(BITS) } else { Case::all(0) };
    let whole = if with_bits { Case::all(0).len() } else { 0 };
    cases[whole + random() as usize % (cases.len() - whole)]
}

#[test]
fn the_embedded_engine_keeps_its_records_on_a_log_that_is_not_what_it_was() {
    let run = || async {
        let case = any_case();
        check_case(&Directory::new(Path::new("/log"), case.alteration).await, case).await;
    };
    Builder::new().seeds(crate::seeds(200, 2_000)).run(run).assert_passed();
}

#[test]
fn an_engine_whose_logs_can_be_anything_keeps_its_records_under_any_schedule() {
    let run = || async {
        check_case(&Memory::new(2, Lie::Nothing), any_case()).await;
    };
    Builder::new().seeds(crate::seeds(200, 2_000)).run(run).assert_passed();
}

#[test]
fn engines_that_lie_about_their_logs_are_found() {
    for lie in [Lie::NoEnds, Lie::OneLog, Lie::Passes, Lie::LowLimit, Lie::Forgets] {
        let run = move || async move {
            check_case(&Memory::new(2, lie), any_case()).await;
        };
        let report = Builder::new().seeds(0..1_000).run(run);
        let failure = report.failure().unwrap_or_else(|| panic!("{lie:?} is not found"));
        println!("{lie:?}: {failure}");
    }
}
