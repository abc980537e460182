//! Random numbers, the same in every run.

/// xorshift64*: good enough to pick keys with, and reproducible.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A sequence of its own for every `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        // Zero would stay zero.
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x9E37_79B9_7F4A_7C15 | 1)
    }

    /// A number in `0.0..1.0`.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number in `0..end`.
    ///
    /// # Panics
    ///
    /// If `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        assert!(end > 0, "there is no number below 0");
        (self.unit() * end as f64) as usize
    }

    /// The time until the next of several random events, which are `mean` apart on average.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn numbers_fill_their_range_evenly() {
        let mut random = Random::new(7);
        let mut counts = [0_u32; 10];
        (0..100_000).for_each(|_| counts[random.below(10)] += 1);
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
        let mean = (0..100_000).map(|_| random.exponential(2.0)).sum::<f64>() / 1e5;
        assert!((mean - 2.0).abs() < 0.05, "{mean}");
    }
}
