//! Waits until a consumer has done all that its logs had. The driver asks the engine, so that only it needs the engine.

use super::driver::PAUSE;
use super::shared::Sums;
use super::state::State;
use crate::source::{Control, Extent, Owned};
use colored::ColorCell;
use colored::sync::oneshot;
use colored::time::sleep;
use std::pin::pin;
use std::task::{Context, Waker};

/// Answers whether the consumer has caught up: no, if all is to be asked again. Nothing comes from a consumer that has ended.
type Answer = oneshot::Sender<bool>;

/// Those who wait.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    /// The driver has not asked the engine for them yet.
    unasked: Vec<Answer>,
    asked: Vec<Wait>,
}

impl Waits {
    fn forget_those_who_left(&mut self) {
        self.unasked.retain_mut(is_heard);
        self.asked.retain_mut(|wait| {
            wait.answers.retain_mut(is_heard);
            !wait.answers.is_empty()
        });
    }
}

/// Whether somebody waits for the answer.
fn is_heard(answer: &mut Answer) -> bool {
    pin!(answer.closed()).poll(&mut Context::from_waker(Waker::noop())).is_pending()
}

/// Somebody waits until these claims are as far as these offsets.
#[derive(Debug)]
struct Wait {
    /// Without an offset, the claim is about to go.
    targets: Vec<(u64, Option<u64>)>,
    answers: Vec<Answer>,
}

/// What the driver is to ask the engine.
#[derive(Debug)]
pub(crate) struct Question {
    claims: Vec<(u64, Owned)>,
    answers: Vec<Answer>,
}

impl State {
    /// Waits until each active claim is done below the end that its log has from now on. The answer is no if one has gone, or the
    /// engine has told another log than the claim reads, or does not tell.
    pub(crate) fn ask(&mut self) -> oneshot::Receiver<bool> {
        let (answer, waits) = oneshot::channel();
        if let Some(all) = &mut self.waits {
            all.forget_those_who_left();
            all.unasked.push(answer);
            self.shared.attention.notify_one();
        }
        waits
    }

    /// What is to be asked, if there is a claim that is active.
    pub(crate) fn take_question(&mut self) -> Option<Question> {
        let waits = self.waits.as_mut().filter(|waits| !waits.unasked.is_empty())?;
        let active = self.claims.iter().filter(|(_, entry)| entry.is_active());
        let claims: Vec<_> = active.map(|(id, entry)| (*id, entry.owned().clone())).collect();
        let answers = &mut waits.unasked;
        (!claims.is_empty()).then(|| Question { claims, answers: std::mem::take(answers) })
    }

    fn wait_for(&mut self, asked: Vec<(u64, Option<Extent>)>, answers: Vec<Answer>) {
        let sums = self.shared.sums();
        let targets = asked.into_iter().map(|(id, log)| {
            let reads = |log: &Extent| {
                let is_its = self.claims.get(&id).is_some_and(|of| !log.is_other(of.identity));
                is_its && sums.of.get(&id).is_some_and(|of| of.low <= log.limit)
            };
            (id, log.filter(reads).map(|log| log.end))
        });
        let targets = targets.collect();
        drop(sums);
        if let Some(all) = &mut self.waits {
            all.asked.push(Wait { targets, answers });
            self.look_at_waits();
        }
    }

    pub(crate) fn look_at_waits(&mut self) {
        let Some(waits) = self.waits.as_ref().filter(|waits| !waits.asked.is_empty()) else {
            return;
        };
        let mut sums = self.shared.sums();
        // Before the look: what moves behind it wakes the driver, which looks again.
        sums.has_waits = true;
        let all = &waits.asked;
        if all.iter().all(|wait| self.outcome(&sums, &wait.targets).is_none()) {
            return;
        }
        let Some(waits) = self.waits.as_mut() else { return };
        let asked = std::mem::take(&mut waits.asked);
        let (mut left, mut over) = (Vec::new(), Vec::new());
        for wait in asked {
            match self.outcome(&sums, &wait.targets) {
                Some(is_whole) => over.push((wait.answers, is_whole)),
                None => left.push(wait),
            }
        }
        sums.has_waits = !left.is_empty();
        drop(sums);
        self.waits.iter_mut().for_each(|waits| waits.asked.append(&mut left));
        over.into_iter().for_each(|(answers, is_whole)| answer(answers, is_whole));
    }

    fn outcome(&self, sums: &Sums, targets: &[(u64, Option<u64>)]) -> Option<bool> {
        let mut is_whole = true;
        for (id, offset) in targets {
            match self.claims.get(id).filter(|entry| entry.is_active()) {
                Some(entry) => match offset.map(|of| of.min(entry.until.unwrap_or(of))) {
                    _ if sums.of.get(id).is_none_or(|of| !of.is_placed) => return None,
                    Some(offset) if sums.of.get(id).is_none_or(|of| of.low < offset) => {
                        return None;
                    }
                    Some(_) => {}
                    None => is_whole = false,
                },
                None => is_whole = false,
            }
        }
        Some(is_whole)
    }
}

fn answer(answers: Vec<Answer>, is_whole: bool) {
    for answer in answers {
        // Nobody may wait any more.
        let _ = answer.send(is_whole);
    }
}

/// Asks the engine.
pub(crate) async fn ask(cell: ColorCell<State>, control: impl Control, question: Question) {
    let Question { claims, answers } = question;
    let (ids, owned): (Vec<_>, Vec<_>) = claims.into_iter().unzip();
    match control.extents(owned).await {
        Ok(extents) => {
            let asked = ids.into_iter().zip(extents).collect();
            cell.call(move |state| state.wait_for(asked, answers)).await;
        }
        Err(_) => {
            sleep(PAUSE).await;
            answer(answers, false);
        }
    }
}
