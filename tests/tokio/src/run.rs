//! Runs each test in a process of its own, several at once.

use super::{Outcome, Outcomes};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// A test that takes longer hangs. The longest takes half a minute, without optimization and beside others.
const LIMIT: Duration = Duration::from_secs(60);

/// How many tests run at once: most of them wait.
const AT_ONCE: usize = 8;

/// A test that should pass and fails has so many attempts: some measure short times.
const ATTEMPTS: u32 = 3;

/// Runs the tests whose names contain `filter`, in tokio's folder, where some read a file.
pub(crate) fn run(binary: &Path, tokio: &Path, filter: &str, expected: &Outcomes) -> Outcomes {
    let list = Command::new(binary).args(["--list", "--format", "terse"]).output().unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    let tests = list.lines().filter_map(|line| line.strip_suffix(": test"));
    let tests = Mutex::new(tests.filter(|name| name.contains(filter)));
    let seen = Mutex::new(Outcomes::default());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                let next = || tests.lock().unwrap().next();
                while let Some(name) = next() {
                    let outcome = attempts((binary, tokio), name, expected.get(name));
                    seen.lock().unwrap().0.insert(name.into(), outcome);
                }
            });
        }
    });
    seen.into_inner().unwrap()
}

fn attempts(binary: (&Path, &Path), name: &str, expected: Option<Outcome>) -> (Outcome, String) {
    let attempts = if matches!(expected, None | Some(Outcome::Pass)) { ATTEMPTS } else { 1 };
    let mut last = (Outcome::Hang, String::new());
    for _ in 0..attempts {
        last = attempt(binary, name);
        if last.0 != Outcome::Fail {
            break;
        }
    }
    last
}

/// Runs it once. The reason of a failure is what it printed last of a panic.
fn attempt((binary, tokio): (&Path, &Path), name: &str) -> (Outcome, String) {
    let mut child = Command::new(binary)
        .current_dir(tokio)
        .args(["--exact", name, "--include-ignored", "--nocapture", "--test-threads=1"])
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut errors = child.stderr.take().unwrap();
    let text = thread::spawn(move || {
        let mut text = Vec::new();
        let _ = std::io::Read::read_to_end(&mut errors, &mut text);
        String::from_utf8_lossy(&text).into_owned()
    });
    match wait(&mut child) {
        Some(true) => (Outcome::Pass, String::new()),
        Some(false) => (Outcome::Fail, reason(&text.join().unwrap())),
        None => (Outcome::Hang, String::new()),
    }
}

/// Whether it succeeds; `None` if it does not end, and then it is killed.
fn wait(child: &mut Child) -> Option<bool> {
    let start = Instant::now();
    while start.elapsed() < LIMIT {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status.success());
        }
        thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

/// The first message of a panic, in a line.
fn reason(text: &str) -> String {
    let mut lines = text.lines().skip_while(|line| !line.contains("panicked at"));
    lines.next();
    let text: Vec<_> = lines.take(3).map(str::trim).collect();
    text.join(" ").chars().take(160).collect()
}
