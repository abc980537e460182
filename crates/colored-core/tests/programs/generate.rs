//! Makes a program from a seed.

mod act;
mod wait;

use crate::chance::Chance;
use crate::plan::{Act, Acts, At, Body, Do, Foreigner, Plan, Runtime};
use colored_core::Options;
use colored_lab::places::PLACES;
use std::sync::Arc;

/// The program of a seed.
pub(crate) fn plan(seed: u64) -> Plan {
    let chance = Chance::new(seed);
    let small = cfg!(miri);
    let runtimes: Vec<_> =
        (0..1 + usize::from(chance.one_in(3))).map(|_| runtime(&chance)).collect();
    let several = runtimes.len() > 1;
    let is_quiet = chance.one_in(2);
    let limits = chance.one_in(3);
    let sections = chance.one_in(2) && !(is_quiet && (several || limits));
    let tints = chance.between(2, 7) as usize;
    let mut make = Make {
        fuel: if small { chance.between(6, 22) } else { chance.between(8, 120) },
        several,
        sections,
        tints,
        cells: chance.between(1, 7) as usize,
        row: chance.one_in(if small { 16 } else { 12 }).then(|| wide(&chance)),
        limits: if limits { chance.between(1, 3) as usize } else { 0 },
        is_quiet,
        forgets: chance.one_in(4),
        panics: chance.one_in(3),
        priorities: chance.one_in(4),
        locals: chance.one_in(2),
        stashes: chance.one_in(6),
        shutdowns: !is_quiet && chance.one_in(2),
        seats: runtimes.iter().map(|runtime| runtime.roaming).sum(),
        workers: runtimes.iter().map(|runtime| runtime.workers).collect(),
        in_limit: false,
        may_hop: false,
        depth: 0,
        chance,
    };
    make.plan(runtimes)
}

fn runtime(chance: &Chance) -> Runtime {
    let workers = chance.between(1, 4) as usize;
    let roaming = if chance.one_in(4) { chance.below(workers as u32 + 1) as usize } else { 0 };
    let mut options = Options { reuse: chance.one_in(2), ..Options::default() };
    if chance.one_in(3) {
        options.slice_polls = chance.between(1, 5);
    }
    if chance.one_in(6) {
        let of_kind = &PLACES[usize::from(chance.one_in(2))];
        options.policy = Some(&of_kind[chance.index(of_kind.len())]);
    }
    Runtime { workers, roaming, options, is_watched: chance.one_in(3) }
}

/// As many colors as a word has bits, or about.
fn wide(chance: &Chance) -> usize {
    let beyond = if cfg!(miri) { 67 } else { 130 };
    chance.of(&[63, 64, 65, 65, 66, beyond])
}

struct Make {
    chance: Chance,
    fuel: u32,
    several: bool,
    sections: bool,
    tints: usize,
    cells: usize,
    row: Option<usize>,
    limits: usize,
    is_quiet: bool,
    forgets: bool,
    panics: bool,
    priorities: bool,
    locals: bool,
    stashes: bool,
    shutdowns: bool,
    /// How many workers roam.
    seats: usize,
    workers: Vec<usize>,
    /// Whether this is inside a part that has a permit of a limit. Such a part must not wait for another permit.
    in_limit: bool,
    /// Whether this is inside the body of a task, and not in a closure.
    may_hop: bool,
    depth: u32,
}

