//! [`Retry`]: when a call is sent again.

use colored::time::Duration;
use fastrand::Rng;

/// When a call is sent again, and when it fails.
///
/// The first pause is `first`, and each further one is twice the one before, up to `most`. All vary by a quarter, so that
/// callers that lost their datagrams together do not repeat them together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    /// The pause after which a call is sent for the second time.
    pub first: Duration,
    /// The longest pause.
    pub most: Duration,
    /// From the call until it fails with [`RpcError::TimedOut`](crate::RpcError::TimedOut).
    pub deadline: Duration,
}

impl Default for Retry {
    /// 100 ms, 2 s, 30 s.
    fn default() -> Self {
        Self {
            first: Duration::from_millis(100),
            most: Duration::from_secs(2),
            deadline: Duration::from_secs(30),
        }
    }
}

impl Retry {
    /// The pauses behind the first, second and further times. They do not end.
    pub(super) fn pauses(&self, seed: u64) -> impl Iterator<Item = Duration> + Send + use<> {
        let mut random = Rng::with_seed(seed);
        let most = self.most;
        let pauses = std::iter::successors(Some(self.first.min(most)), move |pause| {
            Some((*pause * 2).min(most))
        });
        pauses.map(move |pause| pause.mul_f64(0.75 + random.f64() / 2.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_vary_by_a_quarter() {
        let retry = Retry { most: Duration::from_millis(500), ..Retry::default() };
        for seed in 0..100 {
            let pauses: Vec<_> = retry.pauses(seed).take(6).collect();
            for (pause, expected) in pauses.iter().zip([100, 200, 400, 500, 500, 500]) {
                let expected = Duration::from_millis(expected);
                assert!(*pause >= expected * 3 / 4 && *pause <= expected * 5 / 4, "{pauses:?}");
            }
        }
        let first = |seed| retry.pauses(seed).next();
        assert_ne!(first(1), first(2), "they vary");
    }
}
