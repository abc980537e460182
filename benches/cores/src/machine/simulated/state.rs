//! The cores, their clocks, and what they wait for.

use super::cache::{Came, Lines};
use crate::costs::Costs;
use crate::machine::Spent;
use colored_core::watch::Access;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// What a core waits for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Waits {
    /// Its turn.
    #[default]
    Nothing,
    Lock {
        address: usize,
        since: u64,
    },
    Parked,
}

#[derive(Debug, Default)]
pub(super) struct Core {
    pub(super) clock: u64,
    pub(super) waits: Waits,
    pub(super) token: bool,
    /// When its last store has its line.
    stored: u64,
    /// How often it has had its turn. An entry of the agenda is of one turn.
    turn: u64,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) cores: Vec<Core>,
    pub(super) lines: Lines,
    pub(super) places: BTreeMap<&'static str, Spent>,
    /// The core that runs.
    pub(super) running: Option<usize>,
    pub(super) done: u64,
    /// The times between which operations count.
    pub(super) window: (u64, u64),
    pub(super) asleep: u64,
    counts: bool,
    /// Time, core, and turn of the core.
    agenda: BinaryHeap<Reverse<(u64, usize, u64)>>,
}

impl State {
    pub(super) fn new(cores: Vec<Core>) -> Self {
        let agenda = (0..cores.len()).map(|core| Reverse((0, core, 0))).collect();
        Self {
            cores,
            lines: Lines::default(),
            places: BTreeMap::new(),
            running: None,
            done: 0,
            window: (0, 0),
            asleep: 0,
            counts: false,
            agenda,
        }
    }

    /// Gives the turn to the core that is furthest behind.
    pub(super) fn take_next(&mut self) -> Option<usize> {
        self.running = None;
        while let Some(Reverse((time, core, turn))) = self.agenda.pop() {
            let of = &mut self.cores[core];
            if of.turn == turn {
                of.turn += 1;
                of.clock = of.clock.max(time);
                of.waits = Waits::Nothing;
                self.running = Some(core);
                break;
            }
        }
        self.running
    }

    /// Whether another core that could run is behind this one.
    pub(super) fn is_ahead(&mut self, core: usize) -> bool {
        while let Some(Reverse((time, other, turn))) = self.agenda.peek().copied() {
            if self.cores[other].turn == turn {
                return time < self.cores[core].clock;
            }
            self.agenda.pop();
        }
        false
    }

    pub(super) fn make_ready(&mut self, core: usize) {
        self.wake_at(core, self.cores[core].clock);
    }

    /// The core, which waits, has its turn at that time if it has none before.
    pub(super) fn wake_at(&mut self, core: usize, time: u64) {
        self.agenda.push(Reverse((time, core, self.cores[core].turn)));
    }

    fn spent(&mut self, place: &'static str) -> &mut Spent {
        self.places.entry(place).or_default()
    }

    pub(super) fn access(
        &mut self,
        core: usize,
        costs: &Costs,
        address: usize,
        access: Access,
        place: &'static str,
    ) {
        let now = self.cores[core].clock + costs.own;
        let line = self.lines.line(address, core);
        let came = match access {
            Access::Read => line.read(core, now, costs.line),
            Access::Write => line.write(core, now, costs.line, 0),
            Access::Exchange => {
                let now = now.max(self.cores[core].stored);
                line.write(core, now, costs.line, costs.exchange)
            }
        };
        let of = &mut self.cores[core];
        of.clock = now;
        let (start, end) = match came {
            Came::Own => (now, now),
            Came::Moved(start, end) => (start, end),
        };
        match access {
            // The core goes on while a store waits for its line.
            Access::Write => of.stored = of.stored.max(end),
            Access::Read => of.clock = end,
            Access::Exchange => of.clock = end.max(of.stored) + costs.exchange,
        }
        if end > now && self.counts {
            let spent = self.spent(place);
            spent.moves += 1;
            if access != Access::Write {
                spent.moving += end - start;
                spent.queued += start - now;
            }
        }
    }

    pub(super) fn fence(&mut self, core: usize, costs: &Costs, place: &'static str) {
        let of = &mut self.cores[core];
        let waits = of.stored.saturating_sub(of.clock);
        of.clock += waits + costs.fence;
        if self.counts {
            self.spent(place).moving += waits;
        }
    }

    /// The core has given a lock back: those that spin try again, or one that sleeps is woken.
    pub(super) fn unlock(&mut self, core: usize, costs: &Costs, address: usize) {
        let now = self.cores[core].clock;
        let waiting = |of: &Core| match of.waits {
            Waits::Lock { address: at, since } if at == address => Some(since),
            _ => None,
        };
        let all: Vec<(usize, u64)> =
            (0..self.cores.len()).filter_map(|at| Some((at, waiting(&self.cores[at])?))).collect();
        let mut spins = false;
        for (at, since) in &all {
            if since + costs.lock_spin >= now {
                spins = true;
                self.wake_at(*at, now);
            }
        }
        let first = all.iter().min_by_key(|(_, since)| *since);
        if let Some((at, _)) = first.filter(|_| !spins) {
            self.cores[core].clock += costs.wake;
            self.wake_at(*at, now + costs.latency);
        }
    }

    pub(super) fn unpark(&mut self, core: usize, other: usize, costs: &Costs) {
        if matches!(self.cores[other].waits, Waits::Parked) && !self.cores[other].token {
            let time = self.cores[core].clock + costs.latency;
            self.cores[core].clock += costs.wake;
            self.wake_at(other, time);
        } else {
            self.cores[core].clock += costs.exchange;
        }
        self.cores[other].token = true;
    }

    pub(super) fn begin_window(&mut self, core: usize) {
        self.window.0 = self.cores[core].clock;
        self.counts = true;
        self.places.clear();
        self.asleep = 0;
    }

    pub(super) fn end_window(&mut self, core: usize) {
        self.window.1 = self.cores[core].clock.max(self.window.0);
        self.counts = false;
    }

    /// The core has waited for a lock since that time.
    pub(super) fn count_wait(&mut self, core: usize, since: u64, place: &'static str) {
        if self.counts {
            let waited = self.cores[core].clock - since;
            self.spent(place).locked += waited;
        }
    }

    /// The core has slept since that time.
    pub(super) fn count_sleep(&mut self, core: usize, since: u64) {
        if self.counts {
            let since = since.max(self.window.0);
            self.asleep += self.cores[core].clock.saturating_sub(since);
        }
    }
}
