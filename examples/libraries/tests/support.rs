//! Runtimes, witnesses, and the programs of the examples.

#[cfg(unix)]
mod running;
mod watchdog;
mod witness;

#[cfg(unix)]
pub(crate) use self::running::Running;
pub(crate) use self::witness::in_colors;

use colored::{Runtime, runtime::Builder};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// More than this machine's, so that a task is often resumed elsewhere.
const WORKERS: usize = 4;

/// Runs a test in a runtime with tokio's beside it. A test that hangs ends the process.
#[track_caller]
pub(crate) fn with_tokio<T: Send + 'static>(test: impl Future<Output = T> + Send + 'static) -> T {
    run(Runtime::builder().tokio_context(true), test)
}

/// The same without tokio's.
#[track_caller]
pub(crate) fn alone<T: Send + 'static>(test: impl Future<Output = T> + Send + 'static) -> T {
    run(Runtime::builder(), test)
}

#[track_caller]
fn run<T: Send + 'static>(builder: Builder, test: impl Future<Output = T> + Send + 'static) -> T {
    let _watched = watchdog::arm();
    builder.workers(WORKERS).build().expect("a runtime").run(test)
}

/// A new directory of temporary files, which is removed at the end.
pub(crate) struct Directory(pub(crate) PathBuf);

impl Directory {
    pub(crate) fn new(name: &str) -> Directory {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        // Ordering: the numbers are different, whatever their order.
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("colored-{name}-{}-{n}", std::process::id()));
        // An earlier process of this number may have been killed, and have left it behind.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).expect("the directory is new");
        Directory(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The program of an example.
pub(crate) fn program(name: &str) -> Command {
    // The tests are in `target/PROFILE/deps`.
    let mut path: PathBuf = std::env::current_exe().expect("a test has a path");
    path.pop();
    path.set_file_name("examples");
    path.push(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(path.exists(), "{path:?} is missing: `cargo test` builds it");
    let mut command = Command::new(path);
    command.stdin(Stdio::null()).env("RUST_BACKTRACE", "0");
    command
}

/// What an example prints, line by line.
#[track_caller]
pub(crate) fn lines_of(name: &str, args: &[&str]) -> Vec<String> {
    let _watched = watchdog::arm();
    let output = program(name).args(args).output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} {args:?}: {}\n{text}\n{errors}", output.status);
    text.lines().map(str::to_owned).collect()
}
