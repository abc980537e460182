//! Bounds in time, on a machine with neighbours.

use std::time::Duration;

const ATTEMPTS: usize = 8;

/// Measures until the result is within `bound`, and prints what it took: `--nocapture` shows a bound
/// that holds by luck only.
///
/// # Panics
///
/// If it never is.
#[track_caller]
pub(crate) fn within(bound: Duration, mut measure: impl FnMut() -> Duration) {
    let mut seen = Vec::new();
    while seen.len() < ATTEMPTS {
        let time = measure();
        if time <= bound {
            println!("attempt {}: {time:?}, within {bound:?}; before: {seen:?}", seen.len() + 1);
            return;
        }
        seen.push(time);
    }
    panic!("never within {bound:?}: {seen:?}");
}

/// The value that `percent` of the samples do not exceed.
pub(crate) fn percentile(mut samples: Vec<Duration>, percent: usize) -> Duration {
    assert!(!samples.is_empty(), "no samples");
    samples.sort_unstable();
    samples[(samples.len() * percent).div_ceil(100).saturating_sub(1)]
}

#[test]
fn the_percentile_of_a_hundred_is_its_rank() {
    let samples: Vec<_> = (1..=100).rev().map(Duration::from_millis).collect();
    assert_eq!(percentile(samples.clone(), 99), Duration::from_millis(99));
    assert_eq!(percentile(samples, 100), Duration::from_millis(100));
}
