//! The size of batches.
//!
//! The events of a batch share the cost of calling the handler, and of work that the handler does once
//! per batch. But a larger batch makes other events wait longer. So the adaptive size is, as in SEDA,
//! the smallest size with nearly the best throughput. It is a power of two, found by climbing: now and
//! then the current size and a neighbour alternate, a few measurements each, and the neighbour has to
//! win nearly all of the pairs. So a slowdown of both does not count, nor does one measurement that
//! another program has disturbed. Only a saturated queue gives a measurement: a batch that was not full
//! says nothing about its limit.

/// The larger of two sizes must be better by this factor, to be worth the wait.
///
/// A guess: a smaller gain disappears in the noise of a shared machine.
const WORTH: f64 = 1.05;

/// Batches that one measurement takes. Few, since all of them must be full: a queue may be saturated
/// for a slice of the stage before and then empty again.
const BATCHES: u32 = 8;

/// Pairs of measurements in a trial, and how many the neighbour must win.
const PAIRS: u32 = 5;
const WINS: u32 = 4;

/// Full batches between trials, which do not read the clock. Three in a hundred batches have a losing
/// size.
const REST: u32 = 2_500;

/// Batches that are not full, one measurement after another spoilt, before a trial is given up; and
/// full ones until it is made again.
const SPOILT: u32 = 16;
const RETRY: u32 = 64;

/// The size of the batches of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batch {
    /// At most this number of events.
    Fixed(usize),
    /// The smallest power of two up to `max` with nearly the best throughput.
    Adaptive {
        /// The largest size tried.
        max: usize,
    },
}

/// A function of the batches that were taken, and when. It knows no clock.
#[derive(Debug)]
pub(super) enum Batching {
    Fixed(usize),
    Adaptive(Climb),
}

impl Batching {
    pub(super) fn new(batch: Batch) -> Self {
        match batch {
            Batch::Fixed(size) => Self::Fixed(size),
            Batch::Adaptive { max } => Self::Adaptive(Climb::new(max)),
        }
    }

    /// How many events the next batch may have.
    pub(super) fn limit(&self) -> usize {
        match self {
            Self::Fixed(size) => *size,
            Self::Adaptive(climb) => 1 << climb.exponent(),
        }
    }

    /// A batch of so many events was taken, and `left` are left. `now` in nanoseconds, if it is asked
    /// for.
    pub(super) fn took(&mut self, events: usize, left: usize, now: impl FnOnce() -> u64) {
        if let Self::Adaptive(climb) = self {
            climb.took(events, left, now);
        }
    }
}

/// Sizes are exponents of two here.
#[derive(Debug)]
pub(super) struct Climb {
    at: u32,
    largest: u32,
    trial: Option<Trial>,
    /// Full batches until the next trial.
    rest: u32,
    /// When the measurement began, and the batches since then.
    since: Option<u64>,
    batches: u32,
    /// Batches that were not full since the last measurement.
    spoilt: u32,
}

/// The size in use against the next larger or smaller one.
#[derive(Debug)]
struct Trial {
    upward: bool,
    pairs: u32,
    wins: u32,
    /// The first half of a pair: nanoseconds for an event with the size in use.
    own: Option<f64>,
}

impl Climb {
    fn new(max: usize) -> Self {
        let largest = max.max(1).ilog2();
        let (trial, rest, since) = (None, RETRY, None);
        Self { at: 0, largest, trial, rest, since, batches: 0, spoilt: 0 }
    }

    fn exponent(&self) -> u32 {
        match &self.trial {
            Some(Trial { own: Some(_), upward: true, .. }) => self.at + 1,
            Some(Trial { own: Some(_), upward: false, .. }) => self.at - 1,
            _ => self.at,
        }
    }

    fn took(&mut self, events: usize, left: usize, now: impl FnOnce() -> u64) {
        let saturated = events == 1 << self.exponent() && left > 0;
        match (&self.trial, saturated) {
            (None, false) => {}
            (None, true) => {
                self.rest -= 1;
                if self.rest == 0 {
                    self.try_next(true);
                }
            }
            (Some(_), false) => self.spoil(),
            (Some(_), true) => self.measure(events, now),
        }
    }

    /// A larger size may never be filled: back to the size in use, by and by.
    fn spoil(&mut self) {
        self.since = None;
        self.spoilt += 1;
        if self.spoilt == SPOILT {
            self.end_trial(RETRY);
        }
    }

    fn measure(&mut self, events: usize, now: impl FnOnce() -> u64) {
        let Some(since) = self.since else {
            (self.since, self.batches) = (Some(now()), 0);
            return;
        };
        self.batches += 1;
        if self.batches == BATCHES {
            let time = now().saturating_sub(since) as f64;
            // The batch just taken has the old size still.
            (self.since, self.spoilt) = (None, 0);
            self.measured(time / (events as f64 * f64::from(BATCHES)));
        }
    }

    /// An event took so long.
    fn measured(&mut self, time: f64) {
        let Some(trial) = &mut self.trial else { return };
        let Some(own) = trial.own.take() else {
            trial.own = Some(time);
            return;
        };
        trial.pairs += 1;
        let wins = if trial.upward { time * WORTH < own } else { time < own * WORTH };
        trial.wins += u32::from(wins);
        if trial.pairs == PAIRS {
            self.decide();
        }
    }

