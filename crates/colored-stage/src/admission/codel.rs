//! CoDel (Nichols and Jacobson, "Controlling Queue Delay", ACM Queue 2012; RFC 8289), at arrival.
//!
//! A queue that empties now and then has absorbed a burst and done its work. A queue in which
//! everything waits longer than the target, for a whole interval, only adds delay: it stands. Then one
//! arrival is refused, the next one an interval later, the next `interval / sqrt(2)` after that, then
//! `interval / sqrt(3)`: a sender that slows down when it is refused has time to do so, and the rate of
//! refusals grows linearly until it is enough. As soon as something has waited for less than the
//! target, it ends; if it begins again soon, it goes on from the rate that sufficed.
//!
//! The original drops from the head when it dequeues. Work that has been accepted should be done, so
//! this one refuses at arrival, as in SEDA; it learns the delay from the work that begins.

/// A standing queue that returns within so many intervals is the same one.
///
/// RFC 8289, section 5.5.
const MEMORY: u64 = 16;

/// All times in nanoseconds of one clock.
#[derive(Debug)]
pub(super) struct CoDel {
    target: u64,
    interval: u64,
    /// When the queue will have stood for an interval, if it goes on as it does.
    stands_at: Option<u64>,
    /// While it refuses.
    refusing: bool,
    /// How far the law has come, and from where.
    count: u64,
    count_at_first: u64,
    /// When the next arrival is refused.
    next: u64,
}

impl CoDel {
    pub(super) fn new(target: u64, interval: u64) -> Self {
        Self {
            target,
            interval,
            stands_at: None,
            refusing: false,
            count: 0,
            count_at_first: 0,
            next: 0,
        }
    }

    /// Something has waited for `sojourn` when its turn came, and left others waiting or not.
    /// Returns whether the queue stands.
    pub(super) fn turn(&mut self, now: u64, sojourn: u64, others_wait: bool) -> bool {
        if sojourn < self.target || !others_wait {
            self.stands_at = None;
            self.refusing = false;
            return false;
        }
        let stands_at = *self.stands_at.get_or_insert(now.saturating_add(self.interval));
        if now < stands_at {
            return false;
        }
        if !self.refusing {
            self.begin(now);
        }
        true
    }

    fn begin(&mut self, now: u64) {
        let more = self.count.saturating_sub(self.count_at_first);
        let recent = now.saturating_sub(self.next) < MEMORY.saturating_mul(self.interval);
        self.count_at_first = if more > 1 && recent { more } else { 1 };
        // The refusal of the next arrival counts.
        self.count = self.count_at_first - 1;
        self.refusing = true;
        self.next = now;
    }

    /// Whether something that arrives now is refused.
    pub(super) fn refuses(&mut self, now: u64) -> bool {
        if !self.refusing || now < self.next {
            return false;
        }
        self.count += 1;
        self.next = self.next.saturating_add(self.pause());
        true
    }

    /// The control law.
    fn pause(&self) -> u64 {
        (self.interval as f64 / (self.count as f64).sqrt()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::CoDel;

    const TARGET: u64 = 1_000;
    const INTERVAL: u64 = 10_000;

    /// Every time at which an arrival is refused, of one at each moment, while all wait for
    /// `sojourn`.
    fn refused(codel: &mut CoDel, times: std::ops::Range<u64>, sojourn: u64) -> Vec<u64> {
        times
            .filter(|now| {
                codel.turn(*now, sojourn, true);
                codel.refuses(*now)
            })
            .collect()
    }

    #[test]
    fn it_waits_for_an_interval_and_then_follows_the_law() {
        let mut codel = CoDel::new(TARGET, INTERVAL);
        let times = refused(&mut codel, 0..100_000, TARGET);
        let mut expected = INTERVAL as f64;
        for (count, time) in times.iter().enumerate() {
            let error = expected - *time as f64;
            assert!(error.abs() <= count as f64 + 1.0, "refusal {count}: {time} for {expected}");
            expected += INTERVAL as f64 / ((count + 1) as f64).sqrt();
        }
        // The sum of the first n pauses is about 2 · interval · sqrt(n).
        assert_eq!(times.len(), 27);
    }

    #[test]
    fn one_that_waited_less_ends_it_and_so_does_the_last_of_the_queue() {
        for (sojourn, others_wait) in [(TARGET - 1, true), (TARGET, false)] {
            let mut codel = CoDel::new(TARGET, INTERVAL);
            assert!(!refused(&mut codel, 0..INTERVAL + 10, TARGET).is_empty());
            assert!(!codel.turn(INTERVAL + 10, sojourn, others_wait));
            let after = INTERVAL + 11..2 * INTERVAL + 10;
            assert_eq!(refused(&mut codel, after, TARGET), [0; 0], "a whole interval again");
        }
    }

    #[test]
    fn delay_below_the_target_is_never_refused() {
        let mut codel = CoDel::new(TARGET, INTERVAL);
        assert_eq!(refused(&mut codel, 0..100_000, TARGET - 1), [0; 0]);
    }

    #[test]
    fn a_queue_that_soon_stands_again_is_refused_at_the_rate_that_sufficed() {
        let mut codel = CoDel::new(TARGET, INTERVAL);
        let first = refused(&mut codel, 0..100_000, TARGET);
        codel.turn(100_000, 0, true);
        let soon = refused(&mut codel, 100_001..150_000, TARGET);
        let gap = |times: &[u64]| times[1] - times[0];
        assert!(gap(&soon) < gap(&first) / 4, "{} after {}", gap(&soon), gap(&first));
        codel.turn(150_000, 0, true);
        let later = refused(&mut codel, 500_000..600_000, TARGET);
        assert_eq!(gap(&later), gap(&first));
    }
}
