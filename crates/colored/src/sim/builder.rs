//! The settings of a simulation, and its seeds.

use super::child::{self, REPLAY};
use super::examine::{Examined, examine};
use super::failure::Failure;
use super::faults::Faults;
use super::hosts::MAIN;
use super::kept::Kept;
use super::report::Report;
use super::run::{self, Setup, Sometimes};
use crate::time::Duration;
use colored_sim::{Plan, Replay, Strategy, run_again, run_again_keeping, search};
use std::env;
use std::fmt::{self, Display};
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

/// The most workers of a simulation.
const MOST_WORKERS: usize = 64;

/// Runs that a failure may take to shrink.
const SHRINK_RUNS: usize = 500;

/// How many turns of a failure are shown.
const LINES: usize = 20;

/// The settings of a simulation.
///
/// # Examples
///
/// ```
/// use colored::sim::{Builder, Strategy};
/// use colored::time::{Duration, sleep};
///
/// let report = Builder::new().seeds(0..20).workers(1..=4).strategy(Strategy::Random).run(|| async {
///     sleep(Duration::from_secs(3600)).await;
/// });
/// report.assert_passed();
/// assert_eq!(report.seeds(), 20);
/// ```
#[derive(Clone)]
#[must_use = "a simulation runs by `run`"]
pub struct Builder {
    plan: Plan,
    setup: Setup,
    test: Option<String>,
    kept: Option<Kept>,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// 1,000 seeds, 1 to 16 workers, [`Strategy::Portfolio`], 100,000 turns.
    pub fn new() -> Self {
        let plan = Plan {
            seeds: 0..1000,
            workers: 1..=16,
            strategy: Strategy::Portfolio,
            shrink_runs: SHRINK_RUNS,
            budget: None,
            plateau: None,
        };
        let setup = Setup { max_turns: 100_000, faults: Faults::none(), hosts: Vec::new() };
        Self { plan, setup, test: None, kept: None }
    }

    /// The seeds: one run each, until one fails.
    pub fn seeds(mut self, seeds: Range<u64>) -> Self {
        self.plan.seeds = seeds;
        self
    }

    /// The numbers of workers, 1 to 64; a seed draws one. Colors of one worker run in the order in which they became
    /// runnable, so few workers give long lines, and many give the strategy more to choose from.
    pub fn workers(mut self, workers: RangeInclusive<usize>) -> Self {
        self.plan.workers = workers;
        self
    }

