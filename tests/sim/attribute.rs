//! `#[colored::test(sim)]`: what a test binary prints, keeps and repeats.
//!
//! The tests in `fixtures` fail if a variable asks for it, and then in a process of their own.

use colored::sim::{Faults, Strategy, is_on};
use colored::time::{Duration, sleep};
use std::process::Command;
use std::{env, fs};

mod fixtures;

#[colored::test(sim, seeds = 20)]
async fn the_function_runs_in_a_simulation() {
    assert!(is_on());
    // An hour, for each seed.
    sleep(Duration::from_secs(3600)).await;
}

#[colored::test(sim, seeds = 2 + 3, workers = 1..=8, strategy = "pct(3)", faults = "net, pause", budget = "1h", until = plateau(100))]
async fn every_option() -> Result<(), String> {
    sleep(Duration::from_secs(1)).await;
    Ok(())
}

#[colored::test(workers = 4, sim, strategy = Strategy::Starve, faults = Faults::swarm(), budget = Duration::from_secs(60), seeds = 3, crate = ::colored)]
async fn every_option_as_an_expression() -> Result<Result<(), u8>, String> {
    Ok(Ok(()))
}

#[colored::test(sim, seeds = 1, strategy = "fast")]
#[should_panic = "the option `strategy`: \"fast\" is no strategy: allowed are \"portfolio\""]
async fn a_strategy_that_is_none() {}

#[colored::test(sim, seeds = 1, faults = "net, disc")]
#[should_panic = "the option `faults`: \"disc\" is no fault: allowed are net, none, swarm, clock, crash, "]
async fn a_fault_that_is_none() {}

/// Runs a fixture with these variables, and returns whether it has passed and what it has printed.
fn run(fixture: &str, variables: &[(&str, &str)]) -> (bool, String) {
    let name = format!("attribute::fixtures::{fixture}");
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([&*name, "--exact", "--nocapture"]).env(fixtures::FAILS, "1");
    command.env_remove("CI").env("COLORED_SIM_KEEP", "0").envs(variables.iter().copied());
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
    (output.status.success(), text)
}

/// The value of `COLORED_SIM_REPLAY` in a report.
fn replay(text: &str) -> &str {
    let (_, rest) = text.split_once("COLORED_SIM_REPLAY=").expect("it is there");
    rest.split_whitespace().next().unwrap()
}

/// The line of a report that repeats its run.
fn again(text: &str) -> &str {
    let (_, rest) = text.split_once("  again: ").expect("it is there");
    rest.lines().next().unwrap()
}

#[test]
fn the_line_that_repeats_a_run_names_the_test_alone_and_has_no_character_of_a_shell() {
    let (_, text) = run("lost_update", &[]);
    let line = again(&text);
    let (command, replay) = (line, replay(&text));
    let expected = format!(
        "cargo test -p colored-tests --test sim -- --exact attribute::fixtures::lost_update \
         COLORED_SIM_REPLAY={replay} --include-ignored"
    );
    assert_eq!(command, expected);
    let is_plain = |of: char| of.is_ascii_alphanumeric() || " _.:=-".contains(of);
    assert!(line.chars().all(is_plain), "{line}");
    assert!(replay.contains('n') && replay.contains('_'), "it has choices: {replay}");
}

/// A shell gets the line with a `cargo` that starts this test binary.
#[test]
#[cfg(unix)]
fn the_line_that_repeats_a_run_is_pasted_into_shells() {
    let (_, text) = run("lost_update", &[]);
    let line = again(&text);
    let cargo = "cargo() { while [ \"$1\" != -- ]; do shift; done; shift; \"$BINARY\" \"$@\" --nocapture; }";
    for (shell, option) in [("sh", "-c"), ("bash", "-ic")] {
        let mut command = Command::new(shell);
        command.arg(option).arg(format!("{cargo}\n{line}\n"));
        command.env("BINARY", env::current_exe().unwrap()).env(fixtures::FAILS, "1");
        command.env("COLORED_SIM_KEEP", "0").env("HOME", env::temp_dir());
        let output = match command.output() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && shell == "bash" => break,
            output => output.unwrap(),
        };
        let printed = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        let printed = printed.concat();
        assert!(printed.contains("running 1 test\n"), "{shell}: {printed}");
        assert!(printed.contains("fails: not always: both deposits count"), "{shell}: {printed}");
        assert_eq!(again(&printed), line, "{shell}");
    }
}

