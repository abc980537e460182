//! Systems without stacks: there is the thread's own.

/// Whether a thread can have several stacks here.
pub const ARE_HERE: bool = false;

/// This thread may have several stacks from now on.
pub fn begin() {}

/// The number of the stack that runs.
#[must_use]
pub fn running() -> usize {
    0
}

/// Makes a stack.
///
/// # Panics
///
/// Always.
pub fn start(_: impl FnOnce() -> usize + 'static) -> usize {
    unreachable!("there is one stack")
}

/// Goes on with another stack.
///
/// # Panics
///
/// Unless it is the thread's own.
pub fn switch_to(to: usize) {
    assert!(to == 0, "there is one stack");
}
