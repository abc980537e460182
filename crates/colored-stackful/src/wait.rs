//! [`wait`]: `.await` for code that is no future.

use crate::link::{self, Awaited, Link};
use crate::switch;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::ptr;
use std::task::{Context, Poll, Waker};
use std::thread;

/// The payload of the unwinding that ends a fiber.
pub(crate) struct Ended;

/// After so many waits of a fiber that has to end, its code will not end.
const CAUGHT_TOO_OFTEN: u32 = 1000;

/// Why a wait was refused.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CannotWait {
    /// The caller does not run on the stack of a stackful task.
    Outside,
    /// The caller is inside the poll of a future, which runs on the stack of a stackful task.
    InPoll,
    /// The caller is inside the closure of a cell, of a color-local or a task-local, or of `block_in_place`: it has to
    /// return before the color is given up.
    InClosure,
    /// The task was aborted, or its runtime shuts down: this is a destructor, or code that has caught the unwinding.
    Ended,
    /// The task panics, and this is a destructor.
    Panicking,
}

impl fmt::Display for CannotWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Outside => {
                "`stackful::wait` outside a stackful task: call it, and each operation that waits, in the closure of \
                 `stackful::spawn` or in functions that it calls; in a future, `.await` the operation of `colored`, \
                 such as `colored::net::TcpListener::bind`, in place of that of `stackful`"
            }
            Self::InPoll => {
                "`stackful::wait` inside the poll of a future: `.await` there, or call it outside the future"
            }
            Self::InClosure => {
                "`stackful::wait` inside a closure that has to return first: that of a `ColorCell`, a `when`, \
                 a color-local, a task-local or `block_in_place`; wait outside of it"
            }
            Self::Ended => {
                "`stackful::wait` in a task that was aborted: its destructors can use only what is ready"
            }
            Self::Panicking => {
                "`stackful::wait` in a destructor during a panic: it can use only what is ready"
            }
        })
    }
}

/// The text, for [`io::Error`] and `unwrap` show this form.
impl fmt::Debug for CannotWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), f)
    }
}

impl std::error::Error for CannotWait {}

impl From<CannotWait> for io::Error {
    fn from(error: CannotWait) -> Self {
        io::Error::other(error)
    }
}

/// Waits for a future, and gives the color and the worker up meanwhile, exactly as `.await` does. The future need not be
/// `Send`, and may borrow from the stack.
///
/// A future that is ready at once costs a poll, and no switch of stacks. Otherwise the stack is suspended in the first poll,
/// and goes on in the poll in which the future is ready; polls in between cost no switch.
///
/// If the task is aborted meanwhile, or its runtime shuts down, the call unwinds the stack and drops the future.
///
/// # Panics
///
/// Where [`checked_wait`] returns an error, and with the panic of the future. After the task was aborted it unwinds again,
/// as a panic that no hook reports.
#[inline]
#[track_caller]
pub fn wait<F: Future>(future: F) -> F::Output {
    match checked_wait(future) {
        Ok(output) => output,
        Err(error) => refuse(error),
    }
}

#[cold]
#[track_caller]
fn refuse(error: CannotWait) -> ! {
    // SAFETY: the reference stays in this function.
    let unwinds = unsafe { link::current() }.is_some_and(Link::is_unwinding);
    if error == CannotWait::Ended && !unwinds {
        end_again();
    }
    panic!("{error}")
}

/// Unwinds again: the code of the fiber has caught the unwinding that ends it.
fn end_again() -> ! {
    // SAFETY: the reference stays in this function.
    let Some(link) = (unsafe { link::current() }) else {
        unreachable!("the caller runs on a fiber")
    };
    if link.count_caught() > CAUGHT_TOO_OFTEN {
        eprintln!(
            "the task spawned at {} was aborted, and its code goes on: it has caught the unwinding {} times. \
             Its stack is leaked. A loop with `catch_unwind` ends where `stackful::is_ending()`",
            link.told.site, CAUGHT_TOO_OFTEN
        );
        loop {
            // SAFETY: the caller runs on the fiber, whose stack stays as it is, and is never used again.
            unsafe { switch::suspend(link.suspender()) };
        }
    }
    resume_unwind(Box::new(Ended))
}

