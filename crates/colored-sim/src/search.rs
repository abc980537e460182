//! Runs by seed, until one fails.

use crate::choices::{Choices, kind};
use crate::classes::Classes;
use crate::replay::Replay;
use crate::shrink::shrink;
use crate::strategy::{Length, Strategy};
use crate::wall;
use fastrand::Rng;
use std::collections::HashSet;
use std::ops::{Range, RangeInclusive};
use std::time::{Duration, Instant};

/// The search's settings.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The seeds, one run each.
    pub seeds: Range<u64>,
    /// The numbers of workers; a seed draws one.
    pub workers: RangeInclusive<usize>,
    /// How the runs choose.
    pub strategy: Strategy,
    /// Runs that may be spent on shrinking a failure.
    pub shrink_runs: usize,
    /// After this time no seed begins.
    pub budget: Option<Duration>,
    /// The search ends when so many seeds in a row were of classes that it had seen before.
    pub plateau: Option<u64>,
}

/// How a run has ended: `Err` with what was wrong.
pub type Outcome = Result<(), String>;

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Found {
    /// How many seeds have been run.
    pub seeds: u64,
    /// How many different schedules these were.
    pub schedules: usize,
    /// How many classes of schedules: schedules of one class act on each color in the same order.
    pub classes: usize,
    /// An estimate of the chance that another seed is of a class that was not seen.
    pub unseen: f64,
    /// A hash of the trails of all runs, in their order.
    pub digest: u64,
    /// Why no more seeds were run.
    pub end: End,
    /// The first failure.
    pub failure: Option<Failure>,
}

/// Why a search has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All seeds have been run, or one has failed.
    Seeds,
    /// The time was over.
    Budget,
    /// No new classes of schedules came.
    Plateau,
}

/// A run that failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What was wrong.
    pub message: String,
    /// The run with the fewest choices that fails in this way; of a run that differed, the run itself.
    pub replay: Replay,
    /// How many choices of the first failing run were not the default.
    pub choices: usize,
    /// How many runs the shrinking took.
    pub runs: usize,
    /// How long the shrinking took.
    pub took: Duration,
    /// What a second run with the same choices did, if it did something else.
    pub differs: Option<String>,
}

/// A run is repeated, and compared with itself, once in so many seeds.
const REPEATED: u64 = 64;

/// The length of a run before the first one has ended. A guess: what is to happen at a random moment of it happens early in a
/// longer run, and in a shorter one it may not happen.
const LENGTH: Length = Length { turns: 20, points: 40, choices: 30, steps: 60 };

/// Runs the program for each seed, until one fails. `run` makes the choices of a run, and gives them back with its outcome.
pub fn search(plan: &Plan, mut run: impl FnMut(&Replay, Choices) -> (Outcome, Choices)) -> Found {
    let mut walk = Walk::new(plan);
    while walk.goes_on() {
        let Asked { replay, choices } = walk.asks().ask(walk.next());
        let (outcome, choices) = run(&replay, choices);
        walk.add(replay, outcome, &choices, &mut run);
    }
    walk.found()
}

/// A run that a search asks for.
pub struct Asked {
    /// Its seed and its workers.
    pub replay: Replay,
    /// Its choices.
    pub choices: Choices,
}

/// What decides how the runs of a search begin.
pub(crate) struct Asks<'p> {
    plan: &'p Plan,
    /// By number, the length of each run that has been added, with the choices of all until then, of so many steps. A run of one
    /// worker has few, and says little of the next one.
    lengths: Vec<Length>,
}

impl<'p> Asks<'p> {
    pub(crate) fn new(plan: &'p Plan) -> Self {
        Self { plan, lengths: Vec::new() }
    }

    /// How many runs have been added.
    pub(crate) fn known(&self) -> u64 {
        self.lengths.len() as u64
    }

    /// Runs of smaller numbers can be asked for.
    pub(crate) fn end(&self) -> u64 {
        (2 * self.known()).max(1).min(self.plan.seeds.end.saturating_sub(self.plan.seeds.start))
    }

    /// The run of this number. A strategy that wants to know the length of the run is told that of the run of half the number,
    /// so that several runs can be made at once.
    pub(crate) fn ask(&self, number: u64) -> Asked {
        let length = match number {
            0 => LENGTH,
            _ => self.lengths[number as usize / 2],
        };
        let replay = self.replay(number);
        let choices = Choices::by(self.plan.strategy.begin(replay.seed, length));
        Asked { replay, choices }
    }

    /// The seed and the workers of the run of this number.
    pub(crate) fn replay(&self, number: u64) -> Replay {
        let seed = self.plan.seeds.start + number;
        Replay::new(seed, Rng::with_seed(!seed).usize(self.plan.workers.clone()))
    }

    /// A run has been added.
    pub(crate) fn note(&mut self, mut length: Length) {
        if let Some(before) = self.lengths.last() {
            length.choices += before.choices;
            length.steps += before.steps;
        }
        self.lengths.push(length);
    }
}

