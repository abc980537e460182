//! Closures that want several lanes at once, or a lane beside readers.

use super::{Entry, Hue, Oracle};
use crate::slab::Key;

/// A lane that a closure wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Want {
    pub(crate) hue: Hue,
    /// Whether the closure only looks.
    pub(crate) shared: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Unstarted,
    Waiting,
    Running,
    Done,
}

#[derive(Debug)]
pub(crate) struct Behavior {
    wants: Vec<Want>,
    waiter: Option<Key>,
    /// The color that the closure's caller holds. The closure need not take it.
    own: Option<Hue>,
    /// Whether the closure has run in the poll of its caller, which needs no wake then.
    at_once: bool,
    stage: Stage,
}

impl Want {
    pub(super) fn entry(self, key: Key) -> Entry {
        if self.shared { Entry::Look(key) } else { Entry::Claim(key) }
    }
}

impl Oracle {
    /// A task makes a closure that wants the lanes of some cells. It wants each lane once, and for itself alone if
    /// one of the cells needs that.
    pub(crate) fn behavior(&mut self, cells: &[Want], waiter: Key) -> Key {
        let mut wants: Vec<Want> = Vec::new();
        for cell in cells {
            match wants.iter_mut().find(|want| want.hue == cell.hue) {
                Some(want) => want.shared &= cell.shared,
                None => wants.push(*cell),
            }
        }
        self.tally.behaviors += 1;
        let (waiter, stage) = (Some(waiter), Stage::Unstarted);
        self.behaviors.insert(Behavior { wants, waiter, own: None, at_once: false, stage })
    }

    /// A reader looks at a color at once, and no task waits for it.
    pub(crate) fn reader(&mut self, hue: Hue) -> Key {
        self.tally.behaviors += 1;
        let (wants, stage) = (vec![Want { hue, shared: true }], Stage::Unstarted);
        self.behaviors.insert(Behavior { wants, waiter: None, own: None, at_once: false, stage })
    }

    /// Whether the claims of a closure are scheduled, and the closure has not begun.
    pub(super) fn behavior_waits(&self, key: Key) -> bool {
        self.behaviors.get(key).is_some_and(|behavior| behavior.stage == Stage::Waiting)
    }

    pub(super) fn wants(&self, key: Key) -> Vec<Want> {
        self.behaviors.get(key).expect("made").wants.clone()
    }

    /// A task has polled a closure that has no result yet. The first poll schedules all claims at one moment.
    pub(crate) fn behavior_is_pending(&mut self, key: Key) {
        let Some(behavior) = self.behaviors.get_mut(key) else {
            self.violated("G9", format!("behavior {} has run, and gives no result", key.slot));
            return;
        };
        if behavior.stage != Stage::Unstarted {
            return;
        }
        behavior.stage = Stage::Waiting;
        let waiter = behavior.waiter;
        let own = waiter.and_then(|waiter| self.hue_of(waiter));
        let (wants, urgency) = (self.wants(key), self.lent_by(waiter));
        let is_free = |want: &Want| match waiter.filter(|_| own == Some(want.hue)) {
            Some(waiter) => self.is_free_here(waiter, want.hue) == Some(true),
            None => self.must_be_idle(want.hue),
        };
        if wants.iter().all(is_free) {
            self.violated("G2", format!("behavior {} waits, and all is idle", key.slot));
        }
        for want in wants {
            self.push_urged(want.hue, want.entry(key), self.closing, urgency);
        }
    }

    /// A closure begins, with all lanes that it wants.
    pub(crate) fn behavior_begins(&mut self, key: Key) {
        let behavior = self.behaviors.get_mut(key).expect("made");
        let (stage, waiter) = (behavior.stage, behavior.waiter);
        behavior.stage = Stage::Running;
        let at_once = stage == Stage::Unstarted;
        let own = waiter.filter(|_| at_once).and_then(|waiter| self.hue_of(waiter));
        let behavior = self.behaviors.get_mut(key).expect("made");
        (behavior.own, behavior.at_once) = (own, at_once);
        if !at_once && stage != Stage::Waiting {
            self.violated("G8", format!("behavior {} runs while it is {stage:?}", key.slot));
        }
        let wants = self.wants(key);
        if let Some((waiter, own)) = waiter.zip(own)
            && wants.iter().any(|want| want.hue == own)
        {
            self.check_own(waiter, own, true);
        }
        for want in wants.into_iter().filter(|want| own != Some(want.hue)) {
            match (want.shared, at_once) {
                (true, _) => self.look_begins(want.hue, want.entry(key)),
                (false, true) => self.inline_begins(want.hue, want.entry(key)),
                (false, false) => self.claim_begins(want.hue, want.entry(key)),
            }
            let readers = u64::from(self.lanes.readers(want.hue));
            self.tally.readers = self.tally.readers.max(readers);
        }
    }

    /// A closure ends.
    pub(crate) fn behavior_ends(&mut self, key: Key) {
        let behavior = self.behaviors.get_mut(key).expect("it runs");
        behavior.stage = Stage::Done;
        let (own, waiter, at_once) = (behavior.own, behavior.waiter, behavior.at_once);
        for want in self.wants(key).into_iter().filter(|want| own != Some(want.hue)) {
            if want.shared { self.look_ends(want.hue) } else { self.turn_ends(want.hue) }
        }
        match waiter {
            Some(waiter) if !at_once => self.wake_behind(waiter),
            Some(_) => {}
            None => drop(self.behaviors.remove(key)),
        }
    }

    /// A closure is dropped unrun: its caller has given it up, or the scheduler ends.
    pub(crate) fn behavior_unrun(&mut self, key: Key) {
        let Some(behavior) = self.behaviors.remove(key) else {
            self.violated("G8", format!("behavior {} is dropped again", key.slot));
            return;
        };
        if behavior.stage == Stage::Unstarted {
            return;
        }
        if behavior.waiter.is_some() && !self.closing {
            self.violated("G8", format!("behavior {} is dropped unrun", key.slot));
        }
        for want in behavior.wants {
            if want.shared {
                self.leave_queue(want.hue, want.entry(key));
            } else {
                if !self.closing {
                    self.claim_begins(want.hue, want.entry(key));
                } else {
                    self.leave_queue(want.hue, want.entry(key));
                }
                self.turn_ends(want.hue);
            }
        }
        if let Some(waiter) = behavior.waiter {
            self.wake(waiter);
        }
    }

    /// The future of a closure goes.
    pub(crate) fn behavior_given_up(&mut self, key: Key) {
        let Some(behavior) = self.behaviors.get_mut(key) else { return };
        behavior.waiter = None;
        if behavior.stage == Stage::Done {
            self.behaviors.remove(key);
        }
    }
}
