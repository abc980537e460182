//! From a seed to a program.

use crate::chance::Chance;
use crate::plan::{Act, Acts, At, Body, Do, End, Fate, Find, Foreigner, Plan, Runtime};
use crate::plan::{Set, Spawn, Wait, Woken};
use colored_core::Priority;
use colored_core::lab::{Balance, Options, Placement, Queue};
use std::sync::Arc;

/// The program of a seed.
pub(crate) fn plan(seed: u64) -> Plan {
    let chance = Chance::new(seed);
    let small = cfg!(miri);
    let runtimes: Vec<_> =
        (0..1 + usize::from(chance.one_in(3))).map(|_| runtime(&chance)).collect();
    let several = runtimes.len() > 1;
    let is_quiet = chance.one_in(2);
    let bounds = chance.one_in(3);
    let sections = chance.one_in(2) && !(is_quiet && (several || bounds));
    let tints = chance.between(2, 7) as usize;
    let mut make = Make {
        fuel: if small { chance.between(6, 22) } else { chance.between(8, 120) },
        several,
        sections,
        tints,
        cells: chance.between(1, 7) as usize,
        row: chance.one_in(if small { 16 } else { 12 }).then(|| wide(&chance)),
        bounds: if bounds { chance.between(1, 3) as usize } else { 0 },
        is_quiet,
        forgets: chance.one_in(4),
        panics: chance.one_in(3),
        priorities: chance.one_in(4),
        locals: chance.one_in(2),
        stashes: chance.one_in(6),
        shutdowns: !is_quiet && chance.one_in(2),
        seats: runtimes.iter().map(|runtime| runtime.roaming).sum(),
        workers: runtimes.iter().map(|runtime| runtime.workers).collect(),
        in_bound: false,
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
        options.queue = chance.of(&[
            Queue::PerWorker,
            Queue::Shared,
            Queue::SharedTasks,
            Queue::PerWorkerTasks,
        ]);
        options.placement = chance.of(&[Placement::Waker, Placement::Home, Placement::Pinned]);
        options.balance = chance.of(&[
            Balance::Steal,
            Balance::Push { threshold: 1 },
            Balance::Hybrid { threshold: 1 },
        ]);
        if options.check().is_err() {
            (options.placement, options.balance) = (Placement::Waker, Balance::Steal);
        }
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
    bounds: usize,
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
    /// Inside what has a place under a bound, which must not wait for another one.
    in_bound: bool,
    /// Inside the body of a task, and not in a closure.
    may_hop: bool,
    depth: u32,
}

impl Make {
    fn plan(&mut self, runtimes: Vec<Runtime>) -> Plan {
        let cells = (0..self.cells).map(|_| (self.at(), self.destructor())).collect();
        let bounds =
            (0..self.bounds).map(|_| (self.at(), self.chance.between(1, 3) as usize)).collect();
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
            bounds,
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

    fn bound(&self) -> usize {
        self.chance.index(self.bounds)
    }

    fn burn(&mut self) -> bool {
        self.fuel = self.fuel.saturating_sub(1);
        self.fuel > 0 && self.depth < 5
    }

    fn destructor(&mut self) -> Option<Acts> {
        self.chance.one_in(5).then(|| self.acts(1))
    }

    /// What a thread does that is no worker: mostly it spawns.
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

    /// What a closure or a destructor does: up to so many things, often none.
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
    fn bounded_task(&mut self) -> Arc<Body> {
        let in_bound = std::mem::replace(&mut self.in_bound, true);
        let body = self.task();
        self.in_bound = in_bound;
        body
    }

    fn bounded_acts(&mut self) -> Acts {
        let in_bound = std::mem::replace(&mut self.in_bound, true);
        let acts = self.acts(2);
        self.in_bound = in_bound;
        acts
    }

    fn how(&mut self) -> Spawn {
        let at = self.at();
        match self.chance.below(12) {
            0..=3 => Spawn::Colored(at),
            4 if self.priorities => Spawn::Urgent(at),
            5 | 6 => Spawn::Alone(at.runtime),
            7 | 8 => Spawn::Here,
            9 if self.locals => Spawn::Local,
            10 if self.locals => Spawn::Pinned(at, self.chance.index(self.workers[at.runtime])),
            11 if self.bounds > 0 && !self.in_bound => Spawn::Bounded(self.bound()),
            _ => Spawn::Colored(at),
        }
    }

    fn spawned(&mut self) -> (Spawn, Arc<Body>) {
        let how = self.how();
        let body = if matches!(how, Spawn::Bounded(_)) { self.bounded_task() } else { self.task() };
        (how, body)
    }

    fn spawn(&mut self) -> Act {
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
            0 => Woken::Nobody,
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

    fn act(&mut self) -> Act {
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
            25 if self.bounds > 0 && !self.in_bound => match self.chance.below(4) {
                0 => Act::TryPost(self.bound(), self.bounded_acts()),
                1 => Act::TrySpawn(self.bound(), self.bounded_task(), self.fate()),
                2 => Act::TryReserve(self.bound(), self.chance.one_in(2)),
                _ if !self.is_quiet => Act::Close(self.bound()),
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
                    // The task is of another worker than the one that hands out its events.
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

    fn wait(&mut self) -> Wait {
        self.depth += 1;
        let wait = loop {
            if let Some(wait) = self.some_wait() {
                break wait;
            }
        };
        self.depth -= 1;
        wait
    }

    fn some_wait(&mut self) -> Option<Wait> {
        let is_low = !self.burn();
        let choice = if is_low { self.chance.below(12) } else { self.chance.below(34) };
        Some(match choice {
            0 | 1 => Wait::Yield,
            2 | 3 => Wait::Signal,
            4 | 5 => Wait::Call(self.cell(), self.acts(1)),
            6 => Wait::TryCall(self.cell(), self.acts(1)),
            7 => Wait::Read(self.cell(), self.acts(1)),
            8 => Wait::TryRead(self.cell(), self.acts(1)),
            9 if self.may_hop => Wait::Hop(self.chance.index(self.tints)),
            10 if self.may_hop => Wait::TryHop(self.chance.index(self.tints)),
            11 => Wait::When(self.set(), self.acts(1)),
            12..=14 => Wait::TryWhen(self.set(), self.acts(1)),
            15 => Wait::When(self.set(), self.acts(2)),
            16..=18 => {
                let (how, body) = self.spawned();
                Wait::Join(how, body)
            }
            19 => {
                let (how, body) = self.spawned();
                Wait::Aborted(how, body)
            }
            20 => Wait::Job(self.acts(1)),
            21 => {
                let at = self.at();
                Wait::Errand(at, self.chance.index(self.workers[at.runtime]), self.acts(1))
            }
            22 | 23 if self.sections => Wait::Exclusive(self.body(3)),
            24 | 25 if self.sections => Wait::CellExclusive(self.cell(), self.body(3)),
            26..=29 if self.bounds > 0 && !self.in_bound => match self.chance.below(5) {
                0 => {
                    let task = self.chance.one_in(2).then(|| self.bounded_task());
                    Wait::Reserve(self.bound(), task)
                }
                1 => Wait::Room(self.bound()),
                2 => Wait::BoundSpawn(self.bound(), self.bounded_task()),
                3 => Wait::BoundCall(self.bound(), self.bounded_acts()),
                _ => Wait::BoundPost(self.bound(), self.bounded_acts()),
            },
            30 | 31 => Wait::Both(self.body(2), self.body(2)),
            32 | 33 => Wait::Either(self.body(2), self.body(2)),
            _ => return None,
        })
    }

    fn set(&mut self) -> Set {
        let cells =
            |make: &Self, count| (0..count).map(|_| make.chance.index(make.cells)).collect();
        match (self.row, self.chance.below(8)) {
            (Some(row), 0..=2) => {
                let from = self.chance.below(12).saturating_sub(8) as usize;
                let count = row - from;
                if self.chance.one_in(3) {
                    Set::Row(from, count)
                } else {
                    Set::SharedRow(from, count)
                }
            }
            (_, 3) => Set::Slice(cells(self, self.chance.below(5))),
            (_, 4) => Set::Shared(cells(self, self.chance.below(5))),
            _ => {
                let pattern = self.chance.of(&PATTERNS);
                // Each cell once, as a tuple wants it.
                let start = self.chance.index(self.cells);
                let all = (0..self.cells).map(|step| (start + step) % self.cells);
                let all: Vec<_> = all.take(pattern.len()).collect();
                let pattern = if all.len() < pattern.len() { PATTERNS[0] } else { pattern };
                Set::Tuple(pattern, all)
            }
        }
    }
}

/// What a tuple wants of its cells.
const PATTERNS: [&str; 11] =
    ["x", "xx", "sx", "xs", "ss", "xxx", "sss", "xsx", "xxxx", "ssss", "xssx"];

/// Whether somebody may wait for what is forgotten with it.
fn must_end(wait: &Wait) -> bool {
    match wait {
        Wait::Yield
        | Wait::Signal
        | Wait::Call(..)
        | Wait::TryCall(..)
        | Wait::Read(..)
        | Wait::TryRead(..)
        | Wait::When(..)
        | Wait::TryWhen(..)
        | Wait::Errand(..) => false,
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
