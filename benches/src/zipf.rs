//! A skewed sequence of keys, the same in every run.

use crate::random::Random;

/// `count` keys out of `0..keys`, key `k` with weight `1 / (k + 1)` (Zipf with exponent 1).
///
/// The sequence depends on the arguments alone: rivals get the same keys in the same order.
///
/// # Panics
///
/// If `keys` is 0.
#[must_use]
pub fn sequence(keys: usize, count: usize) -> Vec<usize> {
    with_exponent(keys, count, 1.0)
}

/// The same with weight `1 / (k + 1)^exponent`.
///
/// # Panics
///
/// If `keys` is 0.
#[must_use]
pub fn with_exponent(keys: usize, count: usize, exponent: f64) -> Vec<usize> {
    let mut reached = 0.0;
    let cumulated: Vec<f64> = (1..=keys)
        .map(|rank| {
            reached += (rank as f64).powf(-exponent);
            reached
        })
        .collect();
    let mut random = Random::new(0);
    (0..count)
        .map(|_| {
            let point = random.unit() * reached;
            cumulated.partition_point(|&sum| sum <= point).min(keys - 1)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_key_has_its_share() {
        for exponent in [1.0, 0.99] {
            let keys = with_exponent(64, 100_000, exponent);
            let first = keys.iter().filter(|&&key| key == 0).count() as f64 / keys.len() as f64;
            let total: f64 = (1..=64).map(|rank| f64::from(rank).powf(-exponent)).sum();
            assert!((first - 1.0 / total).abs() < 0.01, "{first}");
            assert!(keys.iter().all(|&key| key < 64));
        }
    }
}
