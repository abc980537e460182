//! [`Awaited`]: an outcome that a poll may find before the wake that tells of it.

use super::here::{Telling, note, tell, wait_until};
use colored_record::Mark;
use std::task::{Context, Poll};

/// What is awaited.
#[derive(Clone, Copy, Debug)]
pub(crate) enum How {
    Join,
    Call,
}

impl How {
    fn mark(self) -> Mark {
        match self {
            Self::Join => Mark::Join,
            Self::Call => Mark::Call,
        }
    }
}

/// An outcome that becomes available at some time, and stays.
pub(crate) trait Awaited {
    type Output;

    /// Polls as usual.
    fn poll_now(&mut self, cx: &mut Context<'_>) -> Poll<Self::Output>;

    /// Whether a poll would be ready.
    fn is_there(&self) -> bool;

    /// Has the waker woken when the outcome is there, at once if it is.
    fn wait_only(&mut self, cx: &mut Context<'_>);
}

/// Polls; in a replay the answer is the recorded one.
#[inline]
pub(crate) fn poll<A: Awaited>(how: How, awaited: &mut A, cx: &mut Context<'_>) -> Poll<A::Output> {
    let telling = tell(how.mark());
    match telling {
        Telling::Free => awaited.poll_now(cx),
        Telling::Record => {
            let polled = awaited.poll_now(cx);
            note(how.mark(), polled.is_ready());
            polled
        }
        Telling::Told(true) => {
            wait_until(how.mark(), || awaited.is_there());
            awaited.poll_now(cx)
        }
        Telling::Told(false) => {
            awaited.wait_only(cx);
            Poll::Pending
        }
    }
}