/// A search, which goes from seed to seed.
pub(crate) struct Walk<'p> {
    asks: Asks<'p>,
    begin: Instant,
    schedules: HashSet<u64>,
    classes: Classes,
    digest: u64,
    failure: Option<Failure>,
    end: End,
}

impl<'p> Walk<'p> {
    pub(crate) fn new(plan: &'p Plan) -> Self {
        Self {
            asks: Asks::new(plan),
            begin: wall::now(),
            schedules: HashSet::new(),
            classes: Classes::default(),
            digest: 0,
            failure: None,
            end: End::Seeds,
        }
    }

    pub(crate) fn asks(&self) -> &Asks<'p> {
        &self.asks
    }

    /// The number of the next run.
    pub(crate) fn next(&self) -> u64 {
        self.asks.known()
    }

    /// Whether another run is wanted.
    pub(crate) fn goes_on(&mut self) -> bool {
        let plan = self.asks.plan;
        if self.failure.is_some() || self.next() == self.asks.end() {
            return false;
        }
        if plan.budget.is_some_and(|budget| self.begin.elapsed() >= budget) {
            self.end = End::Budget;
        } else if plan.plateau.is_some_and(|plateau| self.classes.since_new() >= plateau) {
            self.end = End::Plateau;
        }
        self.end == End::Seeds
    }

    /// Adds the next run. Returns its length.
    pub(crate) fn add(
        &mut self,
        mut replay: Replay,
        outcome: Outcome,
        choices: &Choices,
        run: &mut impl FnMut(&Replay, Choices) -> (Outcome, Choices),
    ) -> Length {
        let trail = choices.trail();
        self.digest = (self.digest.rotate_left(9) ^ trail).wrapping_mul(0x0100_0000_01b3);
        self.schedules.insert(trail);
        self.classes.add(choices.class());
        self.asks.note(choices.length());
        let is_repeated = replay.seed.is_multiple_of(REPEATED);
        if is_repeated || outcome.is_err() {
            replay.deviations = choices.deviations();
        }
        let shrink_runs = self.asks.plan.shrink_runs;
        self.failure = match outcome {
            Err(message) => Some(confirm(shrink_runs, replay, trail, message, run)),
            Ok(()) if is_repeated => differs(&replay, trail, &Ok(()), run).map(|differs| Failure {
                message: "the run is not determined by its choices".to_owned(),
                choices: replay.choices(),
                replay,
                runs: 0,
                took: Duration::ZERO,
                differs: Some(differs),
            }),
            Ok(()) => None,
        };
        choices.length()
    }

    pub(crate) fn found(self) -> Found {
        let (seeds, schedules) = (self.next(), self.schedules.len());
        let Self { classes, digest, end, failure, .. } = self;
        let unseen = classes.unseen();
        Found { seeds, schedules, classes: classes.len(), unseen, digest, end, failure }
    }
}

/// Runs one run again.
pub fn run_again(
    replay: &Replay,
    run: impl FnOnce(&Replay, Choices) -> (Outcome, Choices),
) -> (Outcome, Choices) {
    run(replay, Choices::replay(replay.deviations.clone()))
}

/// As [`run_again`], and keeps the turns.
pub fn run_again_keeping(
    replay: &Replay,
    run: impl FnOnce(&Replay, Choices) -> (Outcome, Choices),
) -> (Outcome, Choices) {
    run(replay, Choices::replay(replay.deviations.clone()).keeping_turns())
}

/// What a second run does otherwise, if it does.
fn differs(
    replay: &Replay,
    trail: u64,
    outcome: &Outcome,
    run: &mut impl FnMut(&Replay, Choices) -> (Outcome, Choices),
) -> Option<String> {
    let choices = Choices::replay(replay.deviations.clone());
    let (again, choices) = run(replay, if outcome.is_ok() { choices.exploring() } else { choices });
    match again {
        Err(message) if outcome.as_ref().err() != Some(&message) => Some(message),
        Ok(()) if outcome.is_err() => Some("it ends without a failure".to_owned()),
        _ if choices.trail() != trail => Some("it makes other turns".to_owned()),
        _ => None,
    }
}

/// Runs a failing run again, and removes the choices that it does not need.
pub(crate) fn confirm(
    shrink_runs: usize,
    mut replay: Replay,
    trail: u64,
    message: String,
    run: &mut impl FnMut(&Replay, Choices) -> (Outcome, Choices),
) -> Failure {
    let choices = replay.choices();
    if let Some(differs) = differs(&replay, trail, &Err(message.clone()), run) {
        let took = Duration::ZERO;
        return Failure { message, replay, choices, runs: 0, took, differs: Some(differs) };
    }
    let begin = wall::now();
    let mut runs = 0;
    let mut attempt = replay.clone();
    replay.deviations = shrink(replay.deviations.clone(), shrink_runs, kind, |deviations| {
        runs += 1;
        attempt.deviations.clone_from(deviations);
        run(&attempt, Choices::replay(deviations.clone())).0.err().as_ref() == Some(&message)
    });
    Failure { message, replay, choices, runs, took: begin.elapsed(), differs: None }
}

