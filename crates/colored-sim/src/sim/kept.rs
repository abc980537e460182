//! The file of runs that have failed: each test runs its own again, before it draws new ones.
//!
//! A line is the name of the test, the [replay](Replay), and behind `#` what was wrong. A line that begins with `#` is a
//! comment.

use super::failure::Failure;
use crate::Replay;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::{env, io};

/// What a new file begins with.
const HEAD: &str = "\
# Runs of simulated tests that have failed. Each test runs its own again, before it draws new ones: keep this file under
# version control. A line is the name of the test, and the value of COLORED_SIM_REPLAY. Remove lines as you like.
";

/// Whether failures are written.
const KEEP: &str = "COLORED_SIM_KEEP";

/// The file, and the name of the test in it.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) file: PathBuf,
    pub(super) name: String,
}

impl Kept {
    /// The runs of this test.
    ///
    /// # Panics
    ///
    /// If the file cannot be read, or a line of this test names no run.
    #[track_caller]
    pub(super) fn read(&self) -> Vec<Replay> {
        let file = self.file.display();
        let text = match fs::read_to_string(&self.file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Vec::new(),
            Err(error) => panic!("the failures of simulations in {file}: {error}"),
        };
        let mut replays = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let mut words = line.split_whitespace();
            if words.next() == Some(&self.name) {
                let replay = words.next().unwrap_or("").parse();
                replays.push(replay.unwrap_or_else(|error| panic!("{file}:{}: {error}", at + 1)));
            }
        }
        replays
    }

    /// Adds a run, if the environment permits it. Returns what the report says about that.
    pub(super) fn add(&self, failure: &Failure) -> String {
        let line = format!("{} {}", self.name, failure.replay());
        let file = self.file.display();
        if !is_writing() {
            return format!("not kept; to keep it, add to {file} the line\n    {line}");
        }
        let what = failure.message().lines().next().unwrap_or("");
        match self.append(&format!("{line} # {what}\n")) {
            Ok(()) => format!("kept in {file}, which belongs under version control"),
            Err(error) => format!("not kept: {file}: {error}; the line is\n    {line}"),
        }
    }

    fn append(&self, line: &str) -> io::Result<()> {
        let is_new = !self.file.exists();
        let mut file = OpenOptions::new().append(true).create(true).open(&self.file)?;
        // One write, as other tests may add a line of theirs.
        let text = if is_new { format!("{HEAD}{line}") } else { line.to_owned() };
        file.write_all(text.as_bytes())
    }
}

/// Failures are written unless this is CI, where the file would be lost.
fn is_writing() -> bool {
    match env::var(KEEP).as_deref() {
        Ok("1") => true,
        Ok("0") => false,
        _ => env::var_os("CI").is_none_or(|ci| ci.is_empty() || ci == "false"),
    }
}

/// The file beside a source file, which the compiler names from the folder in which it was called: the package's or one above.
pub(super) fn beside(folder: &str, source: &str) -> Option<PathBuf> {
    let mut paths = Path::new(folder).ancestors().map(|folder| folder.join(source));
    paths.find(|path| path.is_file()).map(|path| path.with_extension("sim-failures"))
}
