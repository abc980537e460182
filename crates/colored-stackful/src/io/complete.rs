//! Waiting for an operation, and what it costs of the budget.

use std::io;

use colored::task::consume_budget;
use colored_core::budget;

use crate::checked_wait;

/// The result of an operation, which costs one unit of the budget.
pub(crate) fn complete<T>(operation: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    take_unit();
    checked_wait(operation)?
}

/// Takes one unit of the budget, and waits for the next poll if none is left.
pub(super) fn take_unit() {
    if !has_taken_unit() {
        // A destructor, which cannot wait, goes on.
        let _ = checked_wait(consume_budget());
    }
}

/// The function is not inlined: a stack that moves between threads must not keep the address of a thread-local.
#[inline(never)]
fn has_taken_unit() -> bool {
    let has_one = budget::has_remaining();
    budget::spend(1);
    has_one
}
