//! The jobs of `.ci/run`: the workflow runs each, and what they leave out has a reason and is a test that there is.

use super::{FILES, assert_none, root};
use std::collections::BTreeSet;
use std::fs;

/// The lists, and which word of a line is the part of a test's name.
const LISTS: [(&str, usize); 2] = [(".ci/miri-skips", 0), (".ci/skips", 1)];

/// What an emulator does wrong: its name, and a case.
const EMULATORS: &str = "tests/emulators/faults";

/// The words and the reason of each line.
fn lines(file: &str) -> Vec<(Vec<String>, String)> {
    let text = fs::read_to_string(root().join(file)).expect("the list is there");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let parts = lines.map(|line| {
        let (words, reason) = line.split_once('#').unwrap_or((line, ""));
        (words.split_whitespace().map(str::to_owned).collect(), reason.trim().to_owned())
    });
    parts.collect()
}

/// The functions and the modules, each beside its modules' names.
fn names() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in FILES.keys() {
        names.extend(file.trim_end_matches(".rs").split('/').map(str::to_owned));
        let text = fs::read_to_string(root().join(file)).expect("the file can be read");
        let functions = text.split("fn ").skip(1);
        let ends = |c: char| !c.is_alphanumeric() && c != '_';
        names.extend(functions.filter_map(|rest| Some(rest.split(ends).next()?.to_owned())));
    }
    names
}

fn exists(names: &BTreeSet<String>, part: &str) -> bool {
    let mut parts = part.split("::").filter(|part| !part.is_empty());
    parts.all(|part| names.iter().any(|name| name.contains(part)))
}

#[test]
fn what_is_skipped_is_there_and_has_a_reason() {
    let (names, mut faults) = (names(), Vec::new());
    for (file, word) in LISTS {
        let lines = lines(file);
        assert!(!lines.is_empty(), "{file} has another form now");
        for (words, reason) in lines {
            match words.get(word) {
                Some(part) if reason.is_empty() => faults.push(format!("{file}: {part}: why?")),
                Some(part) if exists(&names, part) => {}
                _ => faults.push(format!("{file}: there is no test {words:?}")),
            }
        }
    }
    assert_none(faults);
}

/// A reason such as `wine: a_case` is in the list of the control program.
#[test]
fn what_is_skipped_for_an_emulator_is_its_fault() {
    let case = |(words, _): (Vec<String>, _)| words[..2].to_vec();
    let faults: BTreeSet<_> = lines(EMULATORS).into_iter().map(case).collect();
    let emulators: BTreeSet<_> = faults.iter().map(|words| words[0].clone()).collect();
    let mut unproved = Vec::new();
    for (words, reason) in lines(".ci/skips") {
        let Some((emulator, cases)) = reason.split_once(": ") else { continue };
        let is_listed = |case: &str| faults.contains(&[emulator.to_owned(), case.to_owned()][..]);
        if emulators.contains(emulator) && !cases.split(", ").all(is_listed) {
            unproved.push(format!("{words:?}: {EMULATORS} has no {reason}"));
        }
    }
    assert_none(unproved);
}

/// A module that a suppression names by its path.
#[test]
fn what_is_suppressed_is_where_it_was() {
    let text = fs::read_to_string(root().join(".ci/lsan-suppressions")).expect("the list is there");
    let (mut seen, mut gone) = (0, Vec::new());
    for name in text.lines().filter_map(|line| line.strip_prefix("leak:")) {
        let folder = match name.split_once("::") {
            Some(("colored_core", path)) => Some(("crates/colored-core/src", path)),
            Some(("colored", path)) => Some(("crates/colored/src", path)),
            Some(("colored_consumer", path)) => Some(("crates/consumer/consumer/src", path)),
            _ => None,
        };
        let Some((folder, path)) = folder else { continue };
        seen += 1;
        let module = path.split("::tests").next().expect("a first part").replace("::", "/");
        if !root().join(folder).join(&module).with_extension("rs").exists() {
            gone.push(format!("{name}: there is no {folder}/{module}.rs"));
        }
    }
    assert!(seen > 0, "the list has another form now");
    assert_none(gone);
}

#[test]
fn a_test_that_is_gone_is_found() {
    let names = names();
    assert!(exists(&names, "jobs::what_is_skipped"));
    assert!(exists(&names, "layers::"));
    assert!(!exists(&names, "what_is_skipped_is_nowhere"));
}

/// The jobs of `.ci/run` for each change: in both rows, and on machines of their own.
fn jobs() -> BTreeSet<String> {
    let text = fs::read_to_string(root().join(".ci/run")).expect("the script is there");
    let rows = ["first", "second", "alone"].map(|row| {
        let start = text.split_once(&format!("\n{row}=(")).expect("a row of jobs").1;
        start.split_once(')').expect("its end").0.to_owned()
    });
    rows.iter().flat_map(|row| row.split_whitespace()).map(str::to_owned).collect()
}

#[test]
fn the_workflow_runs_the_same_jobs() {
    let file = root().join(".github/workflows/ci.yml");
    let text = fs::read_to_string(file).expect("the workflow is there");
    let list = text.split_once("jobs:\n          - ").expect("a list of jobs").1;
    let list = list.split_once("    env:").expect("what follows the list").0;
    let named = list.split_whitespace().filter(|word| *word != "-").map(str::to_owned);
    assert_eq!(named.collect::<BTreeSet<_>>(), jobs(), "ci.yml, and the rows of .ci/run");
}