    /// A direction that has won is tried further.
    fn decide(&mut self) {
        let Some(Trial { upward, wins, .. }) = self.trial.take() else { return };
        match (wins >= WINS, upward) {
            (true, true) => self.at += 1,
            (true, false) => self.at -= 1,
            (false, true) => return self.try_next(false),
            (false, false) => return self.end_trial(REST),
        }
        self.try_next(upward);
    }

    fn try_next(&mut self, upward: bool) {
        self.end_trial(REST);
        let upward = upward && self.at < self.largest;
        if upward || self.at > 0 {
            self.trial = Some(Trial { upward, pairs: 0, wins: 0, own: None });
        }
    }

    fn end_trial(&mut self, rest: u32) {
        (self.trial, self.since, self.spoilt, self.rest) = (None, None, 0, rest);
    }
}

#[cfg(test)]
mod tests {
    use super::{Batch, Batching};

    /// A stage with a full queue: a batch takes `dispatch`, and each of its events `event`.
    struct Sim {
        batching: Batching,
        now: u64,
        noise: u64,
    }

    impl Sim {
        fn new(max: usize) -> Self {
            Self { batching: Batching::new(Batch::Adaptive { max }), now: 0, noise: 1 }
        }

        /// Runs this number of batches; returns the mean number of events in a batch.
        fn run(&mut self, batches: u32, dispatch: u64, event: u64) -> f64 {
            let mut events = 0;
            for _ in 0..batches {
                let limit = self.batching.limit();
                let now = self.now;
                self.batching.took(limit, 1_000_000, || now);
                // A percent or two of noise, and now and then another process on the machine.
                self.noise = self.noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let time = dispatch + event * limit as u64;
                let late = if self.noise >> 56 == 0 { 20 * time } else { 0 };
                self.now += time + time * (self.noise >> 33 & 0xf) / 1000 + late;
                events += limit;
            }
            events as f64 / f64::from(batches)
        }
    }

    #[test]
    fn a_handler_that_gains_nothing_gets_small_batches() {
        let mut sim = Sim::new(256);
        sim.run(10_000, 0, 1_000);
        let mean = sim.run(100_000, 0, 1_000);
        assert!(mean < 2.5, "{mean} events in a batch");
    }

    #[test]
    fn a_dear_dispatch_gets_batches_that_make_it_cheap() {
        for (dispatch, event, largest) in
            [(1_000, 100, 256.0), (200, 20, 256.0), (10_000, 100, 1024.0), (100, 100, 64.0)]
        {
            let mut sim = Sim::new(1024);
            sim.run(20_000, dispatch, event);
            let mean = sim.run(100_000, dispatch, event);
            // The cost of an event, beside its cost in the largest batch.
            let cost = |size: f64| dispatch as f64 / size + event as f64;
            let waste = cost(mean) / cost(1024.0);
            assert!(waste < 1.2, "{dispatch}/{event}: {mean} events, {waste}");
            assert!(mean < 1.2 * largest, "{dispatch}/{event}: {mean} events, and less would do");
        }
    }

    #[test]
    fn it_follows_a_change() {
        let mut sim = Sim::new(256);
        assert!(sim.run(50_000, 0, 1_000) < 3.0);
        sim.run(50_000, 10_000, 100);
        let large = sim.run(50_000, 10_000, 100);
        assert!(large > 64.0, "{large}");
        sim.run(200_000, 0, 1_000);
        let small = sim.run(50_000, 0, 1_000);
        assert!(small < 16.0, "{small}");
    }

    #[test]
    fn a_queue_that_is_not_full_says_nothing() {
        let mut batching = Batching::new(Batch::Adaptive { max: 64 });
        for _ in 0..10_000 {
            batching.took(1, 0, || panic!("nobody looks at the clock"));
        }
        assert_eq!(batching.limit(), 1);
        let mut fixed = Batching::new(Batch::Fixed(7));
        fixed.took(7, 7, || panic!("nobody looks at the clock"));
        assert_eq!(fixed.limit(), 7);
    }

    /// The queue is saturated for some fifty batches, then empty, and never holds more than 64.
    #[test]
    fn a_queue_that_fills_in_bursts_is_enough_and_batches_beyond_it_are_not_tried_for_long() {
        let mut batching = Batching::new(Batch::Adaptive { max: 1024 });
        let (mut now, mut events, mut batches) = (0, 0, 0);
        for _ in 0..20_000 {
            let mut queued = 64_usize;
            while queued > 0 {
                let taken = batching.limit().min(queued);
                queued -= taken;
                batching.took(taken, queued, || now);
                now += 1_000 + 10 * taken as u64;
                events += taken;
                batches += 1;
            }
        }
        let mean = f64::from(events as u32) / f64::from(batches);
        assert!(mean > 3.5, "{mean} events in a batch");
        assert!(batching.limit() <= 64);
    }

    #[test]
    fn the_largest_size_is_a_limit() {
        for (max, largest) in [(1, 1), (2, 2), (100, 64), (128, 128)] {
            let mut sim = Sim::new(max);
            for _ in 0..200 {
                sim.run(100, 1_000_000, 1);
                assert!(sim.batching.limit() <= max);
            }
            assert!(sim.run(1_000, 1_000_000, 1) > largest as f64 / 2.0);
        }
    }
}
