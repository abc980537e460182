//! A double of the shell that tells whether its scheduler is still there.

use colored_core::Park;
use std::sync::Arc;

/// Wakes nobody. The test keeps a reference of its own, whose count falls when the scheduler is freed.
pub(crate) struct Counted(#[expect(dead_code, reason = "owned, not read")] pub(crate) Arc<()>);

impl Park for Counted {
    fn unpark(&self, _: usize) {}

    fn now(&self) -> u64 {
        0
    }
}