#[cfg(test)]
mod tests {
    use super::{Asks, End, Plan, search};
    use crate::strategy::{Act, Length, Strategy};
    use std::time::Duration;

    fn plan() -> Plan {
        Plan {
            seeds: 0..1000,
            workers: 1..=8,
            strategy: Strategy::Portfolio,
            shrink_runs: 500,
            budget: None,
            plateau: None,
        }
    }

    /// Two actors read, and then write, a number: one increment may be lost.
    #[test]
    fn a_lost_update_is_found_and_shrunk_to_one_choice() {
        let found = search(&plan(), |_, mut choices| {
            let (mut number, mut read, mut steps) = (0, [0; 2], [0; 2]);
            loop {
                let runnable: Vec<usize> = (0..2).filter(|actor| steps[*actor] < 20).collect();
                let Some(_) = runnable.first() else { break };
                let actor = choices.choose(&runnable, &[]);
                match steps[actor] {
                    10 => read[actor] = number,
                    11 => number = read[actor] + 1,
                    _ => {}
                }
                steps[actor] += 1;
            }
            let outcome = if number == 2 { Ok(()) } else { Err(format!("the number is {number}")) };
            (outcome, choices)
        });
        let failure = found.failure.expect("half of the random schedules lose an update");
        assert_eq!(failure.message, "the number is 1");
        assert!(failure.differs.is_none());
        assert!((1..=2).contains(&failure.replay.choices()), "{}", failure.replay);
    }

    /// Most tests are of small programs, and many bugs are found by a few runs: the first one counts.
    #[test]
    fn the_first_run_of_a_small_program_has_its_changes() {
        let has_changed = |seed: &u64| {
            let strategy = Strategy::Pct { depth: 2 };
            let plan = Plan { seeds: *seed..*seed + 1, strategy, ..plan() };
            let mut chosen = Vec::new();
            search(&plan, |_, mut choices| {
                let chosen_now = (0..20).map(|_| choices.choose(&[0, 1, 2], &[])).collect();
                chosen = chosen_now;
                (Ok(()), choices)
            });
            chosen.iter().any(|actor| *actor != chosen[0])
        };
        let changed = (1..51).filter(has_changed).count();
        assert!(changed > 25, "{changed} of 50");
    }

    #[test]
    fn a_run_is_told_the_share_of_choices_of_all_runs_before() {
        let plan = plan();
        let mut asks = Asks::new(&plan);
        asks.note(Length { turns: 10, points: 0, choices: 3, steps: 10 });
        asks.note(Length { turns: 20, points: 5, choices: 30, steps: 50 });
        assert_eq!(asks.lengths[0], Length { turns: 10, points: 0, choices: 3, steps: 10 });
        assert_eq!(asks.lengths[1], Length { turns: 20, points: 5, choices: 33, steps: 60 });
    }

    #[test]
    fn a_run_that_something_else_decides_is_reported() {
        let mut runs = 0;
        let found = search(&plan(), |_, mut choices| {
            runs += 1;
            choices.note(runs);
            (Ok(()), choices)
        });
        let failure = found.failure.unwrap();
        assert_eq!(found.seeds, 1);
        assert_eq!(failure.differs.unwrap(), "it makes other turns");
    }

    #[test]
    fn a_failure_that_does_not_come_again_is_reported() {
        let mut runs = 0;
        let found = search(&plan(), |_, choices| {
            runs += 1;
            (if runs == 5 { Err("once".to_owned()) } else { Ok(()) }, choices)
        });
        let failure = found.failure.unwrap();
        assert_eq!(failure.message, "once");
        assert_eq!(failure.differs.unwrap(), "it ends without a failure");
    }

    #[test]
    fn a_program_that_does_not_fail_is_run_for_each_seed() {
        let found = search(&plan(), |_, mut choices| {
            for _ in 0..10 {
                let _actor = choices.choose(&[0, 1], &[]);
            }
            (Ok(()), choices)
        });
        assert!(found.failure.is_none());
        assert_eq!(found.seeds, 1000);
        assert!(found.schedules > 200, "{}", found.schedules);
        assert_eq!(found.classes, 1, "nothing was done to a color");
    }

    #[test]
    fn it_ends_when_the_time_is_over_or_nothing_new_comes() {
        let budget = Plan { budget: Some(Duration::ZERO), ..plan() };
        let found = search(&budget, |_, choices| (Ok(()), choices));
        assert_eq!((found.seeds, found.end), (0, End::Budget));
        let plateau = Plan { plateau: Some(20), ..plan() };
        let found = search(&plateau, |replay, mut choices| {
            choices.note_act(Act { on: replay.seed.min(40), by: None, takes: false });
            (Ok(()), choices)
        });
        // The seeds 40 to 60 are of one class.
        assert_eq!((found.seeds, found.classes, found.end), (61, 41, End::Plateau));
        assert!(found.unseen > 0.6, "40 of 61 were alone: {}", found.unseen);
    }
}
