//! Waiting for an operation.

use std::io;

use colored::task::consume_budget;

use crate::checked_wait;

/// The result of an operation, which costs one unit of the budget.
pub(crate) fn complete<T>(operation: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    // A destructor cannot wait for the next poll, and goes on.
    let _ = checked_wait(consume_budget());
    checked_wait(operation)?
}
