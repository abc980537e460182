//! The settings of a simulation, and its seeds.

use super::again::Test;
use super::attempts::Attempts;
use super::child::{self, REPLAY};
use super::examine::{Examined, examine};
use super::exhaustive::Exhaustive;
use super::failure::{Failure, Origin};
use super::faults::Faults;
use super::hosts::MAIN;
use super::jobs::Jobs;
use super::kept::Kept;
use super::report::Report;
use super::run::{Runs, Setup};
use super::runtime::{Runtimes, Shell};
use crate::{
    Limits, Plan, Replay, Strategy, exhaust, run_again, run_again_keeping, search, search_ahead,
};
use std::env;
use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// The most workers of a simulation.
const MOST_WORKERS: usize = 64;

/// Runs that a failure may take to shrink.
const SHRINK_RUNS: usize = 500;

/// The workers of an exhaustive search, unless there are more colors.
const FEW_WORKERS: usize = 16;

/// How many turns of a failure are shown.
const LINES: usize = 20;

/// The settings of a simulation, whose runtimes `R` makes.
#[derive(Clone)]
#[must_use = "a simulation runs by `run`"]
pub struct Builder<R> {
    plan: Plan,
    setup: Setup,
    /// The most runs at once.
    jobs: Option<NonZeroUsize>,
    test: Option<Test>,
    kept: Option<Kept>,
    runtimes: PhantomData<fn() -> R>,
}

