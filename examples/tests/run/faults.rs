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

const ATTEMPTS: u64 = 24;

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

/// The sentence is that of the page, but for its numbers.
#[test]
fn each_fault_is_named_first() {
    // Without optimization a dispatch costs ten times as much, and the limit is that of a release.
    let is_measurable = |name: &str| name != "too-fine" || !cfg!(debug_assertions);
    let samples = samples();
    for name in FAULTS {
        let [sample] = &samples.iter().filter(|(of, _)| of == name).collect::<Vec<_>>()[..] else {
            panic!("the page has not one section about {name}")
        };
        let expected = shape(&sample.1);
        assert!(sample.1.starts_with(&format!("{name}: ")), "{sample:?}");
        let is_like = |seed: u64| {
            let line = report(&format!("--fault {name} --workers 2 --seed {seed}"));
            let is_like = shape(&line) == expected;
            println!("{} {name} {seed}: {line}", if is_like { "ok  " } else { "MISS" });
            is_like
        };
        assert!(!is_measurable(name) || (1..=ATTEMPTS).any(is_like), "{name}: {expected}");
    }
    assert_eq!(samples.len(), FAULTS.len() + 1, "and one of a program without a fault");
}

#[test]
fn a_load_without_a_fault_has_none() {
    for load in LOADS {
        some_seed(&format!("--fault none --load {load} --workers 2"), "none");
    }
}

/// A text without its numbers, and without the units behind them.
fn shape(text: &str) -> String {
    let mut shape = String::new();
    let words = text.split_whitespace().map(|word| {
        let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | ':');
        let kept = word.trim_matches(is_number);
        if kept.is_empty() { "#" } else { kept }
    });
    for word in words {
        let unit = word.trim_end_matches([';', ',']);
        let is_unit = matches!(unit, "%" | "s" | "ms" | "µs" | "ns" | "million");
        if !(is_unit && shape.ends_with("# ")) {
            shape += word;
            shape += " ";
        }
    }
    shape
}

/// The sentences of the samples on the page, by the names of their faults.
fn samples() -> Vec<(String, String)> {
    const PAGE: &str = include_str!("../../../docs/diagnosing.md");
    let sections = PAGE.split("\n## ").filter_map(|section| section.split_once('\n'));
    let of_section = |(title, rest): (&str, &str)| {
        let name = title.split('`').nth(1)?.to_owned();
        let (_, block) = rest.split_once("```text\n")?;
        let mut lines = block.lines();
        let mut sentence = lines.next()?.to_owned();
        // A line that goes on is indented further than evidence.
        lines.take_while(|line| line.starts_with("    ")).for_each(|line| sentence += line);
        Some((name, sentence))
    };
    sections.filter_map(of_section).collect()
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
