//! Without the feature `diagnose` a runtime does not observe itself: it says nothing, and reads no variable of a diagnosis.

use colored::{Runtime, spawn};
use std::env;
use std::process::Command;
use std::sync::mpsc::channel;
use std::thread::sleep;
use std::time::Duration;

const TEST: &str =
    "without_diagnose::the_standard_error_has_the_panics_of_detached_tasks_and_nothing_else";

/// Tells the process that it is the program under test.
const IS_PROGRAM: &str = "COLORED_TEST_IS_PROGRAM";

#[test]
fn the_standard_error_has_the_panics_of_detached_tasks_and_nothing_else() {
    if env::var_os(IS_PROGRAM).is_some() {
        return run();
    }
    let mut program = Command::new(env::current_exe().expect("the path of this test"));
    program.args(["--exact", TEST, "--nocapture"]).env(IS_PROGRAM, "1");
    // With the feature, each of these is an error of `build`.
    let wrong = ["COLORED_WARNINGS", "COLORED_NAMES", "COLORED_TRACE"].map(|name| (name, "all"));
    program.envs(wrong).envs(["COLORED_TRACE_FILE", "COLORED_INSPECT"].map(|name| (name, "")));
    let output = program.output().expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let lines: Vec<_> = said.lines().collect();
    assert!(
        matches!(lines[..], [line] if line.ends_with("has panicked, and has no handle")),
        "{said}"
    );
}

fn run() {
    std::panic::set_hook(Box::new(|_| ()));
    let runtime = Runtime::builder().workers(1).build().expect("no variable is read");
    // A runtime that is diagnosed names a poll that takes a second.
    runtime.run(async { sleep(Duration::from_millis(1100)) });
    runtime.run(colored::time::sleep(Duration::from_millis(1)));
    let metrics = runtime.metrics();
    assert_eq!(
        (metrics.timers, metrics.timers_fired),
        (0, 1),
        "the counters are there all the same"
    );
    assert!(metrics.wakes > 0 && metrics.long_polls.polls > 0, "{metrics:?}");
    let (guard, is_over) = channel::<()>();
    runtime.run(async {
        // Of this future's color: it does not run before the handle is gone.
        let detached = spawn(async move {
            let _guard = guard;
            panic!("on purpose");
        });
        drop(detached);
    });
    is_over.recv().expect_err("the task is dropped");
}
