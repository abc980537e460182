//! A run that has failed.

use super::again::Test;
use super::child::REPLAY;
use super::examine::{Confirmed, Examined};
use super::{lines, trace};
use crate::{Failure as Found, Replay};
use std::path::Path;
use std::{fmt, fs, io};

/// What a report says if the core is not optimized.
pub(super) fn slow() -> &'static str {
    if colored_core::port::is_optimized() {
        return "";
    }
    "
  slow: colored-core is compiled without optimization, and runs take up to 20 times as long; in the Cargo.toml of the workspace:
    [profile.dev.package.colored-core]
    opt-level = 1"
}

/// The first run that failed, shrunk.
#[derive(Clone, Debug)]
pub struct Failure {
    message: String,
    replay: Replay,
    origin: Origin,
    differs: Option<String>,
    examined: Examined,
    /// Its test.
    test: Option<Test>,
    /// Where it is kept, or why not.
    kept: Option<String>,
    /// How many turns are shown.
    lines: usize,
    /// Where the trace is, or why it is not.
    trace: Option<String>,
}

/// Where a failing run comes from.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    /// A seed, and what its choices were shrunk from: how many, with how many runs, in so many seconds.
    Seed { choices: usize, runs: usize, seconds: f64 },
    /// The file of runs that have failed.
    Kept,
    /// The variable.
    Replay,
}

impl Failure {
    pub(super) fn found(found: &Found, examined: Examined, lines: usize) -> Self {
        let Found { choices, runs, took, .. } = *found;
        let origin = Origin::Seed { choices, runs, seconds: took.as_secs_f64() };
        let differs = examined.differs.as_ref().map(|differs| differs.what.clone());
        Self {
            differs: found.differs.clone().or(differs),
            ..Self::of(found.message.clone(), found.replay.clone(), origin, examined, lines)
        }
    }

    pub(super) fn of(
        message: String,
        replay: Replay,
        origin: Origin,
        examined: Examined,
        lines: usize,
    ) -> Self {
        let (test, kept, trace) = (None, None, None);
        Self { message, replay, origin, differs: None, examined, test, kept, lines, trace }
    }

    /// Writes the trace to this file, and says so in the report.
    pub(super) fn keep_trace(&mut self, path: &Path) {
        let written = fs::File::create(path).and_then(|file| {
            let mut out = io::BufWriter::new(file);
            self.write_trace(&mut out)?;
            io::Write::flush(&mut out)
        });
        let path = path.display();
        self.trace = Some(match written {
            Ok(()) => format!("trace for https://ui.perfetto.dev: {path}"),
            Err(error) => format!("no trace: {path}: {error}"),
        });
    }

    /// Says of which test the run is, and where it is kept.
    pub(super) fn note(&mut self, test: Option<Test>, kept: Option<String>) {
        self.test = test;
        self.kept = kept;
    }

    /// What was wrong: the message and the place of the panic, or what did not end.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The value of `COLORED_SIM_REPLAY` that repeats the run.
    #[must_use]
    pub fn replay(&self) -> String {
        self.replay.to_string()
    }

    /// How many choices of the run are not the default: the worker that ran last goes on, no fault happens, and a
    /// `select!` polls its first branch first.
    #[must_use]
    pub fn choices(&self) -> usize {
        self.replay.choices()
    }

    /// How a second run with the same choices differed. Then something else decides too: see [the
    /// module](index.html#what-is-simulated).
    #[must_use]
    pub fn differs(&self) -> Option<&str> {
        self.differs.as_deref()
    }

    /// What may have decided that a second run differed: the hashers with random keys that a fresh process has seen, or a
    /// static; and in any case the threads that it has seen. Empty where there was no fresh process.
    #[must_use]
    pub fn causes(&self) -> &[String] {
        &self.examined.causes
    }

    /// Whether a fresh process, alone, has failed in the same way.
    #[must_use]
    pub fn is_confirmed_alone(&self) -> bool {
        self.differs.is_none() && matches!(self.examined.confirmed, Confirmed::Alone)
    }

    /// Writes the turns of the run as a file for <https://ui.perfetto.dev>: a track for each worker, in the time of the run. No
    /// time passes in a turn, so each is shown as a microsecond long, and turns of one time stand one behind another.
    ///
    /// # Errors
    ///
    /// The errors of `out`.
    pub fn write_trace(&self, out: &mut impl io::Write) -> io::Result<()> {
        trace::write(out, &self.examined.turns)
    }

    fn write_confirmed(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Origin::Seed { choices, runs, seconds } = self.origin else { return Ok(()) };
        match &self.examined.confirmed {
            Confirmed::Twice => write!(f, "  confirmed by a second run; ")?,
            Confirmed::Alone => write!(f, "  confirmed alone in a fresh process; ")?,
            Confirmed::NotAlone(reason) => {
                write!(
                    f,
                    "  confirmed by a second run, but not in a fresh process, since {reason}; "
                )?;
            }
        }
        let kept = self.replay.choices();
        writeln!(f, "shrunk from {choices} choices to {kept} in {runs} runs, {seconds:.1} s")?;
        let mut causes = self.examined.causes.iter();
        causes.try_for_each(|cause| writeln!(f, "  not simulated: {cause}"))
    }

    fn write_differs(&self, f: &mut fmt::Formatter<'_>, differs: &str) -> fmt::Result {
        let which = match self.examined.confirmed {
            Confirmed::Alone => "a run with the same choices, alone in a fresh process,",
            _ => "a second run with the same choices",
        };
        writeln!(f, "  {which} differs: {differs}")?;
        let difference = self.examined.differs.as_ref();
        if let Some((turn, here, there)) = difference.and_then(|of| of.first_turn.as_ref()) {
            writeln!(f, "  turn {turn} is   {here}\n    and there   {there}")?;
        }
        match &*self.examined.causes {
            [] => writeln!(
                f,
                "  something outside the simulation decides: the order of a HashMap, tokio's `select!` without `biased`, a \
                 real clock, a thread, or state in a static"
            ),
            causes => {
                writeln!(f, "  something outside the simulation decides:")?;
                causes.iter().try_for_each(|cause| writeln!(f, "    {cause}"))
            }
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, replay, .. } = self;
        match self.origin {
            Origin::Kept => {
                writeln!(f, "a run that is kept, of seed {}, fails: {message}", replay.seed)?
            }
            _ => writeln!(f, "seed {} fails: {message}", replay.seed)?,
        }
        match &self.differs {
            Some(differs) => self.write_differs(f, differs)?,
            None => self.write_confirmed(f)?,
        }
        lines::write(f, &self.examined.turns, self.lines)?;
        match &self.test {
            Some(test) => write!(f, "\n  again: {}", test.command(replay))?,
            None => write!(f, "\n  again: {REPLAY}={replay}")?,
        }
        f.write_str(slow())?;
        let mut notes = self.kept.iter().chain(&self.trace);
        notes.try_for_each(|note| write!(f, "\n  {note}"))
    }
}

impl std::error::Error for Failure {}
