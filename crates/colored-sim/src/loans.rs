//! Values that are lent to a closure: a turn does not give way meanwhile, for another stack would exchange the value.

use std::cell::Cell;

thread_local!(static OPEN: Cell<u32> = const { Cell::new(0) });

/// A value is lent.
pub fn begin() {
    OPEN.set(OPEN.get() + 1);
}

/// It is given back.
pub fn end() {
    OPEN.set(OPEN.get() - 1);
}

/// Whether one is lent on this thread.
pub(crate) fn is_open() -> bool {
    OPEN.get() > 0
}
