//! Bounds in time, on a machine with neighbours.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// So many attempts decide.
const ATTEMPTS: usize = 8;

/// The most attempts that do not count.
const SPOILED: usize = 2 * ATTEMPTS;

/// The least number of attempts, so that there is a median.
const FEWEST: usize = 3;

/// The largest median, in multiples of the bound.
const FAR: u32 = 10;

/// An attempt to meet no bound in time counts if no thread was later than this.
const PUNCTUAL: Duration = Duration::from_millis(4);

/// Measures until one result is within `bound` and the median of all is not far off. A neighbour spoils some
/// attempts; a bound that one lucky attempt meets is not kept. Prints what it took, for `--nocapture`.
///
/// An attempt outside of the bound does not count if the machine let a thread that only slept wait for longer than half of
/// the bound meanwhile. If there are too many such attempts, this decides nothing, and says so.
///
/// # Panics
///
/// If no attempt achieves this.
#[track_caller]
pub(crate) fn within(bound: Duration, mut measure: impl FnMut() -> Duration) {
    let (mut seen, mut spoiled) = (Vec::new(), Vec::new());
    while seen.len() < ATTEMPTS {
        let (time, late) = beside_a_sleeper(&mut measure);
        if time > bound && late > bound / 2 {
            spoiled.push((time, late));
            if spoiled.len() == SPOILED {
                println!(
                    "undecided, {bound:?} on a busy machine: {seen:?}, and spoiled {spoiled:?}"
                );
                return;
            }
            continue;
        }
        seen.push(time);
        if seen.len() >= FEWEST && is_kept(bound, &seen) {
            println!("within {bound:?}, median {:?}: {seen:?}", median(&seen));
            return;
        }
    }
    panic!("not within {bound:?}, or the median {:?} is far off: {seen:?}", median(&seen));
}

/// Does something, and measures how late a thread was meanwhile that only slept, a millisecond at a time.
fn beside_a_sleeper<R>(act: impl FnOnce() -> R) -> (R, Duration) {
    const NAP: Duration = Duration::from_millis(1);
    /// Ends the sleeper also if the act panics.
    struct Ends<'a>(&'a AtomicBool);
    impl Drop for Ends<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let sleeper = scope.spawn(|| {
            let mut late = Duration::ZERO;
            while !over.load(Ordering::Relaxed) {
                let begin = Instant::now();
                thread::sleep(NAP);
                late = late.max(begin.elapsed() - NAP);
            }
            late
        });
        let ends = Ends(&over);
        let result = act();
        drop(ends);
        (result, sleeper.join().expect("it only sleeps"))
    })
}

fn is_kept(bound: Duration, seen: &[Duration]) -> bool {
    seen.iter().min().is_some_and(|best| *best <= bound) && median(seen) <= FAR * bound
}

fn median(seen: &[Duration]) -> Duration {
    percentile(seen.to_vec(), 50)
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

#[test]
fn one_lucky_attempt_does_not_keep_a_bound() {
    let millis = |all: &[u64]| all.iter().copied().map(Duration::from_millis).collect::<Vec<_>>();
    let bound = Duration::from_millis(2);
    assert!(is_kept(bound, &millis(&[3, 2, 40])));
    assert!(!is_kept(bound, &millis(&[3, 3, 3])));
    assert!(!is_kept(bound, &millis(&[1, 21, 21])));
}

/// Tries until `is_met` is true once: a neighbour on the machine spoils some attempts. As with [`within`], attempts do not
/// count beside which the machine let another thread wait.
///
/// # Panics
///
/// If no attempt achieves this.
#[track_caller]
pub(crate) fn some(mut is_met: impl FnMut() -> bool) {
    let (mut failed, mut spoiled) = (0, Vec::new());
    while failed < ATTEMPTS {
        match beside_a_sleeper(&mut is_met) {
            (true, _) => return,
            (false, late) if late > PUNCTUAL => {
                spoiled.push(late);
                if spoiled.len() == SPOILED {
                    println!("undecided on a busy machine: {failed} failed, spoiled {spoiled:?}");
                    return;
                }
            }
            (false, _) => failed += 1,
        }
    }
    panic!("not met by {ATTEMPTS} attempts");
}