/// As [`wait`], with an error in place of its own panics: for code that destructors call, and for implementations of `Read`
/// and `Write`, whose errors of the kind [`io::Error`] this one turns into.
///
/// During an unwinding it polls the future once, and so returns what is ready at once.
///
/// # Errors
///
/// If the caller [cannot wait here](CannotWait). The future is dropped.
///
/// # Panics
///
/// With the panic of the future.
#[inline]
pub fn checked_wait<F: Future>(future: F) -> Result<F::Output, CannotWait> {
    let future = pin!(future);
    // SAFETY: the reference stays in this function.
    match unsafe { link::current_that_may_wait() } {
        Some(link) => wait_on(link, future),
        None => poll_once(future),
    }
}

/// As [`checked_wait`], where the caller cannot wait.
#[cold]
fn poll_once<F: Future>(future: Pin<&mut F>) -> Result<F::Output, CannotWait> {
    // SAFETY: the reference stays in this function.
    let link = unsafe { link::current() }.ok_or(CannotWait::Outside)?;
    if link.is_polling() {
        return Err(CannotWait::InPoll);
    }
    if link.is_in_closure() {
        return Err(CannotWait::InClosure);
    }
    // A destructor may use what is ready.
    let mut cx = Context::from_waker(Waker::noop());
    match future.poll(&mut cx) {
        Poll::Ready(output) => Ok(output),
        Poll::Pending if link.has_to_end() => Err(CannotWait::Ended),
        Poll::Pending => Err(CannotWait::Panicking),
    }
}

#[inline]
fn wait_on<F: Future>(link: &Link, mut future: Pin<&mut F>) -> Result<F::Output, CannotWait> {
    if link.polls_here {
        // SAFETY: this code runs on the fiber.
        let polled = unsafe { link.poll_here(|cx| future.as_mut().poll(cx)) };
        if let Some(Poll::Ready(output)) = polled {
            return Ok(output);
        }
    }
    let mut place = Place { future, output: None };
    let awaited = Awaited { place: ptr::from_mut(&mut place).cast(), poll: poll_place::<F> };
    // The place is in this frame, up to the return.
    link.set_awaited(Some(awaited));
    // SAFETY: this code runs on the fiber.
    unsafe { switch::suspend(link.suspender()) };
    link.set_awaited(None);
    if link.has_to_end() {
        resume_unwind(Box::new(Ended));
    }
    match place.output.take() {
        Some(Ok(output)) => Ok(output),
        Some(Err(payload)) => resume_unwind(payload),
        None => unreachable!("a fiber goes on when its future is ready"),
    }
}

/// A future that a suspended fiber waits for.
struct Place<'a, F: Future> {
    future: Pin<&'a mut F>,
    output: Option<thread::Result<F::Output>>,
}

/// # Safety
///
/// The place is a `Place` of this future, and nobody else uses it.
unsafe fn poll_place<F: Future>(place: *mut (), cx: &mut Context<'_>) -> bool {
    // SAFETY: the caller promises what the place is, and that it has it alone.
    let place = unsafe { &mut *place.cast::<Place<'_, F>>() };
    // The panic belongs to the fiber, which is suspended.
    let output = match catch_unwind(AssertUnwindSafe(|| place.future.as_mut().poll(cx))) {
        Ok(Poll::Pending) => return false,
        Ok(Poll::Ready(output)) => Ok(output),
        Err(payload) => Err(payload),
    };
    place.output = Some(output);
    true
}

/// Whether the stackful task that the caller runs in was aborted, or its runtime shuts down. Then each wait unwinds the
/// stack again, so a loop that catches panics has to end itself. `false` outside a stackful task.
#[must_use]
pub fn is_ending() -> bool {
    // SAFETY: the reference stays in this function.
    unsafe { link::current() }.is_some_and(Link::has_to_end)
}