impl<R: Runtimes> Default for Builder<R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<R: Runtimes> Builder<R> {
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
        let (faults, hosts) = (Faults::none(), Vec::new());
        let (on_threads, tokio, shell) = (false, false, Shell::of::<R>());
        let setup = Setup { max_turns: 100_000, faults, hosts, on_threads, tokio, shell };
        Self { plan, setup, jobs: None, test: None, kept: None, runtimes: PhantomData }
    }

    /// Makes all runs on threads: turns that are under way at the same time have a thread each. A switch from one to the other
    /// takes some 5 to 10 µs then, in place of some 0.1 µs.
    ///
    /// Some programs need this: a thread-local of theirs leads to the frames of its caller, as the crate `scoped-tls` has them,
    /// and they act on other colors while it is set. On [one thread](index.html#how-runs-are-made) such a program may go astray.
    pub fn on_threads(mut self) -> Self {
        self.setup.on_threads = true;
        self
    }

    /// Gives each host a tokio runtime, for what libraries hand to `tokio::spawn`, as `axum::serve` does. Its tasks run in turns of
    /// the place of blocking calls, behind these: each turn runs all that are runnable, under no color. They use sockets and timers
    /// of the host; tokio's own are off, and panic, and so do its blocking calls. Needs the feature `tokio-context`, without which no
    /// run begins. Makes all runs [on threads](Self::on_threads), because tokio keeps its runtime in a thread-local.
    ///
    /// A panic in such a task fails the run, also if the program waits for the task or catches the panic: tokio catches it anyway,
    /// and a library may tell nobody. **Not so a panic that began elsewhere** and goes on in the task: of a call whose color was busy,
    /// or by `resume_unwind`. Let the client of the test fail where an answer is missing. The order in which `tokio::select!` polls
    /// its branches is no choice of the run; axum's `with_graceful_shutdown` has such a one.
    ///
    /// [Classes](index.html#classes) do not tell such tasks apart: [`until_plateau`](Self::until_plateau) and
    /// [`exhaust`](Self::exhaust) panic.
    pub fn tokio(mut self) -> Self {
        self.setup.tokio = true;
        self.on_threads()
    }

    /// The most runs that are made at once. `COLORED_SIM_JOBS`, or the number of cores, is the limit in any case.
    ///
    /// By default that limit alone counts, but for simulations with [hosts](Self::host): theirs are made one after another,
    /// because what the closures of hosts hold is outside of the runs. Where they share by the network and by
    /// [`shared`](super::shared) alone, say so by a large number. With 1, too, one run is made
    /// after another, in the order of the seeds: for a program whose runs use what is outside of them, such as a static, or a list
    /// in which the test collects what each run has done.
    ///
    /// With more, `program` is called for several seeds at once, also for seeds behind the failing one, and a failing run is made
    /// once more for it: a counter in a static counts all of these. Runs that are under way when the search ends are waited for; one
    /// that has made no choice for 2 s is left behind, with its thread.
    ///
    /// # Panics
    ///
    /// If it is 0.
    #[track_caller]
    pub fn jobs(mut self, jobs: usize) -> Self {
        let jobs = NonZeroUsize::new(jobs);
        assert!(jobs.is_some(), "jobs(0): allowed are 1 and more");
        self.jobs = jobs;
        self
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
    /// that `program` makes is spawned under [`Color::DEFAULT`](colored_core::Color::DEFAULT). `program` is called at the start
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

    /// Ends when so many seeds in a row were of [classes](index.html#classes) that had been seen before. A small program has few.
    pub fn until_plateau(mut self, seeds: u64) -> Self {
        self.plan.plateau = Some(seeds);
        self
    }

    /// The test that runs this simulation, and nothing of effect before it, as `cargo test` prints its name. A failure is
    /// then confirmed in a fresh process: the test binary is started again, and runs this test alone.
    /// `#[colored::test(sim)]` knows its name.
    pub fn test(mut self, name: impl Into<String>) -> Self {
        self.test = Some(Test { path: name.into(), binary: None });
        self
    }

    /// As [`test`](Self::test), for a test whose binary is known.
    pub(super) fn test_of(mut self, test: Test) -> Self {
        self.test = Some(test);
        self
    }

    /// The file in which failing runs are kept: those of this name, which has no white space, are run again before new seeds
    /// are. A new failure is added to the end of the file, which is made if it is not there, unless the variable `CI` is set;
    /// see [the variables](index.html#variables).
    ///
    /// # Panics
    ///
    /// If the path ends in `.rs`, as `file!()` does: a line at the end of a source file keeps it from being compiled.
    #[track_caller]
    pub fn keep_failures(mut self, file: impl Into<PathBuf>, name: impl Into<String>) -> Self {
        let file = file.into();
        let is_source = file.extension().is_some_and(|of| of.eq_ignore_ascii_case("rs"));
        assert!(
            !is_source,
            "keep_failures({file:?}, ..): failures would be appended to this source file; give a file of their own, such as \
             {:?}",
            file.with_extension("sim-failures")
        );
        self.kept = Some(Kept { file, name: name.into() });
        self
    }

    /// Runs the future that `program` makes, once for each seed, until a run fails; then runs the failing schedule again,
    /// and shrinks it. The future runs under [`Color::DEFAULT`](colored_core::Color::DEFAULT); the run ends with it, and drops the
    /// tasks that are left, each under its color.
    ///
    /// While a run lasts, the panics of its threads go to the report in place of the panic hook. Several runs are made at
    /// [once](Self::jobs), on several [threads](index.html#how-runs-are-made): the report is that of the runs one after another,
    /// in the order of their seeds. A run costs some 50 µs and 0.2 to 0.6 µs a turn beside the
    /// program's own time. On threads, each turn that gives way inside costs some 10 µs more, or more on a busy machine.
    ///
    /// # Panics
    ///
    /// If a setting or a [variable](index.html#variables) is out of its range, or [classes](index.html#classes) are asked for with
    /// [`tokio`](Self::tokio). And if a run waits for a lock of std in a static that
    /// is held by a turn which was given up: the message says to make the runs [on threads](Self::on_threads).
    #[track_caller]
    pub fn run<F, P>(self, program: P) -> Report
    where
        P: Fn() -> F + Sync,
        F: Future<Output = ()> + Send + 'static,
    {
        let mut report = self.explore(program);
        if let (Some(failure), Some(path)) = (&mut report.failure, env::var_os("COLORED_SIM_TRACE"))
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
        let Self { mut plan, setup, jobs: most, test, kept, .. } = self;
        let allowed = |workers: &RangeInclusive<usize>| {
            !workers.is_empty() && *workers.start() > 0 && *workers.end() <= MOST_WORKERS
        };
        let workers = &plan.workers;
        assert!(allowed(workers), "workers({workers:?}): allowed are 1 to {MOST_WORKERS}");
        if plan.plateau.is_some() {
            setup.assert_has_classes("until_plateau");
        }
        let lines = variable("COLORED_SIM_LINES").unwrap_or(LINES);
        let jobs = variable::<Jobs>("COLORED_SIM_JOBS").unwrap_or_else(Jobs::of_cores);
        let attempts = Attempts::new(&program, &setup);
        let mut runs = Runs::new(&attempts);
        let mut make = |replay: &Replay, choices| runs.make(replay, choices);
        if let Some(replay) = asked() {
            child::answer_if_asked(&replay, &mut make);
            let (outcome, choices) = run_again_keeping(&replay, make);
            let failed = |message| {
                let examined = Examined::of_turns(choices.turns());
                let mut failure = Failure::of(message, replay, Origin::Replay, examined, lines);
                failure.note(test, None);
                failure
            };
            return Report::of_one(outcome.err().map(failed), runs.seen());
        }
        for replay in kept.as_ref().map_or_else(Vec::new, Kept::read) {
            if let Err(message) = run_again(&replay, &mut make).0 {
                let examined = examine(&replay, true, None, &mut make);
                let mut failure = Failure::of(message, replay, Origin::Kept, examined, lines);
                failure.note(test, None);
                return Report::of_one(Some(failure), runs.seen());
            }
        }
        plan.seeds = seeds(plan.seeds);
        let most = most.or_else(|| (!setup.hosts.is_empty()).then_some(NonZeroUsize::MIN));
        let found = match most {
            Some(NonZeroUsize::MIN) => search(&plan, &mut make),
            most => {
                let jobs = most.map_or(jobs.0, |most| most.min(jobs.0));
                search_ahead(&plan, jobs, &attempts, &mut runs)
            }
        };
        let mut make = |replay: &Replay, choices| runs.make(replay, choices);
        let failure = found.failure.as_ref().map(|failure| {
            let is_determined = failure.differs.is_none();
            let examined = examine(&failure.replay, is_determined, test.as_ref(), &mut make);
            let mut failure = Failure::found(failure, examined, lines);
            let note = kept.filter(|_| failure.differs().is_none()).map(|kept| kept.add(&failure));
            failure.note(test, note);
            failure
        });
        Report { found, failure, seen: runs.seen() }
    }

    /// Makes a run of each [class](index.html#classes) of schedules of a small program, until a run fails, or `runs` were made.
    /// The strategy, the seeds, hosts and faults have no meaning here; there is a worker for each color. Turns have the full
    /// budget, and nothing is drawn: `buggify!` makes no faults.
    ///
    /// No class is left out if the colors of the program share nothing but what they call, post and spawn, and do not read
    /// whether another color is busy (`try_` functions). The number of classes grows fast: programs of a few colors and some
    /// ten turns have hundreds.
    ///
    /// # Panics
    ///
    /// As [`run`](Self::run).
    #[track_caller]
    pub fn exhaust<F, P>(self, runs: u64, program: P) -> Exhaustive
    where
        P: Fn() -> F + Sync,
        F: Future<Output = ()> + Send + 'static,
    {
        self.setup.assert_has_classes("exhaust");
        let setup = Setup { faults: Faults::none(), hosts: Vec::new(), ..self.setup };
        let (mut workers, lines) = (FEW_WORKERS, variable("COLORED_SIM_LINES").unwrap_or(LINES));
        loop {
            let attempts = Attempts::new(&program, &setup);
            let mut made = Runs::new(&attempts);
            let mut make = |replay: &Replay, choices| made.make(replay, choices);
            let limits = Limits { workers, runs, shrink_runs: self.plan.shrink_runs };
            let found = exhaust(&limits, &mut make);
            let failure = found.failure.as_ref().map(|failure| {
                let is_determined = failure.differs.is_none();
                let examined = examine(&failure.replay, is_determined, None, &mut make);
                Failure::found(failure, examined, lines)
            });
            let has_few_colors = made.colors() <= workers;
            if has_few_colors || workers == MOST_WORKERS {
                return Exhaustive::new(&found, has_few_colors, failure);
            }
            workers = MOST_WORKERS;
        }
    }
}

