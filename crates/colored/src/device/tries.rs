//! [`Tries`]: whether the next operation of one direction is tried without blocking.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// If more of the last 64 tries have failed, most operations go to the pool without a try.
///
/// A failed try costs 4 µs of CPU time, a hit saves 5 to 16 µs of it, so tries pay if a fifth of them
/// succeed.
const MOST_FAILED: u32 = 51;

/// While most tries fail, one operation of so many is still tried.
const TRY_AGAIN: u32 = 16;

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
}
