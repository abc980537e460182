//! The file of runs that have failed: each test runs its own again, before it draws new ones.
//!
//! A line is the name of the test, the [replay](Replay), and behind `#` what was wrong. A line that begins with `#` is a
//! comment. A run of another version of the crate is refused, as [`Replay`] says.

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
# A test refuses its lines whose runs another version of colored has made, and names them: remove these.
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
    /// If the file cannot be read, or lines of this test name no run: all of these are named.
    #[track_caller]
    pub(super) fn read(&self) -> Vec<Replay> {
        let file = self.file.display();
        let text = match fs::read_to_string(&self.file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Vec::new(),
            Err(error) => panic!("the failures of simulations in {file}: {error}"),
        };
        self.runs_of(&text).unwrap_or_else(|errors| panic!("{errors}"))
    }

    /// The runs of this test in the text of the file; or what is wrong, a line each.
    fn runs_of(&self, text: &str) -> Result<Vec<Replay>, String> {
        let (mut replays, mut errors) = (Vec::new(), Vec::new());
        for (at, line) in text.lines().enumerate() {
            let mut words = line.split_whitespace();
            if words.next() == Some(&self.name) {
                match words.next().unwrap_or("").parse() {
                    Ok(replay) => replays.push(replay),
                    Err(error) => {
                        errors.push(format!("{}:{}: {error}", self.file.display(), at + 1));
                    }
                }
            }
        }
        if errors.is_empty() { Ok(replays) } else { Err(errors.join("\n")) }
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

#[cfg(test)]
mod tests {
    use super::{HEAD, Kept};

    #[test]
    fn all_lines_that_name_no_run_are_told_at_once() {
        let kept = Kept { file: "bank.sim-failures".into(), name: "pays".to_owned() };
        let good = "pays v2:1:2:0.1n1 # a\npays 3:2: # of an earlier version, without a choice\n";
        let text = format!("{HEAD}{good}");
        assert_eq!(kept.runs_of(&text).unwrap().len(), 2);
        let text = format!("{text}pays 4:2:0.1n1 # b\nearns 5:2:0.1n1\npays\npays v1:6:2:0.1d1\n");
        let errors = kept.runs_of(&text).unwrap_err();
        let places: Vec<_> =
            errors.lines().map(|line| line.split(" names ").next().unwrap()).collect();
        let expected = [(6, "4:2:0.1n1"), (8, ""), (9, "v1:6:2:0.1d1")];
        assert_eq!(
            places,
            expected.map(|(line, text)| format!("bank.sim-failures:{line}: {text:?}"))
        );
    }
}
