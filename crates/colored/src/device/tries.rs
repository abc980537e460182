//! [`Tries`]: whether the next operation of one direction is tried without blocking.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// If more of the last 64 tries have failed, most operations go to the pool without a try.
///
/// A failed try costs 4 µs of CPU time, a hit saves 5 to 16 µs of it, so tries pay if a fifth of them
/// succeed.
const MOST_FAILED: u32 = 51;

/// While most tries fail, one operation of so many is still tried.
const TRY_AGAIN: u32 = 16;

/// If more of the last 64 failed tries that were timed have been slow, 5 %, reads ask first whether their data is in
/// memory.
const MOST_SLOW: u32 = 3;

/// The number of reads that do so, before the tries decide again. That is 100 ms where a read takes 0.1 ms. The answer costs
/// 0.4 to 0.6 µs.
const ASK_FIRST: u32 = 1000;

/// How a try ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The operation was done.
    Hit,
    /// The operation would have waited.
    Miss,
    /// The file system does not support the try.
    Unsupported,
}

/// The experience with the tries of one direction, reading or writing, on one device. All of it is a
/// hint: a lost update costs a try or a thread switch.
#[derive(Debug, Default)]
pub(crate) struct Tries {
    unsupported: AtomicBool,
    /// The last 64 tries, a bit for each that failed.
    failed: AtomicU64,
    skipped: AtomicU32,
    /// The last 64 failed tries that were timed, a bit for each that was slow.
    slow: AtomicU64,
    /// How many reads are still to ask first.
    ask_first: AtomicU32,
}

impl Tries {
    /// Whether the file system has answered that it supports no tries.
    pub(crate) fn is_unsupported(&self) -> bool {
        // Ordering: a hint.
        self.unsupported.load(Ordering::Relaxed)
    }

    /// Whether to try the next operation, because enough of the last ones have succeeded.
    pub(crate) fn should_try(&self) -> bool {
        // Ordering: a hint, and so are the skipped ones.
        if self.failed.load(Ordering::Relaxed).count_ones() <= MOST_FAILED {
            return true;
        }
        self.skipped.fetch_add(1, Ordering::Relaxed) % TRY_AGAIN == TRY_AGAIN - 1
    }

    /// Whether the next read asks what is in memory before it is tried, because tries that find nothing are slow: they
    /// wait for a place in the full queue of the device.
    pub(crate) fn should_ask_first(&self) -> bool {
        // Ordering: a hint.
        let left = self.ask_first.load(Ordering::Relaxed);
        if left > 0 {
            self.ask_first.store(left - 1, Ordering::Relaxed);
        }
        left > 0
    }

    /// Notes a failed try that was timed.
    pub(crate) fn note_timed(&self, was_slow: bool) {
        // Ordering: all of these are hints.
        let last = self.slow.load(Ordering::Relaxed) << 1 | u64::from(was_slow);
        if last.count_ones() <= MOST_SLOW {
            self.slow.store(last, Ordering::Relaxed);
        } else {
            self.slow.store(0, Ordering::Relaxed);
            self.ask_first.store(ASK_FIRST, Ordering::Relaxed);
        }
    }

    pub(crate) fn note(&self, outcome: Outcome) {
        // Ordering: all of these are hints.
        let failed = self.failed.load(Ordering::Relaxed);
        match outcome {
            // The line stays shared between the cores while all tries succeed.
            Outcome::Hit if failed == 0 => {}
            Outcome::Hit => self.failed.store(failed << 1, Ordering::Relaxed),
            Outcome::Miss => self.failed.store(failed << 1 | 1, Ordering::Relaxed),
            Outcome::Unsupported => self.unsupported.store(true, Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unsupported_try_is_not_repeated() {
        let tries = Tries::default();
        assert!(tries.should_try());
        tries.note(Outcome::Unsupported);
        assert!(tries.is_unsupported());
    }

    #[test]
    fn tries_that_fail_become_rare_and_come_back_when_they_succeed() {
        let tries = Tries::default();
        for _ in 0..64 {
            assert!(
                tries.should_try()
                    || tries.failed.load(Ordering::Relaxed).count_ones() > MOST_FAILED
            );
            tries.note(Outcome::Miss);
        }
        let tried = (0..160).filter(|_| tries.should_try()).count();
        assert_eq!(tried, 10, "one of sixteen");
        for _ in 0..13 {
            assert!(!tries.is_unsupported());
            tries.note(Outcome::Hit);
        }
        assert!((0..160).all(|_| tries.should_try()));
    }

    #[test]
    fn slow_failures_make_reads_ask_first_for_a_while() {
        let tries = Tries::default();
        // One of 22 is less than 5 %.
        for number in 0..1000 {
            tries.note_timed(number % 22 == 0);
            assert!(!tries.should_ask_first(), "after {number}");
        }
        let tries = Tries::default();
        for _ in 0..4 {
            assert!(!tries.should_ask_first());
            tries.note_timed(true);
        }
        let asked = (0..5000).take_while(|_| tries.should_ask_first()).count();
        assert_eq!(asked, ASK_FIRST as usize);
        tries.note_timed(true);
        assert!(!tries.should_ask_first(), "the experience begins anew");
    }
}
