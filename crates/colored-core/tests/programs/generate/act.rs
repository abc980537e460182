//! Acts of a program.

use super::Make;
use crate::plan::{Act, Body, Do, End, Fate, Find, Spawn, Wait, Woken};
use colored_core::Priority;
use std::sync::Arc;

impl Make {
    fn how(&mut self) -> Spawn {
        let at = self.at();
        match self.chance.below(12) {
            0..=3 => Spawn::Colored(at),
            4 if self.priorities => Spawn::Urgent(at),
            5 | 6 => Spawn::Alone(at.runtime),
            7 | 8 => Spawn::Here,
            9 if self.locals => Spawn::Local,
            10 if self.locals => Spawn::Pinned(at, self.chance.index(self.workers[at.runtime])),
            11 if self.limits > 0 && !self.in_limit => Spawn::Limited(self.limit()),
            _ => Spawn::Colored(at),
        }
    }

    pub(super) fn spawned(&mut self) -> (Spawn, Arc<Body>) {
        let how = self.how();
        let body = if matches!(how, Spawn::Limited(_)) { self.limited_task() } else { self.task() };
        (how, body)
    }

    pub(super) fn spawn(&mut self) -> Act {
        let (how, body) = self.spawned();
        Act::Spawn(how, body, self.fate())
    }

    fn fate(&self) -> Fate {
        match self.chance.below(8) {
            0 => Fate::Chest,
            1 => Fate::Abort,
            2 => Fate::AbortFromChest,
            3 if self.forgets => Fate::Forget,
            _ => Fate::Drop,
        }
    }

    fn find(&self) -> Find {
        match self.chance.below(8) {
            0..=2 => Find::Drop,
            3 if self.forgets && !self.is_quiet => Find::Forget,
            4 if self.stashes => Find::Stash,
            _ => Find::Use,
        }
    }

    fn woken(&mut self) -> Woken {
        match self.chance.below(4) {
            0 => Woken::Noop,
            1 => Woken::Foreign(self.acts(1), self.acts(1)),
            _ => Woken::Task,
        }
    }

    fn poll(&mut self) -> Act {
        let wait = self.wait();
        self.poll_of(wait)
    }

    fn poll_of(&mut self, wait: Wait) -> Act {
        let end = match self.chance.below(4) {
            0 if self.forgets && !(self.is_quiet && must_end(&wait)) => End::Forget,
            0 | 1 if !wait.moves() => End::Chest,
            _ => End::Drop,
        };
        let times = self.chance.between(1, 4);
        Act::Poll { wait: wait.into(), times, woken: self.woken(), end }
    }

    pub(super) fn act(&mut self) -> Act {
        self.burn();
        loop {
            if let Some(act) = self.some_act() {
                return act;
            }
        }
    }

    fn some_act(&mut self) -> Option<Act> {
        let at = self.at();
        let is_low = self.depth >= 5 || self.fuel == 0;
        Some(match self.chance.below(36) {
            0 => Act::LookAtColor,
            1 => Act::LookAround,
            2..=4 if is_low => Act::Chest(self.find()),
            2..=4 => self.spawn(),
            5..=7 => Act::Post(self.cell(), self.acts(2)),
            8 => Act::TryWith(self.cell(), self.acts(1)),
            9 => Act::NewCell(self.chance.index(self.cells), at, self.acts(1)),
            10 | 11 => Act::DropCell(self.chance.index(self.cells)),
            12 => Act::CellToChest(self.chance.index(self.cells)),
            13 if self.chance.one_in(2) => Act::DropHandle(at.runtime),
            14..=17 if !is_low => self.poll(),
            18..=20 => Act::Chest(self.find()),
            21 => Act::Later(self.acts(2)),
            22 if self.stashes => Act::Stash(self.acts(1)),
            23 if self.priorities => {
                let class = self.chance.of(&[Priority::Low, Priority::Normal, Priority::High]);
                Act::Priority(at, class)
            }
            24 if self.chance.one_in(2) => {
                let worker = self.chance.index(self.workers[at.runtime]);
                Act::PostToWorker(at, worker, self.acts(1))
            }
            25 if self.limits > 0 && !self.in_limit => match self.chance.below(4) {
                0 => Act::TryPost(self.limit(), self.limited_acts()),
                1 => Act::TrySpawn(self.limit(), self.limited_task(), self.fate()),
                2 => Act::TryReserve(self.limit(), self.chance.one_in(2)),
                _ if !self.is_quiet => Act::Close(self.limit()),
                _ => return None,
            },
            26 => Act::Local(self.chance.index(2)),
            27 => Act::Enter(at.runtime, self.acts(2)),
            28 if self.stashes => Act::EnterForEver(at.runtime),
            29 if !is_low && self.chance.one_in(2) => Act::BlockOn(at.runtime, self.task()),
            30 | 31 if self.seats > 0 => {
                Act::Step(self.chance.index(self.seats), self.chance.between(1, 5))
            }
            32 if self.seats > 0 => {
                let act = match self.chance.below(3) {
                    // The task belongs to another worker than the one that hands out its events.
                    0 if self.may_hop => self.poll_of(Wait::Hop(self.chance.index(self.tints))),
                    _ if is_low => Act::LookAround,
                    _ => self.poll(),
                };
                Act::Batch(self.chance.index(self.seats), act.into())
            }
            33 if self.shutdowns && self.chance.one_in(3) => Act::ShutDown(at.runtime),
            34 if self.panics => Act::Panic,
            _ => return None,
        })
    }
}

/// Whether other parts of the program may wait for a thing that the future of this wait keeps.
fn must_end(wait: &Wait) -> bool {
    match wait {
        Wait::Yield
        | Wait::Signal
        | Wait::Call(..)
        | Wait::CheckedCall(..)
        | Wait::Read(..)
        | Wait::CheckedRead(..)
        | Wait::When(..)
        | Wait::TryWhen(..)
        | Wait::RemoteCall(..) => false,
        Wait::Both(one, other) | Wait::Either(one, other) => {
            let of = |body: &Body| {
                body.steps.iter().any(|step| match step {
                    Do::Await(wait) => must_end(wait),
                    _ => true,
                })
            };
            of(one) || of(other)
        }
        _ => true,
    }
}
