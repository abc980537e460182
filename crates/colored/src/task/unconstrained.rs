//! [`unconstrained()`]: a future that has no budget.

use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll};

pin_project! {
    /// What [`unconstrained()`] returns.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless awaited"]
    pub struct Unconstrained<F> {
        #[pin]
        future: F,
    }
}

/// Polls `future` without the cooperative budget: no socket, timer, call or join handle in it is made
/// to wait because the poll has had its 128 units, and [`consume_budget`](super::consume_budget) never
/// waits.
///
/// What is around it keeps its units, and so do tasks that it spawns. While it always finds something
/// to do, its poll does not end: everything of its color waits, its worker with all that is pinned
/// there, and aborts too. It is as cancel safe as `future`, and costs a look at a thread-local a poll.
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
