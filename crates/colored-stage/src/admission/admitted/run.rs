//! [`Run`]: work that begins with its first poll.

use super::{Admitted, Overloaded, Running};
use pin_project_lite::pin_project;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

pin_project! {
    /// The future of [`Admitted::run`].
    #[must_use = "futures do nothing unless awaited or spawned"]
    pub struct Run<F> {
        #[pin]
        future: F,
        state: State,
    }
}

enum State {
    Waits(Admitted),
    Runs(Running),
    Over,
}

impl<F> Run<F> {
    pub(super) fn new(admitted: Admitted, future: F) -> Self {
        Self { future, state: State::Waits(admitted) }
    }
}

impl<F: Future> Future for Run<F> {
    type Output = Result<F::Output, Overloaded>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        match std::mem::replace(this.state, State::Over) {
            State::Waits(admitted) => *this.state = State::Runs(admitted.begin()?),
            State::Runs(running) => *this.state = State::Runs(running),
            State::Over => panic!("a `Run` was polled again after it had given the result"),
        }
        let output = ready!(this.future.poll(cx));
        *this.state = State::Over;
        Poll::Ready(Ok(output))
    }
}

impl<F> fmt::Debug for Run<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::Waits(_) => "waits",
            State::Runs(_) => "runs",
            State::Over => "over",
        };
        f.debug_tuple("Run").field(&state).finish()
    }
}
