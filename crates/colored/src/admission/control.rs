//! The controller: a function of what happened when. It knows no clock.

use super::codel::CoDel;
use super::door::Door;
use super::overloaded::Gate;

/// How long something that runs may have waited at most, in targets.
const VALVE: u64 = 2;

/// All times in nanoseconds of one clock, which does not go back.
#[derive(Debug)]
pub(super) struct Control {
    target: u64,
    codel: CoDel,
    door: Door,
    /// When the last turn was, or something began to wait.
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
            door: Door::new(target, interval),
            last_move: 0,
            last_sojourn: 0,
            counts: Counts::default(),
        }
    }

    /// Something is offered that arrived at `arrived`; which gate refuses it, if any. If none,
    /// [`turn`](Self::turn) or [`abandon`](Self::abandon) follows.
    pub(super) fn arrive(&mut self, arrived: u64, now: u64) -> Result<(), Gate> {
        let waiting = self.counts.waiting;
        let gate = if self.is_late(arrived, now) {
            Some(Gate::Late)
        } else if self.door.refuses(now, waiting) || self.codel.refuses(now) {
            Some(Gate::Door)
        } else {
            None
        };
        if let Some(gate) = gate {
            self.counts.rejected += 1;
            return Err(gate);
        }
        if waiting == 0 {
            self.last_move = now;
        }
        self.door.somebody_waits(now);
        self.counts.waiting += 1;
        self.counts.admitted += 1;
        Ok(())
    }

    /// The turn has come for what arrived at `arrived`; whether it may begin.
    pub(super) fn turn(&mut self, arrived: u64, now: u64) -> bool {
        let sojourn = now.saturating_sub(arrived);
        let begins = !self.is_late(arrived, now);
        (self.last_move, self.last_sojourn) = (now, sojourn);
        self.counts.waiting -= 1;
        if begins {
            self.counts.begun += 1;
            self.door.begins(now);
        } else {
            self.counts.shed += 1;
        }
        let others_wait = self.counts.waiting > 0;
        if self.codel.turn(now, sojourn, others_wait) {
            self.door.stands(now);
        }
        if !others_wait {
            self.door.nobody_waits();
        }
        begins
    }

    fn is_late(&self, arrived: u64, now: u64) -> bool {
        now.saturating_sub(arrived) > self.target.saturating_mul(VALVE)
    }

    /// Something that waited has gone away.
    pub(super) fn abandon(&mut self) {
        self.counts.waiting -= 1;
        self.counts.abandoned += 1;
        if self.counts.waiting == 0 {
            self.door.nobody_waits();
        }
    }

    /// The delay of what began last; if something waits and nothing has moved for longer, that.
    pub(super) fn delay(&self, now: u64) -> u64 {
        match self.counts.waiting {
            0 => self.last_sojourn,
            _ => self.last_sojourn.max(now.saturating_sub(self.last_move)),
        }
    }
}
