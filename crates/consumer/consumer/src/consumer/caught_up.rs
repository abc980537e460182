//! Waits until a consumer has done all that its logs had.

use super::claimed::Stage;
use super::state::State;
use crate::source::{Extent, Owned};
use colored::sync::oneshot;

/// Somebody waits until these claims are as far as these offsets.
#[derive(Debug)]
pub(crate) struct Wait {
    /// Without an offset, the claim is about to go.
    targets: Vec<(u64, Option<u64>)>,
    done: oneshot::Sender<bool>,
}

impl State {
    /// The claims that a caller waits for.
    pub(crate) fn active_claims(&self) -> Vec<(u64, Owned)> {
        let active = self.claims.iter().filter(|(_, claimed)| claimed.stage == Stage::Active);
        active.map(|(id, claimed)| (*id, claimed.owned.clone())).collect()
    }

    /// Waits until each of these claims is done below the end of its log. The answer is no, and all is to be asked again, if one has
    /// gone, or the engine has told another log than the claim reads; and if there are claims, and none is waited for. Nothing
    /// comes from a consumer that has ended.
    pub(crate) fn wait_for(
        &mut self,
        asked: Vec<(u64, Option<Extent>)>,
    ) -> oneshot::Receiver<bool> {
        let (done, waits) = oneshot::channel();
        let targets = asked.into_iter().map(|(id, log)| {
            let reads = |log: &Extent| {
                let claimed = self.claims.get(&id);
                claimed
                    .is_some_and(|of| !log.is_other(of.identity) && of.tracker.low() <= log.limit)
            };
            (id, log.filter(reads).map(|log| log.end))
        });
        let targets = targets.collect();
        if let Some(all) = &mut self.waits {
            all.push(Wait { targets, done });
            self.look_at_waits();
        }
        waits
    }

    pub(crate) fn look_at_waits(&mut self) {
        let Some(waits) = self.waits.as_mut().filter(|waits| !waits.is_empty()) else { return };
        let waits = std::mem::take(waits);
        let (mut left, mut over) = (Vec::new(), Vec::new());
        for wait in waits {
            match self.outcome(&wait.targets) {
                Some(is_whole) => over.push((wait.done, is_whole)),
                None => left.push(wait),
            }
        }
        self.waits = Some(left);
        for (done, is_whole) in over {
            // Nobody may wait any more.
            let _ = done.send(is_whole);
        }
    }

    fn outcome(&self, targets: &[(u64, Option<u64>)]) -> Option<bool> {
        if targets.is_empty() {
            return self.claims.values().any(|of| of.stage == Stage::Active).then_some(false);
        }
        let mut is_whole = true;
        for (id, offset) in targets {
            match self.claims.get(id).filter(|claimed| claimed.stage == Stage::Active) {
                Some(claimed) => match offset {
                    Some(offset) if claimed.tracker.low() < *offset => return None,
                    Some(_) => {}
                    None => is_whole = false,
                },
                None => is_whole = false,
            }
        }
        Some(is_whole)
    }

    /// Whether all is done that the logs of this consumer have, as last heard.
    pub(crate) fn is_caught_up(&self) -> bool {
        let mut claims = self.claims.values();
        !self.claims.is_empty() && claims.all(|of| of.stage == Stage::Active && of.lag() == 0)
    }
}
