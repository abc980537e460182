//! The distribution of latencies: [`Latency`].

use std::time::Duration;

/// The mean of latencies, and percentiles. A percentile is the least latency that this part of all latencies does not exceed, so it
/// is one of them. All are zero if there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Latency {
    /// The number of latencies.
    pub count: u64,
    /// The mean.
    pub mean: Duration,
    /// The median.
    pub p50: Duration,
    /// The 99th percentile.
    pub p99: Duration,
    /// The percentile 99.9.
    pub p999: Duration,
    /// The longest.
    pub max: Duration,
}

impl Latency {
    /// The distribution of these latencies, in ns.
    pub(super) fn of(mut nanos: Vec<u64>) -> Self {
        nanos.sort_unstable();
        let per_mille = |part: usize| {
            let rank = (nanos.len() * part).div_ceil(1_000);
            Duration::from_nanos(nanos.get(rank.saturating_sub(1)).copied().unwrap_or(0))
        };
        Self {
            count: nanos.len() as u64,
            mean: Duration::from_nanos(nanos.iter().sum::<u64>() / nanos.len().max(1) as u64),
            p50: per_mille(500),
            p99: per_mille(990),
            p999: per_mille(999),
            max: per_mille(1_000),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_the_least_latency_that_its_part_does_not_exceed() {
        let nanos = |latency: Latency| {
            [latency.p50, latency.p99, latency.p999, latency.max].map(|time| time.as_nanos())
        };
        assert_eq!(nanos(Latency::of((1..=10_000).rev().collect())), [5_000, 9_900, 9_990, 10_000]);
        assert_eq!(nanos(Latency::of((1..=10).collect())), [5, 10, 10, 10]);
        assert_eq!(nanos(Latency::of(vec![7])), [7; 4]);
        assert_eq!(Latency::of(vec![1, 2, 9]).mean.as_nanos(), 4);
        assert_eq!(Latency::of(vec![]), Latency::default());
    }
}
