//! A skewed sequence of keys, the same in every run.

/// `count` keys out of `0..keys`, key `k` with weight `1 / (k + 1)` (Zipf with exponent 1).
///
/// The sequence depends on the arguments alone: rivals get the same keys in the same order.
///
/// # Panics
///
/// If `keys` is 0.
#[must_use]
pub fn sequence(keys: usize, count: usize) -> Vec<usize> {
    let mut reached = 0.0;
    let cumulated: Vec<f64> = (1..=keys)
        .map(|rank| {
            reached += 1.0 / rank as f64;
            reached
        })
        .collect();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    (0..count)
        .map(|_| {
            let point = random.next_unit() * reached;
            cumulated.partition_point(|&sum| sum <= point).min(keys - 1)
        })
        .collect()
}

/// xorshift64*: good enough to pick keys with, and reproducible.
struct Random(u64);

impl Random {
    /// A number in `0.0..1.0`.
    fn next_unit(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D);
        (bits >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_key_has_its_share() {
        let keys = sequence(64, 100_000);
        let first = keys.iter().filter(|&&key| key == 0).count() as f64 / keys.len() as f64;
        let harmonic: f64 = (1..=64).map(|rank| 1.0 / f64::from(rank)).sum();
        assert!((first - 1.0 / harmonic).abs() < 0.01, "{first}");
        assert!(keys.iter().all(|&key| key < 64));
    }
}
