//! What listeners keep in a node: one bit.
//!
//! The standard library's atomics under loom as well: no decision of the scheduler depends on it.

use std::sync::atomic::{AtomicBool, Ordering};

/// In a node: whether its push was counted.
#[derive(Debug, Default)]
pub(crate) struct Mark(AtomicBool);

impl Mark {
    pub(crate) const fn none() -> Self {
        Self(AtomicBool::new(false))
    }

    pub(crate) fn set(&self) {
        // Ordering: the chain hands the node over.
        self.0.store(true, Ordering::Relaxed);
    }

    /// Takes the mark away, and returns whether it was there.
    #[inline]
    pub(crate) fn take(&self) -> bool {
        // Ordering: the chain has handed the node over, and hands it on.
        let is_set = self.0.load(Ordering::Relaxed);
        if is_set {
            self.0.store(false, Ordering::Relaxed);
        }
        is_set
    }
}
