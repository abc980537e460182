//! What a failing run is, before it is reported: once more with its turns, then alone in a fresh process, and compared.

use super::again::Test;
use super::child::{self, Answer};
use super::evidence::Evidence;
use super::record::{Difference, Record};
use crate::{Choices, Outcome, Replay, Turn, run_again_keeping};

/// What is known of a failing run.
#[derive(Clone, Debug, Default)]
pub(super) struct Examined {
    pub(super) turns: Vec<Turn>,
    pub(super) confirmed: Confirmed,
    /// How a further run differs.
    pub(super) differs: Option<Difference>,
    /// What may be the cause of a difference, and threads in any case.
    pub(super) causes: Vec<String>,
}

impl Examined {
    /// Of a run that is not compared with another one.
    pub(super) fn of_turns(turns: &[Turn]) -> Self {
        Self { turns: turns.to_vec(), ..Self::default() }
    }
}

/// How far a failure has been confirmed.
#[derive(Clone, Debug, Default)]
pub(super) enum Confirmed {
    /// By a second run in the same process.
    #[default]
    Twice,
    /// By a run in a process of its own.
    Alone,
    /// It was not run alone, for this reason.
    NotAlone(String),
}

/// Makes the run again. `test` is its test, as the test binary calls it; without, there is no fresh process.
pub(super) fn examine(
    replay: &Replay,
    is_determined: bool,
    test: Option<&Test>,
    mut run: impl FnMut(&Replay, Choices) -> (Outcome, Choices),
) -> Examined {
    let mut record = || {
        let (outcome, choices) = run_again_keeping(replay, &mut run);
        (Record::new(&outcome, &choices), choices)
    };
    let (first, choices) = record();
    let mut examined = Examined::of_turns(choices.turns());
    let answer = test.map(|test| (&*test.path, child::ask(&test.path, replay)));
    match &answer {
        Some((_, Err(reason))) => examined.confirmed = Confirmed::NotAlone(reason.clone()),
        Some((_, Ok(answer))) => {
            examined.confirmed = Confirmed::Alone;
            examined.differs = first.difference(&answer.records[0]);
        }
        None => {}
    }
    if !is_determined && examined.differs.is_none() {
        examined.differs = first.difference(&record().0);
    }
    if let Some((test, Ok(answer))) = &answer {
        examined.causes = threads(&answer.evidence);
        if !is_determined || examined.differs.is_some() {
            let again = child::ask(test, replay).ok();
            examined.causes.extend(other_causes(answer, again.as_ref()));
        }
    }
    examined
}

/// The threads that have to do with the run.
fn threads(evidence: &Evidence) -> Vec<String> {
    let wakers = evidence.wakers.iter();
    let wakers =
        wakers.map(|thread| format!("the thread {thread:?}, which has made a task runnable"));
    let others = evidence.threads.iter().filter(|thread| !evidence.wakers.contains(thread));
    let others =
        others.map(|thread| format!("the thread {thread:?}, which has begun during the run"));
    wakers.chain(others).collect()
}

/// What else may have decided the run. `again` is the answer of another fresh process.
fn other_causes(answer: &Answer, again: Option<&Answer>) -> Option<String> {
    let [first, second] = &answer.records;
    let Evidence { hashers, threads, wakers } = &answer.evidence;
    if again.is_some_and(|again| again.records[0] == *first) {
        let which = if first == second { "" } else { ", the second one differs" };
        return Some(format!(
            "state that a run leaves behind, as in a static: the first run of a fresh process is always the same{which}"
        ));
    }
    if *hashers > 0 {
        let text = "the order of a HashMap or a HashSet with random keys: the run makes";
        return Some(format!("{text} {hashers}"));
    }
    let is_unknown = threads.is_empty() && wakers.is_empty();
    is_unknown.then(|| {
        "a real clock, or random numbers other than `sim::random`: the run has no HashMap with random keys, and no thread"
            .to_owned()
    })
}
