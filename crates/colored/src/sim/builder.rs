//! The settings of a simulation, and its seeds.

use super::exhaustive::Exhaustive;
use super::report::Report;
use super::run::Runs;
use colored_sim::{Limits, Plan, Replay, Strategy, exhaust, run_again, search};
use std::env;
use std::fmt::Display;
use std::ops::{Range, RangeInclusive};
use std::str::FromStr;

/// The most workers of a simulation.
const MOST_WORKERS: usize = 64;

/// Runs that a failure may take to shrink.
const SHRINK_RUNS: usize = 500;

/// Runs of [`check_exhaustively`].
const EXHAUSTIVE_RUNS: u64 = 100_000;

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
#[derive(Clone, Debug)]
#[must_use = "a simulation runs by `run`"]
pub struct Builder {
    plan: Plan,
    max_turns: u64,
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
            plateau: None,
        };
        Self { plan, max_turns: 100_000 }
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

    /// Ends the search when so many runs in a row were of [classes](super#classes) that it had seen before. By default it
    /// runs all seeds.
    pub fn until_plateau(mut self, runs: u64) -> Self {
        self.plan.plateau = Some(runs);
        self
    }

    /// A run that takes more turns fails, because it does not end.
    pub fn max_turns(mut self, turns: u64) -> Self {
        self.max_turns = turns;
        self
    }

    /// Runs the future that `program` makes, once for each seed, until a run fails; then runs the failing schedule again,
    /// and shrinks it. The future runs under [`Color::DEFAULT`](crate::Color::DEFAULT); the run ends with it, and drops the
    /// tasks that are left, each under its color.
    ///
    /// While a run lasts, the panics of its threads go to the report in place of the panic hook. Runs are made one after
    /// another, each on threads of its own, of which one goes on at a time. A run costs some 0.1 ms and 0.2 to 1 µs a turn
    /// beside the program's own time; and some 10 µs for each turn that gives way inside.
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
        let Self { mut plan, max_turns } = self;
        let allowed = |workers: &RangeInclusive<usize>| {
            !workers.is_empty() && *workers.start() > 0 && *workers.end() <= MOST_WORKERS
        };
        let workers = &plan.workers;
        assert!(allowed(workers), "workers({workers:?}): allowed are 1 to {MOST_WORKERS}");
        let mut runs = Runs::new(&program, max_turns);
        if let Some(replay) = variable::<Replay>("COLORED_SIM_REPLAY") {
            let outcome = run_again(&replay, |replay, choices| runs.make(replay, choices));
            return Report::of_replay(replay, outcome, runs.seen());
        }
        plan.seeds = seeds(plan.seeds);
        let found = search(&plan, |replay, choices| runs.make(replay, choices));
        Report::new(found, runs.seen())
    }

    /// Makes a run of each [class](super#classes) of schedules of a small program, until a run fails, or `runs` were made.
    /// The strategy and the seeds have no meaning here; there is a worker for each color. Turns have the full budget, and
    /// [`buggify!`](super::buggify) makes no faults.
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
        let (mut found, mut colors) = (None, 0);
        for workers in [16, MOST_WORKERS] {
            let mut made = Runs::new(&program, self.max_turns);
            let limits = Limits { workers, runs, shrink_runs: self.plan.shrink_runs };
            found = Some(exhaust(&limits, |replay, choices| made.make(replay, choices)));
            colors = made.colors();
            if colors <= workers {
                break;
            }
        }
        Exhaustive::new(found.expect("some number of workers was tried"), colors <= MOST_WORKERS)
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

/// Makes a run of each [class](super#classes) of schedules of a small program, and panics with the report if a run fails, or
/// if the program has too many: [`Builder::exhaust`] with at most 100,000 runs. Returns the number of classes.
///
/// # Panics
///
/// So.
///
/// # Examples
///
/// ```
/// use colored::{ColorCell, sim, spawn_colored};
///
/// let classes = sim::check_exhaustively(|| async {
///     let sum = ColorCell::new(1, 0);
///     let add = |color: u64| {
///         let sum = sum.clone();
///         spawn_colored(color, async move { sum.call(|sum| *sum += 1).await })
///     };
///     let (one, two) = (add(2), add(3));
///     one.await.unwrap();
///     two.await.unwrap();
///     assert_eq!(sum.call(|sum| *sum).await, 2);
/// });
/// assert!(classes > 1, "either task may be the first");
/// ```
#[track_caller]
pub fn check_exhaustively<F, P>(program: P) -> usize
where
    P: Fn() -> F + Sync,
    F: Future<Output = ()> + Send + 'static,
{
    let found = Builder::new().exhaust(EXHAUSTIVE_RUNS, program);
    assert!(found.is_complete(), "{found}");
    found.classes()
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
