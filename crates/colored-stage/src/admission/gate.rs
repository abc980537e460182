//! The admission gate: it lets no more work wait than will begin in time.
//!
//! CoDel is slow with senders that ignore refusals: it needs `(interval · r)²` refusals to
//! reach a rate `r` of refusals. The gate bounds these senders. While something has been waiting without a break, the
//! gate expects as much work to begin in the next two targets of time as in the last two. If the queue stands, as much
//! may wait as will begin in one target. If it may yet turn out to be a burst, four targets are the limit: no work may
//! wait for more than two, and service that is slow by chance for a moment must not look like overload. For the first
//! two targets nothing is known, and everything is admitted.

/// All times in nanoseconds of one clock.
#[derive(Debug)]
pub(super) struct Gate {
    target: u64,
    interval: u64,
    /// While something waits.
    window: Option<Window>,
    /// Until when the queue counts as standing: an interval after the last sign.
    strict_until: u64,
}

/// One target of time.
#[derive(Debug)]
struct Window {
    ends: u64,
    begun: u64,
    /// The counts of the window before, and of the window before that, if something has waited
    /// throughout.
    before: [Option<u64>; 2],
}

impl Gate {
    pub(super) fn new(target: u64, interval: u64) -> Self {
        Self { target, interval, window: None, strict_until: 0 }
    }

    /// The queue stands.
    pub(super) fn stands(&mut self, now: u64) {
        self.strict_until = now.saturating_add(self.interval);
    }

    /// Something waits now, or goes on to.
    pub(super) fn something_waits(&mut self, now: u64) {
        let ends = now.saturating_add(self.target);
        self.window
            .get_or_insert(Window { ends, begun: 0, before: [None; 2] })
            .roll(now, self.target);
    }

    /// Nothing waits now.
    pub(super) fn nothing_waits(&mut self) {
        self.window = None;
    }

    /// Something begins.
    pub(super) fn begins(&mut self, now: u64) {
        if let Some(window) = &mut self.window {
            window.roll(now, self.target);
            window.begun += 1;
        }
    }

    /// Whether something that arrives now is refused because so many wait already.
    pub(super) fn refuses(&mut self, now: u64, waiting: u64) -> bool {
        let Some(window) = &mut self.window else { return false };
        window.roll(now, self.target);
        let strict = now < self.strict_until;
        let [Some(last), Some(before)] = window.before else { return false };
        let in_two_targets = last + before;
        let limit = if strict { in_two_targets / 2 } else { in_two_targets.saturating_mul(2) };
        // One has to wait for the next turn, whatever has been.
        let refuses = waiting >= limit.max(1);
        if refuses && strict {
            self.stands(now);
        }
        refuses
    }
}

impl Window {
    fn roll(&mut self, now: u64, target: u64) {
        if now < self.ends {
            return;
        }
        let passed = (now - self.ends) / target + 1;
        self.before = match passed {
            1 => [Some(self.begun), self.before[0]],
            2 => [Some(0), Some(self.begun)],
            _ => [Some(0); 2],
        };
        self.begun = 0;
        self.ends = self.ends.saturating_add(passed.saturating_mul(target));
    }
}

#[cfg(test)]
mod tests {
    use super::Gate;

    const TARGET: u64 = 100;
    const INTERVAL: u64 = 1_000;

    /// A gate where something has waited since 0, and work began every 10 until `now`.
    fn busy(now: u64) -> Gate {
        let mut gate = Gate::new(TARGET, INTERVAL);
        gate.something_waits(0);
        for time in (0..now).step_by(10) {
            gate.begins(time);
        }
        gate
    }

    #[test]
    fn for_two_targets_everything_comes_in() {
        let mut gate = Gate::new(TARGET, INTERVAL);
        assert!(!gate.refuses(0, 1_000_000));
        assert!(!busy(190).refuses(199, 1_000_000));
        assert!(busy(200).refuses(200, 1_000_000));
    }

    #[test]
    fn as_many_wait_as_begin_in_four_targets_or_in_one_if_the_queue_stands() {
        let mut gate = busy(200);
        assert!(!gate.refuses(200, 39) && gate.refuses(200, 40));
        gate.stands(200);
        assert!(!gate.refuses(210, 9) && gate.refuses(210, 10));
        // Each refusal is a sign that it still stands; an interval without one is one that it does
        // not.
        for time in (210..1_300).step_by(10) {
            gate.begins(time);
        }
        assert!(!gate.refuses(1_300, 39) && gate.refuses(1_300, 40));
    }

    #[test]
    fn an_idle_gate_forgets_and_a_stopped_queue_lets_one_wait() {
        let mut gate = busy(200);
        gate.nothing_waits();
        gate.something_waits(205);
        assert!(!gate.refuses(206, 1_000_000));
        let mut gate = busy(100);
        assert!(!gate.refuses(299, 19) && gate.refuses(299, 20), "none began in the last window");
        assert!(!gate.refuses(500, 0) && gate.refuses(500, 1), "nor in those before");
    }
}
