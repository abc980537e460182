//! Tests in a process of their own: this binary again, with one test.

use std::env;
use std::process::Command;

/// Set in such a process.
pub const VARIABLE: &str = "COLORED_TESTS_CHILD";

/// Runs `body` in a process of its own. `module` is `module_path!()`, `function` the calling test.
pub fn run(module: &str, function: &str, body: impl FnOnce()) {
    run_after("", module, function, body);
}

/// As [`run`], after a line for the shell such as `ulimit -n 64`.
pub fn run_after(line: &str, module: &str, function: &str, body: impl FnOnce()) {
    let _said = said(line, module, function, body);
}

/// As [`run_after`], and returns what the process wrote to its output and its error; `None` in the
/// process itself.
pub fn said(
    line: &str,
    module: &str,
    function: &str,
    body: impl FnOnce(),
) -> Option<(String, String)> {
    let Some(mut command) = command(line, module, function) else {
        body();
        return None;
    };
    let output = command.output().expect("this binary can be run again");
    let said = String::from_utf8_lossy(&output.stdout);
    let cried = String::from_utf8_lossy(&output.stderr);
    // A name that is no test's would pass with nothing run.
    let passed = output.status.success() && said.contains("1 passed");
    assert!(passed, "in a process of its own: {}\n{said}\n{cried}", output.status);
    Some((said.into_owned(), cried.into_owned()))
}

/// The process of [`run_after`], for a caller that gives it files of its own; `None` in the process itself.
pub fn command(line: &str, module: &str, function: &str) -> Option<Command> {
    let (_, suite) = module.split_once("::").expect("a module of this crate");
    let test = format!("{suite}::{function}");
    if env::var(VARIABLE).is_ok_and(|name| name == test) {
        return None;
    }
    let binary = env::current_exe().expect("the path of this binary");
    // Not every system has a shell. One that has none knows no `ulimit`.
    let mut command = if line.is_empty() || cfg!(windows) && line.starts_with("ulimit") {
        Command::new(binary)
    } else {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{line}\nexec \"$0\" \"$@\"")]).arg(binary);
        shell
    };
    command.args(["--exact", &test, "--nocapture", "--test-threads=1"]).env(VARIABLE, &test);
    Some(command)
}
