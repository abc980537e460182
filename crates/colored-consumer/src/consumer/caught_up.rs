//! Waits until a consumer has done all that its logs had.

use super::claimed::Stage;
use super::state::State;
use crate::source::Owned;
use colored::sync::oneshot;

/// Somebody waits until these claims are as far as these offsets.
#[derive(Debug)]
pub(crate) struct Wait {
    targets: Vec<(u64, u64)>,
    done: oneshot::Sender<bool>,
}

impl State {
    /// The claims that a caller waits for.
    pub(crate) fn active_claims(&self) -> Vec<(u64, Owned)> {
        let active = self.claims.iter().filter(|(_, claimed)| claimed.stage == Stage::Active);
        active.map(|(id, claimed)| (*id, claimed.owned.clone())).collect()
    }

    /// Waits until each of these claims is done below its offset, or has gone: then it is to be asked again, and the answer is no.
    /// It is no, too, when there are claims and none is waited for. Nothing comes from a consumer that has ended.
    pub(crate) fn wait_for(&mut self, targets: Vec<(u64, u64)>) -> oneshot::Receiver<bool> {
        let (done, waits) = oneshot::channel();
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

    fn outcome(&self, targets: &[(u64, u64)]) -> Option<bool> {
        if targets.is_empty() {
            return self.claims.values().any(|of| of.stage == Stage::Active).then_some(false);
        }
        let mut is_whole = true;
        for (id, offset) in targets {
            match self.claims.get(id).filter(|claimed| claimed.stage == Stage::Active) {
                None => is_whole = false,
                Some(claimed) if claimed.tracker.low() < *offset => return None,
                Some(_) => {}
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