#[test]
fn a_failure_is_confirmed_alone_and_printed_with_its_turns() {
    let (passes, text) = run("lost_update", &[]);
    assert!(!passes, "{text}");
    for part in [
        "fails: not always: both deposits count\n  at tests/sim/attribute/fixtures.rs:",
        "  confirmed alone in a fresh process; shrunk from ",
        "color 0x2, task ",
        ", spawned at tests/sim/attribute/fixtures.rs:",
        "  <- ",
        "  again: cargo test -p colored-tests --test sim -- --exact attribute::fixtures::lost_update ",
        "fixtures.sim-failures the line\n    attribute::fixtures::lost_update ",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    // The line that it prints repeats the run.
    let (passes, again) = run("lost_update", &[("COLORED_SIM_REPLAY", replay(&text))]);
    assert!(!passes && again.contains("both deposits count"), "{again}");
    assert_eq!(replay(&again), replay(&text));
    let (passes, text) =
        run("lost_update", &[("COLORED_SIM_REPLAY", "0:1:"), ("COLORED_SIM_LINES", "1")]);
    assert!(passes, "{text}");
    let trace = env::temp_dir().join(format!("colored-trace-{}", std::process::id()));
    let path = trace.to_str().unwrap();
    let variables = [("COLORED_SIM_LINES", "1"), ("COLORED_SIM_TRACE", path)];
    let (_, text) = run("lost_update", &variables);
    assert!(text.contains(&format!("trace for https://ui.perfetto.dev: {path}")), "{text}");
    let events = fs::read_to_string(&trace).unwrap();
    fs::remove_file(&trace).unwrap();
    assert!(
        events.starts_with("{\"displayTimeUnit\"") && events.contains("color 0x2, task "),
        "{events}"
    );
    assert_eq!(text.matches("spawned at").count(), 1, "{text}");
}

#[test]
fn an_error_is_a_failure() {
    let (passes, text) = run("an_error", &[]);
    assert!(
        !passes && text.contains("seed 0 fails: the test returns the error \"a reason\""),
        "{text}"
    );
}

#[test]
fn failures_are_kept_and_run_first() {
    let file = env::temp_dir().join(format!("colored-kept-{}", std::process::id()));
    let path = file.to_str().unwrap();
    let variables = |keep| [(fixtures::FILE, path), ("COLORED_SIM_KEEP", keep)];
    let (_, text) =
        run("kept", &[(fixtures::FILE, path), ("COLORED_SIM_KEEP", ""), ("CI", "true")]);
    assert!(text.contains("not kept; to keep it, add to "), "{text}");
    assert!(!file.exists());
    let (_, text) = run("kept", &variables("1"));
    assert!(text.contains("kept in "), "{text}");
    let kept = fs::read_to_string(&file).unwrap();
    let lines: Vec<_> = kept.lines().filter(|line| !line.starts_with('#')).collect();
    let line = format!("a-name {} # not always: both deposits count", replay(&text));
    assert_eq!(lines, [line]);
    // Another seed would not fail.
    let (passes, text) = run("kept", &[(fixtures::FILE, path), ("COLORED_SIM_SEEDS", "0")]);
    assert!(!passes, "{text}");
    assert!(text.contains("a run that is kept, of seed "), "{text}");
    let (passes, text) = run("kept", &[(fixtures::FILE, path), (fixtures::FAILS, "0")]);
    assert!(passes, "{text}");
    fs::write(&file, "a-name 1:2\n").unwrap();
    let (_, text) = run("kept", &variables("0"));
    fs::remove_file(&file).unwrap();
    assert!(text.contains(":1: \"1:2\" names no run"), "{text}");
}

#[test]
fn what_leaks_is_named() {
    for (fixture, cause) in [
        ("hash_order", "the order of a HashMap or a HashSet with random keys: the run makes "),
        ("real_clock", "a real clock, or random numbers other than `sim::random`"),
        ("static_state", "state that a run leaves behind, as in a static"),
    ] {
        let (passes, text) = run(fixture, &[]);
        assert!(!passes, "{text}");
        assert!(text.contains(" differs: it makes other turns"), "{text}");
        assert!(text.contains("something outside the simulation decides:\n    "), "{text}");
        assert!(text.contains(cause), "{fixture}: {text}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_thread_is_named_and_what_it_makes_runnable() {
    let (passes, text) = run("a_thread", &[]);
    assert!(!passes, "{text}");
    assert!(text.contains("the thread \"meddler\", which has made a task runnable"), "{text}");
    let (passes, text) = run("a_thread_that_is_waited_for", &[]);
    assert!(!passes, "{text}");
    assert!(text.contains("nothing is runnable"), "{text}");
    assert!(
        text.contains("not simulated: the thread \"idler\", which has begun during the run"),
        "{text}"
    );
}
