//! What the program prints where it has no terminal.

use crate::load::{HOT, Load, wait_until};
use colored::diagnose::usage::Level;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// Attempts on a machine with neighbours: they may take the worker's CPU, and the verdict would be another one.
const ATTEMPTS: usize = 8;

fn top(arguments: &[&str], path: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_colored-top"))
        .args(arguments)
        .arg(path)
        .output()
        .expect("the program runs")
}

fn printed(arguments: &[&str], path: &Path) -> String {
    let output = top(arguments, path);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("it prints UTF-8")
}

#[test]
fn one_screen_names_the_color_that_limits_the_program() {
    let load = Load::start();
    let mut text = String::new();
    let names_it = (0..ATTEMPTS).any(|_| {
        text = printed(&["--once"], &load.socket());
        text.contains("\nhot-color: color \"orders\"")
    });
    assert!(names_it, "{text}");
    println!("{text}");
    for part in ["8 tasks", "2 workers", "worker  0 [", "worker  1 [", HOT, "recorder: level 1"] {
        assert!(text.contains(part), "{part:?} is missing:\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "no codes of a terminal");
    wait_until("the level is as before", || load.runtime().handle().trace_level() == Level::Off);
}

#[test]
fn a_snapshot_is_printed_as_json() {
    let load = Load::start();
    let text = printed(&["--json", "--no-level"], &load.socket());
    let snapshot: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!((&snapshot["protocol"], &snapshot["level"]), (&1.into(), &0.into()));
    assert_eq!(text.lines().count(), 1);
}

#[test]
fn errors_name_the_path_and_what_is_allowed() {
    let cried = |output: Output| String::from_utf8(output.stderr).expect("it prints UTF-8");
    let nowhere = Path::new("/nonexistent/socket");
    let output = top(&["--once"], nowhere);
    assert_eq!(output.status.code(), Some(1));
    assert!(cried(output).contains("cannot connect to \"/nonexistent/socket\""));
    let output = top(&["--all"], nowhere);
    assert_eq!(output.status.code(), Some(2));
    assert!(cried(output).contains("there is no option --all; see --help"));
    let help = printed(&["--help"], nowhere);
    assert!(help.contains("--once") && help.contains("COLORED_INSPECT"), "{help}");
}
