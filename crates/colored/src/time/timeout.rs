//! Waiting for a future, but not for ever.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use pin_project_lite::pin_project;

use super::error::Elapsed;
use super::instant::Instant;
use super::sleep::{Sleep, sleep, sleep_until};
use crate::budget;

/// Returns the output of `future`, or [`Elapsed`] if the future takes longer than
/// `duration`, counted from this call. The future is then dropped with the [`Timeout`].
///
/// Each poll polls the future first: a ready future wins, also when the time is over. A
/// future that is ready at its first poll costs no timer, only a reading of the clock.
///
/// A future that uses up the cooperative budget of its task does not escape its
/// timeout: the timeout reserves a unit for its own check of the deadline before it
/// polls the future.
///
/// # Cancel safety
///
/// As the future itself: dropping the timeout drops the future.
///
/// # Examples
///
/// ```no_run
/// # async fn example(reply: impl Future<Output = u32>) {
/// use colored::time::{Duration, timeout};
///
/// match timeout(Duration::from_secs(1), reply).await {
///     Ok(reply) => println!("{reply}"),
///     Err(elapsed) => println!("no reply: {elapsed}"),
/// }
/// # }
/// ```
#[track_caller]
pub fn timeout<F: IntoFuture>(duration: Duration, future: F) -> Timeout<F::IntoFuture> {
    Timeout { future: future.into_future(), sleep: sleep(duration), limit: Some(duration) }
}

/// [`timeout`] with a point in time, and as cancel safe.
#[track_caller]
pub fn timeout_at<F: IntoFuture>(
    deadline: impl Into<Instant>,
    future: F,
) -> Timeout<F::IntoFuture> {
    Timeout { future: future.into_future(), sleep: sleep_until(deadline), limit: None }
}

pin_project! {
    /// The future of [`timeout`] and [`timeout_at`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless you `.await` or poll them"]
    pub struct Timeout<F> {
        #[pin]
        future: F,
        sleep: Sleep,
        limit: Option<Duration>,
    }
}

impl<F> Timeout<F> {
    /// The future that is waited for.
    pub fn get_ref(&self) -> &F {
        &self.future
    }

    /// The future that is waited for.
    pub fn get_mut(&mut self) -> &mut F {
        &mut self.future
    }

    /// The future alone, without a time limit.
    pub fn into_inner(self) -> F {
        self.future
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        // If there is no budget left even for this, the task is woken already and
        // the deadline is looked at in its next turn.
        let set_aside = budget::poll_proceed(cx).is_ready();
        if let Poll::Ready(output) = this.future.poll(cx) {
            if set_aside {
                budget::give_back();
            }
            return Poll::Ready(Ok(output));
        }
        if !set_aside {
            return Poll::Pending;
        }
        let poll = this.sleep.poll_elapsed(cx, true);
        if poll.is_pending() {
            budget::give_back();
        }
        let elapsed = Elapsed::of(*this.limit);
        poll.map(|()| Err(elapsed))
    }
}
