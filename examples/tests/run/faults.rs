//! The report names the fault of each program first, and none where there is none.
//!
//! A neighbour on the machine can hide a fault, or look like one, so each program has a few attempts, with other seeds.

use crate::support::{Running, error};

const FAULTS: [&str; 12] = [
    "hot-color",
    "convoy",
    "long-poll",
    "default-color",
    "too-fine",
    "ping-pong",
    "blocked-worker",
    "timer-storm",
    "unbounded-queue",
    "starved-class",
    "lock-wait",
    "stuck-color",
];

const LOADS: [&str; 9] =
    ["idle", "server", "batch", "burst", "timers", "busy", "locks", "pool", "keys"];

const ATTEMPTS: u64 = 8;

/// The first line of the report.
fn report(args: &str) -> String {
    let lines = Running::start("faults", &format!("{args} --report")).end();
    lines.into_iter().next().expect("a report has a line")
}

/// Whether the report of a program begins with this name.
fn begins(args: &str, name: &str) -> bool {
    let line = report(args);
    let is_named = line.starts_with(&format!("{name}: "));
    println!("{} {args}: {line}", if is_named { "ok  " } else { "MISS" });
    is_named
}

#[track_caller]
fn some_seed(args: &str, name: &str) {
    assert!((1..=ATTEMPTS).any(|seed| begins(&format!("{args} --seed {seed}"), name)), "{args}");
}

#[test]
fn each_fault_is_named_first() {
    // Without optimization a dispatch costs ten times as much, and the limit is that of a release.
    let is_measurable = |fault: &&&str| **fault != "too-fine" || !cfg!(debug_assertions);
    for fault in FAULTS.iter().filter(is_measurable) {
        some_seed(&format!("--fault {fault} --workers 2"), fault);
    }
}

#[test]
fn a_load_without_a_fault_has_none() {
    for load in LOADS {
        some_seed(&format!("--fault none --load {load} --workers 2"), "none");
    }
}

/// Some 10 minutes, on a machine that does nothing else: `cargo build --release -p colored-examples --examples`, and then
/// `cargo test --release -p colored-examples --test run -- --ignored --nocapture matrix`.
#[test]
#[ignore = "it takes long, and needs a machine of its own"]
fn matrix() {
    let names = FAULTS.iter().copied().chain(["none"]);
    let cases = names.flat_map(|name| {
        [2, 8].into_iter().flat_map(move |workers| (1..=20).map(move |seed| (name, workers, seed)))
    });
    let missed = cases.filter(|(name, workers, seed)| {
        !begins(&format!("--fault {name} --workers {workers} --seed {seed}"), name)
    });
    let missed: Vec<_> = missed.collect();
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn json_and_programs_without_a_report() {
    let lines = Running::start("faults", "--fault none --load idle --report --json").end();
    assert!(
        lines[0].starts_with(r#"{"fault":null,"sentence":"no color and no CPU limits the program"#),
        "{lines:?}"
    );
    let lines = Running::start("faults", "--fault convoy --workers 2 --seconds 1").end();
    assert_eq!(lines, ["it runs for 1 s; `--report` tells what is wrong with it"]);
}

#[test]
fn it_says_what_is_allowed() {
    let text = error("faults", "--report");
    assert!(text.starts_with("Error: --fault is missing\nusage: faults --fault NAME"), "{text}");
    let text = error("faults", "--fault cold-color");
    assert!(
        text.starts_with("Error: --fault cold-color: expected hot-color or convoy or "),
        "{text}"
    );
}
