//! Detects that two users are inside at once.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// State that is exact only if its users exclude each other: an access loads and stores separately, so two accesses at
/// once lose one count.
///
/// The accesses are relaxed atomics, so that a failure is a wrong count and not undefined behaviour.
/// They do not test the ordering between two polls of one color: the models do.
#[derive(Debug, Default)]
pub struct Witness {
    inside: AtomicBool,
    count: AtomicU64,
    overlaps: AtomicU64,
}

impl Witness {
    /// Returns `count` witnesses.
    pub fn many(count: usize) -> Box<[Self]> {
        (0..count).map(|_| Self::default()).collect()
    }

    /// Enters, counts, and leaves.
    pub fn touch(&self) {
        self.enter(|| ());
    }

    /// Enters, counts, runs `f`, and leaves.
    pub fn enter<R>(&self, f: impl FnOnce() -> R) -> R {
        if self.inside.load(Ordering::Relaxed) {
            self.overlaps.fetch_add(1, Ordering::Relaxed);
        }
        self.inside.store(true, Ordering::Relaxed);
        let count = self.count.load(Ordering::Relaxed);
        let result = f();
        std::hint::spin_loop();
        self.count.store(count + 1, Ordering::Relaxed);
        if !self.inside.load(Ordering::Relaxed) {
            self.overlaps.fetch_add(1, Ordering::Relaxed);
        }
        self.inside.store(false, Ordering::Relaxed);
        result
    }

    /// The number of visits.
    ///
    /// # Panics
    ///
    /// If two users were inside at once.
    pub fn count(&self) -> u64 {
        let overlaps = self.overlaps.load(Ordering::Relaxed);
        assert_eq!(overlaps, 0, "two polls of one color at once");
        self.count.load(Ordering::Relaxed)
    }

    /// The sum of their counts.
    pub fn total(witnesses: &[Self]) -> u64 {
        witnesses.iter().map(Self::count).sum()
    }
}

#[test]
fn an_overlap_is_seen() {
    let witness = Witness::default();
    witness.enter(|| witness.touch());
    let said = super::panic_of(|| witness.count());
    assert!(said.contains("at once"), "{said}");
}
