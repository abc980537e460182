//! [`unconstrained()`]: a future without a budget.

use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll};

pin_project! {
    /// The future of [`unconstrained()`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless awaited"]
    pub struct Unconstrained<F> {
        #[pin]
        future: F,
    }
}

/// Polls `future` without the cooperative budget: no socket, timer, call or join handle in it waits
/// because the poll has used its 128 units, and [`consume_budget`](super::consume_budget) never waits.
///
/// The code around it keeps its units, and so do tasks that `future` spawns. While `future` always
/// finds work, its poll does not end: everything of its color waits, its worker is busy with all pinned
/// tasks waiting, and aborts wait too. It is as cancel safe as `future`, and costs a look at a
/// thread-local for each poll.
pub fn unconstrained<F: Future>(future: F) -> Unconstrained<F> {
    Unconstrained { future }
}

impl<F: Future> Future for Unconstrained<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let future = self.project().future;
        colored_core::budget::unlimited(|| future.poll(cx))
    }
}
