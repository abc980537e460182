//! Paths that allocate nothing, and servers with few descriptors.

mod allocations;
mod descriptors;

use std::sync::{Mutex, PoisonError};

/// Runs a test while no other runs: the allocations of all threads count together.
fn alone(test: impl FnOnce()) {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    test();
}
