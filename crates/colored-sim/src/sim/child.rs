//! A run again, alone in a process that has begun for it: nothing of earlier runs is there, and its addresses are always the
//! same, where the system permits that.
//!
//! The process is the same test binary, which is told to run one test. In that process the simulation finds a variable with
//! the path of a file: it makes the run twice, writes what it has seen, and ends the process.

use super::evidence::{self, Evidence};
use super::personality::fix_addresses;
use super::record::{self, Record};
use crate::{Choices, Outcome, Replay, run_again_keeping};
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use std::{env, fs, thread};

/// The variable with the path of the answer.
const ANSWER: &str = "COLORED_SIM_ANSWER";

/// The variable with the run.
pub(super) const REPLAY: &str = "COLORED_SIM_REPLAY";

/// How long the process may take. A guess: a run takes milliseconds.
const LIMIT: Duration = Duration::from_secs(30);

/// How often the process is looked at.
const LOOK: Duration = Duration::from_millis(3);

/// What a fresh process has seen.
pub(super) struct Answer {
    pub(super) evidence: Evidence,
    pub(super) records: [Record; 2],
}

/// If this process has been started to repeat a run, does so, and ends the process.
pub(super) fn answer_if_asked(
    replay: &Replay,
    mut run: impl FnMut(&Replay, Choices) -> (Outcome, Choices),
) {
    let Some(path) = env::var_os(ANSWER) else { return };
    let mut record = || {
        let (outcome, choices) = run_again_keeping(replay, &mut run);
        Record::new(&outcome, &choices)
    };
    let first = record();
    let evidence = evidence::take();
    let text = record::write(&evidence, [&first, &record()]);
    // Without the file, the process that has asked says so.
    let is_written = fs::write(path, text).is_ok();
    process::exit(i32::from(!is_written));
}

/// Starts a fresh process that runs this test alone, which repeats the run.
///
/// # Errors
///
/// Why there is no answer.
pub(super) fn ask(test: &str, replay: &Replay) -> Result<Answer, String> {
    let path = path_of_answer();
    let answered = start_and_wait(test, replay, &path).and_then(|()| {
        let text =
            fs::read_to_string(&path).map_err(|error| format!("it has not answered: {error}"))?;
        record::read(&text).ok_or_else(|| "its answer is not whole".to_owned())
    });
    let _ = fs::remove_file(&path);
    answered.map(|(evidence, records)| Answer { evidence, records })
}

fn path_of_answer() -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    // Ordering: only the number counts.
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    env::temp_dir().join(format!("colored-sim-{}-{number}", process::id()))
}

fn start_and_wait(test: &str, replay: &Replay, path: &Path) -> Result<(), String> {
    let binary = env::current_exe().map_err(|error| format!("no path of this binary: {error}"))?;
    let mut command = Command::new(binary);
    command.args([test, "--exact", "--include-ignored", "--test-threads=1"]);
    command.env(ANSWER, path).env(REPLAY, replay.to_string());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // The property that it changes is one of the thread.
    let start = move || {
        fix_addresses();
        command.spawn()
    };
    let started = thread::spawn(start).join().expect("it does not panic");
    let mut child = started.map_err(|error| format!("it does not start: {error}"))?;
    for _ in 0..LIMIT.as_millis() / LOOK.as_millis() {
        if child.try_wait().map_err(|error| error.to_string())?.is_some() {
            return Ok(());
        }
        thread::sleep(LOOK);
    }
    let _ = child.kill();
    let _ = child.wait();
    Err(format!("it has not ended within {LIMIT:?}"))
}
