//! Bounds in time, on a machine with neighbours.

use super::{neighbours, soak};
use std::panic::Location;
use std::time::Duration;

/// So many attempts decide.
const ATTEMPTS: usize = 8;

/// The most attempts that do not count.
fn most_spoiled() -> usize {
    soak::repeat(4, 3 * ATTEMPTS)
}

/// The least number of attempts. Once a week it is large enough for a median.
fn fewest() -> usize {
    soak::repeat(1, 3)
}

/// The largest median, in multiples of the bound.
const FAR: u32 = 10;

/// Measures until one result is within `bound` and the median of all is not far off. A neighbour spoils some
/// attempts; once a week, a bound that one lucky attempt meets is not kept. Prints what it took, for `--nocapture`.
///
/// An attempt outside of the bound does not count if other processes have taken the CPUs meanwhile. If there are too many
/// such attempts, this decides nothing, and says so.
///
/// # Panics
///
/// If no attempt achieves this.
#[track_caller]
pub fn within(bound: Duration, mut measure: impl FnMut() -> Duration) {
    let (mut seen, mut spoiled) = (Vec::new(), Vec::new());
    while seen.len() < ATTEMPTS {
        let (time, is_disturbed) = neighbours::beside(&mut measure);
        if time > bound && is_disturbed {
            spoiled.push(time);
            if spoiled.len() == most_spoiled() {
                println!(
                    "undecided, {bound:?} on a busy machine: {seen:?}, and spoiled {spoiled:?}"
                );
                return;
            }
            continue;
        }
        seen.push(time);
        if seen.len() >= fewest() && is_kept(bound, &seen) {
            println!("within {bound:?}, median {:?}: {seen:?}", median(&seen));
            return;
        }
    }
    panic!("not within {bound:?}, or the median {:?} is far off: {seen:?}", median(&seen));
}

fn is_kept(bound: Duration, seen: &[Duration]) -> bool {
    seen.iter().min().is_some_and(|best| *best <= bound) && median(seen) <= FAR * bound
}

fn median(seen: &[Duration]) -> Duration {
    percentile(seen.to_vec(), 50)
}

/// The value that `percent` of the samples do not exceed.
pub fn percentile(mut samples: Vec<Duration>, percent: usize) -> Duration {
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

#[test]
fn one_lucky_attempt_does_not_keep_a_bound() {
    let millis = |all: &[u64]| all.iter().copied().map(Duration::from_millis).collect::<Vec<_>>();
    let bound = Duration::from_millis(2);
    assert!(is_kept(bound, &millis(&[3, 2, 40])));
    assert!(!is_kept(bound, &millis(&[3, 3, 3])));
    assert!(!is_kept(bound, &millis(&[1, 21, 21])));
}

/// Tries until `is_met` is true once: a neighbour on the machine spoils some attempts. As with [`within`], attempts do not
/// count beside which other processes have taken the CPUs. Prints how many it took, for `--nocapture`: on a quiet machine,
/// one that is not met is a defect of the test, or of what it tests.
///
/// # Panics
///
/// If no attempt achieves this.
#[track_caller]
pub fn some(mut is_met: impl FnMut() -> bool) {
    let (mut failed, mut spoiled) = (0, 0);
    while failed < ATTEMPTS {
        match neighbours::beside(&mut is_met) {
            (true, _) => {
                println!("met by attempt {} of {}", failed + spoiled + 1, Location::caller());
                return;
            }
            (false, false) => failed += 1,
            (false, true) => spoiled += 1,
        }
        if spoiled == most_spoiled() {
            println!("undecided on a busy machine: {failed} failed, {spoiled} spoiled");
            return;
        }
    }
    panic!("not met by {ATTEMPTS} attempts");
}
