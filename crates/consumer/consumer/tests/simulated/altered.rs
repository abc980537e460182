//! Logs that are not what they were, under any schedule: the embedded engine, on simulated files, and the engine in memory;
//! and engines that lie about their logs, which the suite has to find.

use crate::directory::Directory;
use crate::memory::{Lie, Memory};
use colored::sim::{Builder, random};
use colored_consumer::conformance::alter::{Case, check_case};
use std::path::Path;
use std::sync::{Arc, Mutex};

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

/// How the suite finds a lie. Not as a failure of the run, which would be shrunk: where a consumer never catches up, a run has
/// tens of thousands of choices.
fn find(lie: Lie, seeds: u64) -> Option<String> {
    (0..seeds).find_map(|seed| {
        let found = Arc::new(Mutex::new(None));
        let finds = Arc::clone(&found);
        let run = move || {
            let finds = Arc::clone(&finds);
            async move {
                let check = async move { check_case(&Memory::new(2, lie), any_case()).await };
                let failure = colored::spawn_unique(check).await.err();
                *finds.lock().unwrap() = failure.map(|error| format!("seed {seed}: {error}"));
            }
        };
        Builder::new().seeds(seed..seed + 1).run(run).assert_passed();
        found.lock().unwrap().take()
    })
}

#[test]
fn engines_that_lie_about_their_logs_are_found() {
    for lie in [Lie::NoEnds, Lie::OneLog, Lie::Passes, Lie::LowLimit, Lie::Forgets] {
        let failure = find(lie, 1_000).unwrap_or_else(|| panic!("{lie:?} is not found"));
        println!("{lie:?}: {failure}");
    }
    // Nor is an engine that does not lie taken for one.
    assert_eq!(find(Lie::Nothing, 50), None);
}
