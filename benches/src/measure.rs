//! Samples, entries and cases: alternate the rivals, take medians.

use std::time::{Duration, Instant};

/// How much time a run may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A few minutes in all.
    Full,
    /// Inside a minute in all.
    Quick,
    /// Every case once, to see that it works, as in `cargo test --benches`.
    Smoke,
}

impl Mode {
    /// Rounds of a case whose samples are short (milliseconds): at least, at most, and the
    /// time after which no further round starts.
    const fn short(self) -> (usize, usize, Duration) {
        match self {
            Mode::Full => (11, 101, Duration::from_secs(4)),
            Mode::Quick => (5, 41, Duration::from_millis(700)),
            Mode::Smoke => (1, 1, Duration::ZERO),
        }
    }
}

/// One measurement of one entry.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The compared cost: wall time inside a process, CPU time of a server process.
    pub cost: Duration,
    /// How long the sample took on the clock.
    pub wall: Duration,
    /// Operations done in that time.
    pub ops: u64,
}

impl Sample {
    /// Times `work`, which does `ops` operations.
    pub fn time(ops: u64, work: impl FnOnce()) -> Self {
        let start = Instant::now();
        work();
        let wall = start.elapsed();
        Self { cost: wall, wall, ops }
    }

    /// Seconds of cost per operation.
    #[must_use]
    pub fn per_op(&self) -> f64 {
        self.cost.as_secs_f64() / self.ops as f64
    }

    /// Operations per second of wall time.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.ops as f64 / self.wall.as_secs_f64()
    }
}

/// The role of an entry in its case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `colored` itself: one in each case.
    Subject,
    /// An entry with which the subject is compared.
    Peer,
    /// Drawn by criterion, left out of the ratio.
    Plotted,
}

/// One rival of a case, ready to be sampled again and again.
pub struct Entry {
    /// `colored`, or the name of the peer.
    pub name: &'static str,
    /// The entry's role in its case.
    pub role: Role,
    /// Takes one sample.
    pub sample: Box<dyn FnMut() -> Sample>,
}

impl Entry {
    /// `colored`'s own entry.
    pub fn subject(sample: impl FnMut() -> Sample + 'static) -> Self {
        Self { name: "colored", role: Role::Subject, sample: Box::new(sample) }
    }

    /// An entry to compare with.
    pub fn peer(name: &'static str, sample: impl FnMut() -> Sample + 'static) -> Self {
        Self { name, role: Role::Peer, sample: Box::new(sample) }
    }

    /// An entry for the plots only.
    pub fn plotted(name: &'static str, sample: impl FnMut() -> Sample + 'static) -> Self {
        Self { name, role: Role::Plotted, sample: Box::new(sample) }
    }
}

/// The unit in which a cost is printed.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    /// As printed, for example `ns/task`.
    pub text: &'static str,
    /// How many of this unit one second has.
    pub per_second: f64,
}

impl Unit {
    /// Nanoseconds; `text` names the operation.
    #[must_use]
    pub const fn ns(text: &'static str) -> Self {
        Self { text, per_second: 1e9 }
    }

    /// Microseconds; `text` names the operation.
    #[must_use]
    pub const fn us(text: &'static str) -> Self {
        Self { text, per_second: 1e6 }
    }

    /// Milliseconds; `text` names the operation.
    #[must_use]
    pub const fn ms(text: &'static str) -> Self {
        Self { text, per_second: 1e3 }
    }
}

/// How long one sample takes, and so how many are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Milliseconds: many rounds, after a first one that does not count.
    Short,
    /// Longer: this many rounds, all of which count.
    Rounds(usize),
    /// Milliseconds, for one point of many: one round that does not count, then as many rounds as
    /// fit into this time, at least five.
    Within(Duration),
}

/// One comparison.
pub struct Case {
    /// The unit in which costs are printed.
    pub unit: Unit,
    /// How long one sample takes.
    pub pace: Pace,
    /// The rivals, the subject first.
    pub entries: Vec<Entry>,
}