impl<R> fmt::Debug for Builder<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts: Vec<_> = self.setup.hosts.iter().map(|(name, _)| name).collect();
        f.debug_struct("Builder")
            .field("plan", &self.plan)
            .field("jobs", &self.jobs)
            .field("max_turns", &self.setup.max_turns)
            .field("faults", &self.setup.faults)
            .field("hosts", &hosts)
            .finish()
    }
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

/// The run that the variable names, or the command of a report.
#[track_caller]
fn asked() -> Option<Replay> {
    let of_command = || {
        let mut arguments = env::args_os().skip(1).filter_map(|of| of.into_string().ok());
        arguments.find_map(|of| Some(of.strip_prefix(REPLAY)?.strip_prefix('=')?.to_owned()))
    };
    variable(REPLAY).or_else(|| of_command().map(|text| parsed(REPLAY, "argument", &text)))
}

/// The value of a variable, if it is set.
#[track_caller]
fn variable<T: FromStr<Err: Display>>(name: &str) -> Option<T> {
    let value = env::var_os(name)?;
    let Some(text) = value.to_str() else {
        panic!("the environment variable {name} is {value:?}, which is no text");
    };
    Some(parsed(name, "environment variable", text))
}

#[track_caller]
fn parsed<T: FromStr<Err: Display>>(name: &str, kind: &str, text: &str) -> T {
    text.parse().unwrap_or_else(|error| panic!("the {kind} {name} is {text:?}: {error}"))
}
