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
use std::time::Duration;

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

/// The length of a run before the first one has ended. A guess.
const LENGTH: Length = Length { turns: 200, points: 400 };

/// Runs the program for each seed, until one fails. `run` makes the choices of a run, and gives them back with its outcome.
pub fn search(plan: &Plan, mut run: impl FnMut(&Replay, Choices) -> (Outcome, Choices)) -> Found {
    let (mut schedules, mut classes) = (HashSet::new(), Classes::default());
    let mut length = LENGTH;
    let (mut seeds, mut digest, mut failure) = (0, 0_u64, None);
    let begin = wall::now();
    let mut end = End::Seeds;
    for seed in plan.seeds.clone() {
        if plan.budget.is_some_and(|budget| begin.elapsed() >= budget) {
            end = End::Budget;
            break;
        }
        if plan.plateau.is_some_and(|plateau| classes.since_new() >= plateau) {
            end = End::Plateau;
            break;
        }
        seeds += 1;
        let workers = Rng::with_seed(!seed).usize(plan.workers.clone());
        let choices = Choices::by(plan.strategy.begin(seed, length));
        let mut replay = Replay::new(seed, workers);
        let (outcome, choices) = run(&replay, choices);
        length = choices.length();
        let trail = choices.trail();
        digest = (digest.rotate_left(9) ^ trail).wrapping_mul(0x0100_0000_01b3);
        schedules.insert(trail);
        classes.add(choices.class());
        let is_repeated = seed % REPEATED == 0;
        if is_repeated || outcome.is_err() {
            replay.deviations = choices.deviations();
        }
        failure = match outcome {
            Err(message) => Some(confirm(plan.shrink_runs, replay, trail, message, &mut run)),
            Ok(()) if is_repeated => {
                differs(&replay, trail, &Ok(()), &mut run).map(|differs| Failure {
                    message: "the run is not determined by its choices".to_owned(),
                    choices: replay.choices(),
                    replay,
                    runs: 0,
                    took: Duration::ZERO,
                    differs: Some(differs),
                })
            }
            Ok(()) => None,
        };
        if failure.is_some() {
            break;
        }
    }
    let (schedules, unseen) = (schedules.len(), classes.unseen());
    Found { seeds, schedules, classes: classes.len(), unseen, digest, end, failure }
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
    use super::{End, Plan, search};
    use crate::strategy::{Act, Strategy};
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
