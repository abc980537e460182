//! [`Switch`]: how a thread gets on and off the stack of a fiber.

#[cfg(not(any(miri, colored_loom)))]
mod coroutine;
#[cfg(any(test, miri, colored_loom))]
mod threads;

#[cfg(all(test, not(any(miri, colored_loom))))]
pub(crate) use self::coroutine::Coroutine;
#[cfg(not(any(miri, colored_loom)))]
pub(crate) use self::coroutine::Coroutine as Chosen;
#[cfg(all(test, not(colored_loom)))]
pub(crate) use self::threads::Threads;
#[cfg(any(miri, colored_loom))]
pub(crate) use self::threads::Threads as Chosen;

use crate::link::Suspender;
use std::io;
use std::ops::Range;

/// A stack with a closure that runs on it, and that other code resumes.
pub(crate) trait Switch: Sized {
    /// Whether the closure runs on the thread that resumes it, and so sees its thread-locals.
    const RUNS_ON_THE_THREAD: bool;

    /// Takes a stack of at least `size` bytes, on which `body` will run. The first call of [`resume`](Self::resume) begins
    /// it.
    ///
    /// # Errors
    ///
    /// The errors of the system if there is no memory for the stack. `body` is dropped.
    ///
    /// # Safety
    ///
    /// What `body` borrows lives until `body` has returned, or is never used again. `body` does not panic. A value that is
    /// dropped before `body` has returned was never resumed.
    unsafe fn new<B: FnOnce(Suspender)>(size: usize, body: B) -> io::Result<Self>;

    /// Runs `body` up to its next [`suspend`](Self::suspend), or its end. Returns whether it has ended; it must not be
    /// resumed afterwards.
    fn resume(&mut self) -> bool;

    /// Returns from [`resume`](Self::resume), and returns when the body is resumed again.
    ///
    /// # Safety
    ///
    /// `place` is that of the body's [`Suspender`], and the caller runs inside that body.
    unsafe fn suspend(place: *const ());

    /// The addresses at which an overflow of the stack is noticed; empty if this code cannot tell.
    fn guard(&self) -> Range<usize>;
}

/// Returns from the [`resume`](Switch::resume) of the body that has this right, up to its next one.
///
/// # Safety
///
/// The caller runs inside the body that got the right.
#[inline]
pub(crate) unsafe fn suspend(right: Suspender) {
    match right.other {
        // No call stands between the frame that waits and the switch: a processor foretells returns by the calls that it
        // has seen, and a frame more is a wrong guess for each return that follows, on both stacks.
        // SAFETY: the caller promises that it runs inside the body of this place.
        None => unsafe { Chosen::suspend(right.place) },
        // SAFETY: as above.
        Some(suspend) => unsafe { suspend(right.place) },
    }
}
