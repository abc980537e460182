use super::{Ahead, InOrder, search_ahead};
use crate::choices::Choices;
use crate::replay::Replay;
use crate::search::{Asked, Found, Outcome, Plan, search};
use crate::strategy::{Act, Strategy};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread::sleep;
use std::time::Duration;

fn plan(seeds: u64, strategy: Strategy) -> Plan {
    let (budget, plateau) = (None, None);
    Plan { seeds: 5..5 + seeds, workers: 1..=8, strategy, shrink_runs: 500, budget, plateau }
}

/// A run whose length depends on its choices. The seed `fails` fails.
fn run(replay: &Replay, mut choices: Choices, fails: u64) -> (Outcome, Choices) {
    let mut turns = 0;
    while turns < 100 && choices.choose(&[0, 1, 2], &[]) < 2 {
        choices.note_act(Act { on: turns % 3, by: Some(choices.made() % 5), takes: false });
        turns += 1;
    }
    let outcome = if replay.seed == fails { Err("it fails".to_owned()) } else { Ok(()) };
    (outcome, choices)
}

/// Makes runs ahead, and panics with the seed `refused`.
struct Both {
    fails: u64,
    refused: u64,
    ahead: AtomicU64,
    has_refused: AtomicBool,
}

impl Both {
    fn new(fails: u64, refused: u64) -> Self {
        let (ahead, has_refused) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { fails, refused, ahead, has_refused }
    }
}

impl Ahead for Both {
    type Made = (u64, Choices);
    type Place = ();

    fn make(&self, (): &mut (), asked: Vec<Asked>) -> Vec<(u64, Choices)> {
        let mut made = Vec::new();
        for Asked { replay, choices } in asked {
            self.ahead.fetch_add(1, SeqCst);
            if replay.seed == self.refused {
                self.has_refused.store(true, SeqCst);
                panic!("of a job");
            }
            let (outcome, choices) = run(&replay, choices, self.fails);
            if outcome.is_err() {
                break;
            }
            made.push((replay.seed, choices));
        }
        made
    }

    fn end(&self) {}
}

struct Here {
    fails: u64,
    every: u64,
    in_order: u64,
    last: u64,
}

impl InOrder<(u64, Choices)> for Here {
    fn make(&mut self, replay: &Replay, choices: Choices) -> (Outcome, Choices) {
        self.in_order += 1;
        run(replay, choices, self.fails)
    }

    fn take(&mut self, (seed, choices): (u64, Choices)) -> Option<Choices> {
        assert!(seed > self.last, "in the order of the seeds");
        self.last = seed;
        (seed % self.every != 0).then_some(choices)
    }
}

fn text(found: &Found) -> String {
    // All but the time.
    let mut found = found.clone();
    if let Some(failure) = &mut found.failure {
        failure.took = Duration::ZERO;
    }
    format!("{found:?}")
}

#[test]
fn the_result_is_that_of_runs_in_order() {
    for strategy in [Strategy::Portfolio, Strategy::Pct { depth: 3 }, Strategy::Random] {
        for (seeds, fails) in [(0, 0), (1, 0), (700, 0), (700, 5), (700, 6), (700, 403)] {
            let plan = plan(seeds, strategy);
            let wanted = text(&search(&plan, |replay, choices| run(replay, choices, fails)));
            for (jobs, every) in [(1, 1000), (2, 1000), (5, 1000), (1, 7), (3, 7)] {
                let ahead = Both::new(fails, u64::MAX);
                let mut here = Here { fails, every, in_order: 0, last: 0 };
                let jobs = NonZeroUsize::new(jobs).unwrap();
                let found = search_ahead(&plan, jobs, &ahead, &mut here);
                assert_eq!(text(&found), wanted, "{strategy:?}, {jobs} jobs, {fails} fails");
                assert!(here.in_order < 800 && (seeds == 0 || ahead.ahead.into_inner() > 0));
            }
        }
    }
}

/// All runs but a few are made ahead.
#[test]
fn runs_are_made_ahead() {
    let plan = plan(1000, Strategy::Portfolio);
    let ahead = Both::new(0, u64::MAX);
    let mut here = Here { fails: 0, every: 2000, in_order: 0, last: 0 };
    let _found = search_ahead(&plan, NonZeroUsize::new(3).unwrap(), &ahead, &mut here);
    assert_eq!(ahead.ahead.into_inner(), 1000);
    // Each 64th is repeated.
    assert_eq!(here.in_order, 15);
}

#[test]
fn a_panic_of_a_job_is_that_of_the_search() {
    for jobs in [1, 3] {
        let plan = plan(300, Strategy::Random);
        let ahead = Both::new(0, 200);
        let mut here = Here { fails: 0, every: 1000, in_order: 0, last: 0 };
        let jobs = NonZeroUsize::new(jobs).unwrap();
        let searched =
            catch_unwind(AssertUnwindSafe(|| search_ahead(&plan, jobs, &ahead, &mut here)));
        let panic = searched.unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"of a job"));
    }
}

/// The run of the seed 104 is made when a job is about to panic with a later one.
struct Behind<'a>(Here, &'a Both);

impl InOrder<(u64, Choices)> for Behind<'_> {
    fn make(&mut self, replay: &Replay, choices: Choices) -> (Outcome, Choices) {
        while replay.seed == 104 && !self.1.has_refused.load(SeqCst) {
            sleep(Duration::from_millis(1));
        }
        self.0.make(replay, choices)
    }

    fn take(&mut self, made: (u64, Choices)) -> Option<Choices> {
        self.0.take(made)
    }
}

#[test]
fn a_panic_of_a_job_behind_a_failure_is_not_that_of_the_search() {
    let plan = plan(300, Strategy::Random);
    let wanted = text(&search(&plan, |replay, choices| run(replay, choices, 104)));
    let ahead = Both::new(104, 150);
    let mut here = Behind(Here { fails: 104, every: 1000, in_order: 0, last: 0 }, &ahead);
    let found = search_ahead(&plan, NonZeroUsize::new(3).unwrap(), &ahead, &mut here);
    assert_eq!(text(&found), wanted);
}

/// Makes none, as where all turns are whole, and notes how many it was asked for at once.
struct Never(AtomicU64);

impl Ahead for Never {
    type Made = (u64, Choices);
    type Place = ();

    fn make(&self, (): &mut (), asked: Vec<Asked>) -> Vec<(u64, Choices)> {
        self.0.fetch_max(asked.len() as u64, SeqCst);
        Vec::new()
    }

    fn end(&self) {}
}

#[test]
fn one_that_makes_none_is_asked_for_one() {
    for jobs in [1, 3] {
        let (plan, ahead) = (plan(300, Strategy::Random), Never(AtomicU64::new(0)));
        let mut here = Here { fails: 0, every: 1000, in_order: 0, last: 0 };
        let found = search_ahead(&plan, NonZeroUsize::new(jobs).unwrap(), &ahead, &mut here);
        assert_eq!((found.seeds, ahead.0.into_inner()), (300, 1), "{jobs} jobs");
    }
}