impl Make {
    fn plan(&mut self, runtimes: Vec<Runtime>) -> Plan {
        let cells = (0..self.cells).map(|_| (self.at(), self.destructor())).collect();
        let limits =
            (0..self.limits).map(|_| (self.at(), self.chance.between(1, 3) as usize)).collect();
        let row = self.row.map(|row| (row, self.several && self.chance.one_in(2)));
        let foreigners = self.chance.below(3);
        let fuel = self.fuel;
        let share = |make: &mut Self, part: u32| {
            make.fuel = (fuel / part).max(2);
            make.outside(3)
        };
        let main = share(self, foreigners + 2);
        let mut foreign = Vec::new();
        for _ in 0..foreigners {
            foreign.push(Foreigner {
                is_early: self.chance.one_in(2),
                enters: self.chance.one_in(2).then(|| self.runtime()),
                acts: share(self, foreigners + 2),
            });
        }
        Plan {
            runtimes,
            tints: self.tints,
            cells,
            row,
            limits,
            is_quiet: self.is_quiet,
            main,
            foreigners: foreign,
            patience: self.chance.skewed(if cfg!(miri) { 64 } else { 256 }),
            epilogue: share(self, 8),
        }
    }

    fn runtime(&self) -> usize {
        self.chance.index(self.workers.len())
    }

    fn at(&self) -> At {
        At { runtime: self.runtime(), tint: self.chance.index(self.tints) }
    }

    fn keep(&self) -> u32 {
        let all = u64::MAX;
        let some = self.chance.draw() | self.chance.draw();
        (if self.chance.one_in(2) { all } else { some }) as u32
    }

    /// One of the cells, or of the row.
    fn cell(&self) -> usize {
        match self.row {
            Some(row) if self.chance.one_in(2) => self.cells + self.chance.index(row),
            _ => self.chance.index(self.cells),
        }
    }

    fn limit(&self) -> usize {
        self.chance.index(self.limits)
    }

    fn burn(&mut self) -> bool {
        self.fuel = self.fuel.saturating_sub(1);
        self.fuel > 0 && self.depth < 5
    }

    fn destructor(&mut self) -> Option<Acts> {
        self.chance.one_in(5).then(|| self.acts(1))
    }

    /// The acts of a thread that is no worker: mostly spawns.
    fn outside(&mut self, least: u32) -> Acts {
        let mut list = Vec::new();
        let most = least + self.chance.below(5);
        while list.len() < most as usize || (self.fuel > 1 && list.len() < 12) {
            list.push(match self.chance.below(8) {
                0 => Act::BlockOn(self.runtime(), self.task()),
                1..=4 => self.spawn(),
                _ => self.act(),
            });
        }
        Acts { keep: u32::MAX, list: list.into() }
    }

    /// The acts of a closure or a destructor: at most `most`, often none.
    fn acts(&mut self, most: u32) -> Acts {
        let may_hop = std::mem::replace(&mut self.may_hop, false);
        self.depth += 1;
        let mut list = Vec::new();
        for _ in 0..self.chance.below(most + 1) {
            if self.burn() {
                list.push(self.act());
            }
        }
        self.depth -= 1;
        self.may_hop = may_hop;
        Acts { keep: self.keep(), list: list.into() }
    }

    fn body(&mut self, most: u32) -> Arc<Body> {
        self.depth += 1;
        let mut steps = Vec::new();
        for _ in 0..1 + self.chance.below(most) {
            if !self.burn() {
                break;
            }
            steps.push(match self.chance.below(10) {
                0 => Do::Keep(self.acts(2)),
                1..=3 => Do::Act(self.act()),
                _ => Do::Await(self.wait().into()),
            });
        }
        self.depth -= 1;
        Body::new(self.keep(), steps)
    }

    fn task(&mut self) -> Arc<Body> {
        let may_hop = std::mem::replace(&mut self.may_hop, true);
        let body = self.body(4);
        self.may_hop = may_hop;
        body
    }

    /// A task that must not wait for room.
    fn limited_task(&mut self) -> Arc<Body> {
        let in_limit = std::mem::replace(&mut self.in_limit, true);
        let body = self.task();
        self.in_limit = in_limit;
        body
    }

    fn limited_acts(&mut self) -> Acts {
        let in_limit = std::mem::replace(&mut self.in_limit, true);
        let acts = self.acts(2);
        self.in_limit = in_limit;
        acts
    }
}
