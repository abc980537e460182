//! The cooperative budget of a poll, under the names that tokio gives it.
//!
//! [`consume_budget`] describes the budget. Leaves of the runtime use it by themselves; these functions are for leaves of a
//! program's own, such as a queue that is never empty.

pub use super::has_budget_remaining;
pub use super::{Unconstrained, consume_budget, unconstrained};

use colored_core::budget;
use pin_project_lite::pin_project;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Takes one unit of the budget. If none is left, wakes the task and returns `Pending`, which the caller returns.
///
/// The unit comes back with a drop of what is returned, unless [`made_progress`](RestoreOnPending::made_progress) was
/// called: an operation that has to wait costs nothing.
pub fn poll_proceed(cx: &mut Context<'_>) -> Poll<RestoreOnPending> {
    ready!(budget::poll_proceed(cx));
    Poll::Ready(RestoreOnPending { has_progress: false, _this_thread: PhantomData })
}

/// A unit of the budget, which a drop gives back.
#[derive(Debug)]
#[must_use = "dropping it gives the unit back"]
pub struct RestoreOnPending {
    has_progress: bool,
    /// The budget is the thread's.
    _this_thread: PhantomData<*const ()>,
}

impl RestoreOnPending {
    /// The operation has succeeded, and costs the unit.
    pub fn made_progress(mut self) {
        self.has_progress = true;
    }
}

impl Drop for RestoreOnPending {
    fn drop(&mut self) {
        if !self.has_progress {
            budget::give_back();
        }
    }
}

pin_project! {
    /// The future of [`cooperative`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless awaited"]
    pub struct Coop<F> {
        #[pin]
        future: F,
    }
}

/// Makes a future take a unit of the budget when it is ready. As cancel safe as the future.
pub fn cooperative<F: Future>(future: F) -> Coop<F> {
    Coop { future }
}

impl<F: Future> Future for Coop<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let unit = ready!(poll_proceed(cx));
        let output = ready!(self.project().future.poll(cx));
        unit.made_progress();
        Poll::Ready(output)
    }
}
