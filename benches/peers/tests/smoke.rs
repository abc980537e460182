//! The program runs: every row once, with small counts.

use std::process::Command;

#[test]
fn every_row_runs_and_no_count_is_wrong() {
    let program = env!("CARGO_BIN_EXE_colored-peers");
    let output = Command::new(program).arg("--smoke").output().expect("the program starts");
    let text = String::from_utf8(output.stdout).expect("it prints text");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
    let rows = text.lines().filter(|line| line.starts_with("RATIO ")).count();
    let ended = text.lines().filter(|line| line.starts_with("INFO ")).count();
    assert!(rows > 0 && rows == ended, "{text}");
}
