//! The faults that happen between turns: partitions, crashes, pauses, steps of clocks, stalls, timers that fire late.

use super::hosts::Hosts;
use crate::world::{Fault, Order, World};
use colored_machine::TICK;
use std::mem;
use std::task::Waker;
use std::time::Duration;

/// What a fault has done, to be undone at its end.
#[derive(Debug)]
pub(super) enum Undo {
    Heal(usize, usize),
    Restart(usize),
    Resume(usize),
    /// Fires these timers of a worker: its host, and its number there.
    Fire((usize, usize), Vec<Waker>),
}

impl Undo {
    /// Whether it fires timers of this host.
    pub(super) fn is_of_timers(&self, host: usize) -> bool {
        matches!(self, Undo::Fire(of, _) if of.0 == host)
    }
}

/// Keeps a timer of this worker that is due, if the worker is late, or is so from now on: [`Hosts::choose_lateness`] says until
/// when. Otherwise gives it back, and so one that wakes nobody.
pub(super) fn keep(
    world: &World,
    undo: &mut Vec<(u64, Undo)>,
    worker: (usize, usize),
    waker: Waker,
) -> Option<Waker> {
    // As that of a search for deadlocks. `will_wake` does not know each copy of `Waker::noop`.
    if waker.data().is_null() {
        return Some(waker);
    }
    let kept = undo.iter_mut().find_map(|(_, undo)| match undo {
        Undo::Fire(of, kept) if *of == worker => Some(kept),
        _ => None,
    });
    match kept {
        Some(kept) => kept.push(waker),
        None if world.fault(Fault::Lateness, worker.0) => {
            undo.push((u64::MAX, Undo::Fire(worker, vec![waker])));
        }
        None => return Some(waker),
    }
    None
}

/// The shortest fault, in nanoseconds: 10 ms. Each doubling is a choice.
const SHORTEST: u64 = 10_000_000;
pub(super) const LONGEST: u64 = 100_000_000_000;

/// The smallest step of a clock: a second.
const STEP: i64 = 1_000_000_000;
const LONGEST_STEP: i64 = 1 << 45;

/// The longest time that passes while tasks are runnable, in nanoseconds. A program may take a longer wait for lost.
const LONGEST_STALL: u64 = 10_000_000_000;

/// The shortest time by which timers are late, in nanoseconds.
const LEAST_LATE: u64 = 1_000_000;

impl Hosts {
    /// Begins, and ends, the faults whose time it is.
    pub(super) fn change_faults(&mut self) {
        if self.world.is_quiet() {
            return self.end_faults(u64::MAX);
        }
        // First, so that the faults end that are over by then.
        if self.world.fault(Fault::Stall, 0) {
            self.stall();
        }
        self.end_faults(self.world.now());
        if self.world.fault(Fault::Partition, 0) {
            self.begin_partition();
        }
        if self.world.fault(Fault::Crash, 0)
            && let Some(host) = self.choose_host(1)
            && self.is_awake(host)
        {
            self.world.order(host, Order::Crash);
            self.undo_later(host, "crashes", Undo::Restart(host));
        }
        if self.world.fault(Fault::Pause, 0)
            && let Some(host) = self.choose_host(1)
            && self.is_awake(host)
        {
            self.world.order(host, Order::Pause);
            self.undo_later(host, "pauses", Undo::Resume(host));
        }
        if self.world.fault(Fault::Clock, 0)
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
            if !self.world.is_tails(Fault::Stall, 0) {
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
                let what = format!("is cut off from {}", self.world.names()[to]);
                self.undo_later(from, &what, Undo::Heal(from, to));
            }
        }
    }

    /// One of the hosts from this number on. By default the first.
    fn choose_host(&self, first: usize) -> Option<usize> {
        let hosts = self.world.names().len();
        let mut chosen = first;
        for host in first + 1..hosts {
            // Each gets the same chance, the last one of two.
            if self.world.is_one_in((host - first + 1) as u32, Fault::Crash, 0) {
                chosen = host;
            }
        }
        (chosen < hosts).then_some(chosen)
    }

    fn is_tails(&self) -> bool {
        self.world.is_tails(Fault::Crash, 0)
    }

    fn undo_later(&mut self, host: usize, what: &str, undo: Undo) {
        let mut lasts = SHORTEST;
        while lasts < LONGEST && self.is_tails() {
            lasts *= 2;
        }
        let (name, time) = (&self.world.names()[host], Duration::from_nanos(lasts));
        self.world.tell(|| format!("{name} {what}, for {time:?}"));
        self.undo.push((self.world.now() + lasts, undo));
    }

    /// Chooses how late the workers are with their timers that stand behind the first `known`: until behind the next thing that
    /// is due, and perhaps for longer.
    pub(super) fn choose_lateness(&mut self, known: usize) {
        for (_, undo) in self.undo.split_off(known) {
            let Undo::Fire((host, worker), _) = undo else { unreachable!("only timers are kept") };
            let now = self.world.now();
            let mut late = self.next_due().map_or(0, |next| next.saturating_sub(now));
            late = late.clamp(LEAST_LATE, LONGEST_STALL);
            while late < LONGEST_STALL && self.world.is_tails(Fault::Lateness, host) {
                late = (4 * late).min(LONGEST_STALL);
            }
            // What happens at the same time comes first.
            late += TICK;
            let (time, name) = (Duration::from_nanos(late), &self.world.names()[host]);
            self.world
                .tell(|| format!("worker {worker} of {name} is late with its timers, by {time:?}"));
            self.undo.push((now + late, undo));
        }
    }

    /// Ends the faults that are due until then.
    fn end_faults(&mut self, until: u64) {
        if self.undo.is_empty() {
            return;
        }
        let all = mem::take(&mut self.undo).into_iter();
        let (due, later): (Vec<_>, Vec<_>) = all.partition(|(at, _)| *at <= until);
        self.undo = later;
        for (_, undo) in due {
            match undo {
                Undo::Heal(from, to) => self.world.network().heal(from, to),
                Undo::Restart(host) => self.world.order(host, Order::Restart),
                Undo::Resume(host) => self.world.order(host, Order::Resume),
                Undo::Fire((host, _), wakers) => self.wake(host, wakers),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Rates;
    use std::sync::Arc;
    use std::task::Wake;

    struct Wakes;

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {}
    }

    #[test]
    fn a_timer_that_wakes_nobody_is_never_late() {
        let rates: Rates = [1; Fault::ALL.len()];
        let mut world = World::new(vec!["main".to_owned()], |_, _, _| true, |_| ());
        world.rates = rates;
        let mut undo = Vec::new();
        assert!(keep(&world, &mut undo, (0, 0), Waker::noop().clone()).is_some());
        assert!(undo.is_empty());
        assert!(keep(&world, &mut undo, (0, 0), Arc::new(Wakes).into()).is_none());
        assert_eq!(undo.len(), 1);
    }
}
