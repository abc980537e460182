//! The controller: a function of events and their times. It knows no clock.

use super::codel::CoDel;
use super::gate::Gate;
use super::overloaded::Check;

/// The longest wait of work that may still begin, in targets.
const MAX_AGE: u64 = 2;

/// All times in nanoseconds of one clock, which does not go back.
#[derive(Debug)]
pub(super) struct Control {
    target: u64,
    codel: CoDel,
    gate: Gate,
    /// The time of the last turn, or of the moment when work began to wait.
    last_move: u64,
    last_sojourn: u64,
    pub(super) counts: Counts,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) waiting: u64,
    pub(super) admitted: u64,
    pub(super) begun: u64,
    pub(super) rejected: u64,
    pub(super) shed: u64,
    pub(super) abandoned: u64,
}

impl Control {
    pub(super) fn new(target: u64, interval: u64) -> Self {
        Self {
            target,
            codel: CoDel::new(target, interval),
            gate: Gate::new(target, interval),
            last_move: 0,
            last_sojourn: 0,
            counts: Counts::default(),
        }
    }

    /// Work is offered that arrived at `arrived`. An error is the check that refuses it. After `Ok`,
    /// [`turn`](Self::turn) or [`abandon`](Self::abandon) follows.
    pub(super) fn arrive(&mut self, arrived: u64, now: u64) -> Result<(), Check> {
        let waiting = self.counts.waiting;
        let check = if self.is_late(arrived, now) {
            Some(Check::AgeAtArrival)
        } else if self.gate.refuses(now, waiting) || self.codel.refuses(now) {
            Some(Check::Queue)
        } else {
            None
        };
        if let Some(check) = check {
            self.counts.rejected += 1;
            return Err(check);
        }
        if waiting == 0 {
            self.last_move = now;
        }
        self.gate.something_waits(now);
        self.counts.waiting += 1;
        self.counts.admitted += 1;
        Ok(())
    }

    /// The turn has come for the work that arrived at `arrived`. Returns whether it may begin.
    pub(super) fn turn(&mut self, arrived: u64, now: u64) -> bool {
        let sojourn = now.saturating_sub(arrived);
        let begins = !self.is_late(arrived, now);
        (self.last_move, self.last_sojourn) = (now, sojourn);
        self.counts.waiting -= 1;
        if begins {
            self.counts.begun += 1;
            self.gate.begins(now);
        } else {
            self.counts.shed += 1;
        }
        let others_wait = self.counts.waiting > 0;
        if self.codel.turn(now, sojourn, others_wait) {
            self.gate.stands(now);
        }
        if !others_wait {
            self.gate.nothing_waits();
        }
        begins
    }

    fn is_late(&self, arrived: u64, now: u64) -> bool {
        now.saturating_sub(arrived) > self.target.saturating_mul(MAX_AGE)
    }

    /// Waiting work was abandoned.
    pub(super) fn abandon(&mut self) {
        self.counts.waiting -= 1;
        self.counts.abandoned += 1;
        if self.counts.waiting == 0 {
            self.gate.nothing_waits();
        }
    }

    /// The delay of the work that began last; or, if work waits and nothing has moved for longer, that time.
    pub(super) fn delay(&self, now: u64) -> u64 {
        match self.counts.waiting {
            0 => self.last_sojourn,
            _ => self.last_sojourn.max(now.saturating_sub(self.last_move)),
        }
    }
}