/// The samples of one entry, and their medians.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The entry's name.
    pub name: &'static str,
    /// The entry's role in its case.
    pub role: Role,
    /// Seconds of cost per operation.
    pub cost: f64,
    /// Operations per second of wall time.
    pub rate: f64,
    /// The subject's cost over this entry's, the median over the rounds. Slow noise, which shifts
    /// whole rounds, cancels here even where it does not in the medians' ratio.
    pub paired: f64,
    /// The subject's rate over this entry's, likewise.
    pub gain: f64,
    /// One sample of each round.
    pub samples: Vec<Sample>,
}

impl Outcome {
    /// This entry's rate over another entry's rate in the same case, likewise.
    #[must_use]
    pub fn gain_over(&self, other: &Self) -> f64 {
        let pairs = self.samples.iter().zip(&other.samples);
        median(pairs.map(|(own, other)| own.rate() / other.rate()))
    }
}

impl Case {
    /// Samples subject and peers in turn, A B then B A, and returns their medians in the order of
    /// the entries. Entries that are only [`Role::Plotted`] are left out.
    #[must_use]
    pub fn alternate(mut self, mode: Mode) -> Vec<Outcome> {
        self.entries.retain(|entry| entry.role != Role::Plotted);
        let (least, most, budget) = match self.pace {
            Pace::Short => mode.short(),
            Pace::Rounds(rounds) => (rounds, rounds, Duration::ZERO),
            Pace::Within(_) if mode == Mode::Smoke => (1, 1, Duration::ZERO),
            Pace::Within(time) => (5, 101, time),
        };
        if !matches!(self.pace, Pace::Rounds(_)) && mode != Mode::Smoke {
            self.round(0);
        }
        let start = Instant::now();
        let mut rounds = Vec::with_capacity(most);
        while rounds.len() < least || (rounds.len() < most && start.elapsed() < budget) {
            rounds.push(self.round(rounds.len()));
        }
        let outcome = |(index, entry): (usize, &Entry)| Outcome {
            name: entry.name,
            role: entry.role,
            cost: median(rounds.iter().map(|round| round[index].per_op())),
            rate: median(rounds.iter().map(|round| round[index].rate())),
            paired: median(rounds.iter().map(|round| round[0].per_op() / round[index].per_op())),
            gain: median(rounds.iter().map(|round| round[0].rate() / round[index].rate())),
            samples: rounds.iter().map(|round| round[index]).collect(),
        };
        self.entries.iter().enumerate().map(outcome).collect()
    }

    /// Samples every entry once, and begins with another entry each time, so that no entry always
    /// follows the same one. The samples are in the order of the entries.
    fn round(&mut self, number: usize) -> Vec<Sample> {
        let count = self.entries.len();
        let first = number % count;
        let mut samples: Vec<_> =
            (0..count).map(|turn| (self.entries[(first + turn) % count].sample)()).collect();
        samples.rotate_right(first);
        samples
    }
}

/// The median; the lower of the two middle values for an even count.
///
/// # Panics
///
/// If there are no values.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) / 2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    #[test]
    fn the_median_is_a_value_of_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(median([4.0, 1.0, 3.0, 2.0].into_iter()), 2.0);
    }

    #[test]
    fn entries_are_sampled_in_turn_and_plotted_ones_not_at_all() {
        let order = Rc::new(RefCell::new(Vec::new()));
        let recorder = |name: char, micros: u64| {
            let order = order.clone();
            move || {
                order.borrow_mut().push(name);
                let cost = Duration::from_micros(micros);
                Sample { cost, wall: cost * 2, ops: 10 }
            }
        };
        let entries = vec![
            Entry::subject(recorder('a', 20)),
            Entry::plotted("drawn", recorder('c', 1)),
            Entry::peer("other", recorder('b', 10)),
        ];
        let case = Case { unit: Unit::us("us/op"), pace: Pace::Rounds(3), entries };
        let outcomes = case.alternate(Mode::Full);
        assert_eq!(*order.borrow(), ['a', 'b', 'b', 'a', 'a', 'b']);
        assert_eq!(outcomes.len(), 2);
        assert!((outcomes[0].cost - 2e-6).abs() < 1e-12);
        assert!((outcomes[1].rate - 5e5).abs() < 1e-3);
        assert!((outcomes[1].gain - 0.5).abs() < 1e-12);
    }
}