    /// How a seed chooses the next turn.
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.plan.strategy = strategy;
        self
    }

    /// A run that takes more turns fails, because it does not end.
    pub fn max_turns(mut self, turns: u64) -> Self {
        self.setup.max_turns = turns;
        self
    }

    /// The faults that happen, by the choices of a run. Default: none.
    pub fn faults(mut self, faults: Faults) -> Self {
        self.setup.faults = faults;
        self
    }

    /// A host beside that of the main future: a runtime of its own, with the same number of workers, on which the future
    /// that `program` makes is spawned under [`Color::DEFAULT`](crate::Color::DEFAULT). `program` is called at the start
    /// of each run, and again when the host is [restarted](super::Host::restart) after a [crash](super::Host::crash).
    ///
    /// All hosts start before the main future. The host stays up when its future has ended; a panic of the future fails
    /// the run. State of the closure outlives a crash, so it should have none: what a real process would find after its
    /// restart is in files.
    ///
    /// # Panics
    ///
    /// If there is a host of this name; `"main"` runs the main future.
    #[track_caller]
    pub fn host<F, P>(mut self, name: impl Into<String>, program: P) -> Self
    where
        P: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let name = name.into();
        let is_known = name == MAIN || self.setup.hosts.iter().any(|(known, _)| *known == name);
        assert!(!is_known, "host({name:?}): there is a host of this name");
        self.setup.hosts.push((name, Arc::new(move || Box::pin(program()))));
        self
    }

    /// After this time, of the system's clock, no further seed begins.
    pub fn budget(mut self, budget: Duration) -> Self {
        self.plan.budget = Some(budget);
        self
    }

    /// Ends when so many seeds in a row have brought no new schedule. A small program has few schedules.
    pub fn until_plateau(mut self, seeds: u64) -> Self {
        self.plan.plateau = Some(seeds);
        self
    }

    /// The test that runs this simulation, and nothing of effect before it, as `cargo test` prints its name. A failure is
    /// then confirmed in a fresh process: the test binary is started again, and runs this test alone.
    /// [`#[colored::test(sim)]`](macro@crate::test) knows its name.
    pub fn test(mut self, name: impl Into<String>) -> Self {
        self.test = Some(name.into());
        self
    }

    /// The file in which failing runs are kept: those of this name, which has no white space, are run again before new seeds
    /// are. A new failure is added to the file, unless the variable `CI` is set; see [the
    /// variables](super#variables).
    pub fn keep_failures(mut self, file: impl Into<PathBuf>, name: impl Into<String>) -> Self {
        self.kept = Some(Kept { file: file.into(), name: name.into() });
        self
    }

    /// Runs the future that `program` makes, once for each seed, until a run fails; then runs the failing schedule again,
    /// and shrinks it. The future runs under [`Color::DEFAULT`](crate::Color::DEFAULT); the run ends with it, and drops the
    /// tasks that are left, each under its color.
    ///
    /// While a run lasts, the panics of its thread go to the report in place of the panic hook. Runs are made one after
    /// another, each on a thread of its own. A run costs some 0.1 ms and 0.2 to 1 µs a turn beside the program's own time.
    ///
    /// # Panics
    ///
    /// If a setting or a [variable](super#variables) is out of its range.
    #[track_caller]
    pub fn run<F, P>(self, program: P) -> Report
    where
        P: Fn() -> F + Sync,
        F: Future<Output = ()> + Send + 'static,
    {
        let mut report = self.explore(program);
        if let (Some(failure), Some(path)) =
            (report.failure_mut(), env::var_os("COLORED_SIM_TRACE"))
        {
            failure.keep_trace(Path::new(&path));
        }
        report
    }

    /// Makes the run that a variable names; or those that are kept, and then those of the seeds.
    #[track_caller]
    fn explore<F, P>(self, program: P) -> Report
    where
        P: Fn() -> F + Sync,
        F: Future<Output = ()> + Send + 'static,
    {
        let Self { mut plan, setup, test, kept } = self;
        let allowed = |workers: &RangeInclusive<usize>| {
            !workers.is_empty() && *workers.start() > 0 && *workers.end() <= MOST_WORKERS
        };
        let workers = &plan.workers;
        assert!(allowed(workers), "workers({workers:?}): allowed are 1 to {MOST_WORKERS}");
        let lines = variable("COLORED_SIM_LINES").unwrap_or(LINES);
        let mut sometimes = Sometimes::new();
        let mut make =
            |replay: &Replay, choices| run::make(&program, replay, choices, &setup, &mut sometimes);
        if let Some(replay) = variable::<Replay>(REPLAY) {
            child::answer_if_asked(&replay, &mut make);
            let (outcome, choices) = run_again_keeping(&replay, make);
            let failed = |message| {
                let examined = Examined::of_turns(choices.turns());
                Failure::replayed(message, replay, examined, lines)
            };
            return Report::of_one(outcome.err().map(failed), sometimes);
        }
        for replay in kept.as_ref().map_or_else(Vec::new, Kept::read) {
            if let Err(message) = run_again(&replay, &mut make).0 {
                let examined = examine(&replay, true, None, &mut make);
                let mut failure = Failure::kept(message, replay, examined, lines);
                failure.note(test, None);
                return Report::of_one(Some(failure), sometimes);
            }
        }
        plan.seeds = seeds(plan.seeds);
        let found = search(&plan, &mut make);
        let failure = found.failure.as_ref().map(|failure| {
            let is_determined = failure.differs.is_none();
            let examined = examine(&failure.replay, is_determined, test.as_deref(), &mut make);
            let mut failure = Failure::found(failure, examined, lines);
            let note = kept.filter(|_| failure.differs().is_none()).map(|kept| kept.add(&failure));
            failure.note(test, note);
            failure
        });
        Report::new(found, failure, sometimes)
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts: Vec<_> = self.setup.hosts.iter().map(|(name, _)| name).collect();
        f.debug_struct("Builder")
            .field("plan", &self.plan)
            .field("max_turns", &self.setup.max_turns)
            .field("faults", &self.setup.faults)
            .field("hosts", &hosts)
            .finish()
    }
}

/// Runs a program with the settings of [`Builder::new`], and panics with the report if a run fails.
///
/// # Panics
///
/// If a run fails, and as [`Builder::run`].
///
/// # Examples
///
/// ```
/// # fn main() {
/// colored::sim::check(|| async {
///     let task = colored::spawn_colored(7, async { 6 * 7 });
///     assert_eq!(task.await.unwrap(), 42);
/// });
/// # }
/// ```
#[track_caller]
pub fn check<F, P>(program: P)
where
    P: Fn() -> F + Sync,
    F: Future<Output = ()> + Send + 'static,
{
    Builder::new().run(program).assert_passed();
}

/// Returns the seeds that the variables name; without variables, the program names them.
#[track_caller]
fn seeds(of_program: Range<u64>) -> Range<u64> {
    let first = variable("COLORED_SIM_SEED");
    match (first, variable("COLORED_SIM_SEEDS")) {
        (None, None) => of_program,
        (Some(first), None) => first..first.saturating_add(1),
        (first, Some(count)) => {
            let first: u64 = first.unwrap_or(0);
            first..first.saturating_add(count)
        }
    }
}

/// The value of a variable, if it is set.
#[track_caller]
fn variable<T: FromStr<Err: Display>>(name: &str) -> Option<T> {
    let value = env::var_os(name)?;
    let Some(text) = value.to_str() else {
        panic!("the environment variable {name} is {value:?}, which is no text");
    };
    match text.parse() {
        Ok(value) => Some(value),
        Err(error) => panic!("the environment variable {name} is {text:?}: {error}"),
    }
}
