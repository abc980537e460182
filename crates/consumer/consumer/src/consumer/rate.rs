//! How many records of a key may begin at a time: a bucket that is full of tokens at first, takes one for each record, and fills
//! again over time. It is one number: when the bucket is full again.
//!
//! Invariants:
//!
//! * A record is counted when it begins: so a run has one call.
//! * In any span of time a key begins at most the records of a full bucket, and what fills in that span.
//! * A lane without records stays until its bucket is full: a lane that is made again has a full one.

use super::claimed::Claimed;
use super::clock::after;
use super::context::Claim;
use super::failure::ConsumerError;
use super::lane::{Lane, Phase};
use super::starts::wake_later;
use colored::time::{Duration, Instant};
use std::sync::Arc;

/// At most so many records of a key at once, and as many in this time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    records: u32,
    time: Duration,
}

impl Rate {
    pub(crate) fn new(records: u32, time: Duration) -> Rate {
        Rate { records, time }
    }

    /// Refuses a rate by which no key could go on.
    pub(crate) fn check(self) -> Result<(), ConsumerError> {
        if self.records > 0 && !self.fill().is_zero() {
            return Ok(());
        }
        let Rate { records, time } = self;
        Err(ConsumerError::Setting(format!(
            "a rate of {records} records of a key in {time:?}: 1 or more records, of a nanosecond or more each, are allowed"
        )))
    }

    /// How long one token takes.
    fn fill(self) -> Duration {
        self.time / self.records
    }

    /// How many records may begin now, at least one; or how long the next one has to wait.
    pub(crate) fn room(self, lane: &Lane, now: Instant) -> Result<usize, Duration> {
        // Rounded, all tokens may take less than the whole time.
        let whole = self.fill() * self.records;
        let missing = missing(lane, now);
        let there = whole.saturating_sub(missing).as_nanos() / self.fill().as_nanos();
        match usize::try_from(there).unwrap_or(usize::MAX) {
            0 => Err(missing - (whole - self.fill())),
            there => Ok(there),
        }
    }

    /// How long so many tokens take.
    fn fill_all(self, records: usize) -> Duration {
        self.fill().saturating_mul(u32::try_from(records).unwrap_or(u32::MAX))
    }

    /// So many records of a lane begin.
    pub(crate) fn take(self, lane: &mut Lane, records: usize, now: Instant) {
        let full_at = after(now, missing(lane, now).saturating_add(self.fill_all(records)));
        **lane.full_at.get_or_insert_with(|| Box::new(full_at)) = full_at;
    }

    /// So many records of a lane have not begun after all.
    pub(crate) fn give_back(self, lane: &mut Lane, records: usize) {
        if let Some(full_at) = lane.full_at.as_deref_mut()
            && let Some(earlier) = full_at.checked_sub(self.fill_all(records))
        {
            *full_at = earlier;
        }
    }
}

/// How long the bucket of a lane takes to be full.
fn missing(lane: &Lane, now: Instant) -> Duration {
    lane.full_at.as_ref().map_or(Duration::ZERO, |full_at| full_at.saturating_duration_since(now))
}

impl Claimed {
    /// A lane has no record any more. It goes, or stays until its bucket is full.
    pub(crate) fn end_lane(&mut self, claim: &Arc<Claim>, at: u32, now: Instant) {
        let lane = &mut self.lanes[at];
        let rest = missing(lane, now);
        if rest.is_zero() || !self.is_active || lane.is_alone() {
            return self.remove_lane(at);
        }
        (lane.phase, lane.attempts) = (Phase::Idle, 0);
        lane.task = Some(wake_later(claim, at, Phase::Idle, rest));
    }
}

#[cfg(test)]
mod tests {
    use super::super::lane::LaneKey;
    use super::*;
    use colored::Color;

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn a_rate_that_lets_nothing_pass_is_refused() {
        assert!(Rate::new(0, millis(1)).check().is_err());
        assert!(Rate::new(1, Duration::ZERO).check().is_err());
        assert!(Rate::new(2, Duration::from_nanos(1)).check().is_err());
        assert!(Rate::new(2, Duration::from_nanos(2)).check().is_ok());
    }

    #[test]
    fn a_bucket_has_all_its_tokens_at_first_and_one_more_each_time() {
        let rate = Rate::new(4, millis(100));
        let start = Instant::now();
        let mut lane = Lane::new(LaneKey::Partition, Color::unique(), start);
        assert_eq!(rate.room(&lane, start), Ok(4));
        rate.take(&mut lane, 3, start);
        assert_eq!(rate.room(&lane, start), Ok(1));
        let place = lane.full_at.as_deref().map(std::ptr::from_ref);
        rate.take(&mut lane, 1, start);
        assert_eq!(lane.full_at.as_deref().map(std::ptr::from_ref), place, "it is written anew");
        assert_eq!(rate.room(&lane, start), Err(millis(25)));
        assert_eq!(rate.room(&lane, start + millis(24)), Err(millis(1)));
        assert_eq!(rate.room(&lane, start + millis(25)), Ok(1));
        assert_eq!(rate.room(&lane, start + millis(1_000)), Ok(4), "and no more");
        rate.give_back(&mut lane, 2);
        assert_eq!(rate.room(&lane, start), Ok(2));
    }

    /// In no span a key begins more than a full bucket and what fills in the span.
    #[test]
    fn no_span_has_too_many() {
        let mut chance = fastrand::Rng::with_seed(7);
        for records in [1, 3, 10] {
            let (rate, start) = (Rate::new(records, millis(70)), Instant::now());
            let mut lane = Lane::new(LaneKey::Partition, Color::unique(), start);
            let (mut now, mut begun) = (start, Vec::new());
            for _ in 0..500 {
                now += millis(chance.u64(..20));
                match rate.room(&lane, now) {
                    Ok(room) => {
                        let count = chance.usize(1..=room);
                        rate.take(&mut lane, count, now);
                        begun.extend(std::iter::repeat_n(now, count));
                    }
                    Err(wait) => assert!(rate.room(&lane, now + wait).is_ok()),
                }
            }
            for (first, from) in begun.iter().enumerate() {
                for (last, to) in begun.iter().enumerate().skip(first) {
                    let filled = (*to - *from).as_nanos() / rate.fill().as_nanos();
                    assert!((last - first + 1) as u128 <= u128::from(records) + filled + 1);
                }
            }
        }
    }
}
