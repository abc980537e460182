//! The faults that happen between turns: partitions, crashes, pauses, steps of clocks, stalls.

use super::hosts::Hosts;
use crate::world::{Family, Order};
use std::time::Duration;

/// What a fault has done, to be undone at its end.
#[derive(Clone, Copy, Debug)]
pub(super) enum Undo {
    Heal(usize, usize),
    Restart(usize),
    Resume(usize),
}

/// The shortest fault, in nanoseconds: 10 ms. Each doubling is a choice.
const SHORTEST: u64 = 10_000_000;
const LONGEST: u64 = 100_000_000_000;

/// The smallest step of a clock: a second.
const STEP: i64 = 1_000_000_000;
const LONGEST_STEP: i64 = 1 << 45;

/// The longest time that passes while tasks are runnable, in nanoseconds. A program may take a longer wait for lost.
const LONGEST_STALL: u64 = 10_000_000_000;

impl Hosts {
    /// Begins, and ends, the faults whose time it is.
    pub(super) fn change_faults(&mut self) {
        if self.world.is_quiet() {
            return self.end_faults(u64::MAX);
        }
        // First, so that the faults end that are over by then.
        if self.world.fault(Family::Stall, 0) {
            self.stall();
        }
        self.end_faults(self.world.now());
        if self.world.fault(Family::Partition, 0) {
            self.begin_partition();
        }
        if self.world.fault(Family::Crash, 0)
            && let Some(host) = self.choose_host(1)
            && self.is_awake(host)
        {
            self.world.order(host, Order::Crash);
            self.undo_later("crashes", Undo::Restart(host));
        }
        if self.world.fault(Family::Pause, 0)
            && let Some(host) = self.choose_host(1)
            && self.is_awake(host)
        {
            self.world.order(host, Order::Pause);
            self.undo_later("pauses", Undo::Resume(host));
        }
        if self.world.fault(Family::Clock, 0)
            && let Some(host) = self.choose_host(0)
        {
            let mut step = STEP;
            while step < LONGEST_STEP && self.is_tails() {
                step *= 2;
            }
            let step = if self.is_tails() { -step } else { step };
            self.world.step_clock(host, step);
            let name = &self.world.names()[host];
            self.world.tell(|| format!("the clock of {name} steps by {} s", step / STEP));
        }
    }

    /// Time passes while tasks are runnable: until something is due, and perhaps until more is.
    fn stall(&mut self) {
        let begin = self.world.now();
        while let Some(next) = self.next_due().filter(|next| *next <= begin + LONGEST_STALL) {
            self.move_clocks(next);
            if !self.world.is_tails(Family::Stall, 0) {
                break;
            }
        }
        let passed = Duration::from_nanos(self.world.now() - begin);
        self.world.tell(|| format!("nothing runs for {passed:?}"));
    }

    fn begin_partition(&mut self) {
        let (Some(from), Some(to)) = (self.choose_host(0), self.choose_host(0)) else { return };
        let ways = [(from, to), (to, from)];
        let is_both = self.is_tails();
        for (from, to) in ways.into_iter().take(if is_both { 2 } else { 1 }) {
            // What the program has cut is not the fault's to heal.
            let mut network = self.world.network();
            if from != to && !network.is_cut(from, to) {
                network.cut(from, to);
                drop(network);
                self.undo_later("is cut off", Undo::Heal(from, to));
            }
        }
    }

    /// One of the hosts from this number on. By default the first.
    fn choose_host(&self, first: usize) -> Option<usize> {
        let hosts = self.world.names().len();
        let mut chosen = first;
        for host in first + 1..hosts {
            // Each gets the same chance, the last one of two.
            if self.world.is_one_in((host - first + 1) as u32, Family::Crash, 0) {
                chosen = host;
            }
        }
        (chosen < hosts).then_some(chosen)
    }

    fn is_tails(&self) -> bool {
        self.world.is_tails(Family::Crash, 0)
    }

    fn undo_later(&mut self, what: &str, undo: Undo) {
        let mut lasts = SHORTEST;
        while lasts < LONGEST && self.is_tails() {
            lasts *= 2;
        }
        self.undo.push((self.world.now() + lasts, undo));
        let names = self.world.names();
        let (host, to) = match undo {
            Undo::Heal(from, to) => (from, format!(" from {}", names[to])),
            Undo::Restart(host) | Undo::Resume(host) => (host, String::new()),
        };
        let lasts = Duration::from_nanos(lasts);
        self.world.tell(|| format!("{} {what}{to}, for {lasts:?}", names[host]));
    }

    /// Ends the faults that are due until then.
    fn end_faults(&mut self, until: u64) {
        if self.undo.is_empty() {
            return;
        }
        let (due, later) = self.undo.iter().partition(|(at, _)| *at <= until);
        self.undo = later;
        let due: Vec<(u64, Undo)> = due;
        for (_, undo) in due {
            match undo {
                Undo::Heal(from, to) => self.world.network().heal(from, to),
                Undo::Restart(host) => self.world.order(host, Order::Restart),
                Undo::Resume(host) => self.world.order(host, Order::Resume),
            }
        }
    }
}
