//! [`Quiet`]: the limits of a WebSocket whose client sends nothing.

use colored::time::{Duration, Instant, Sleep, sleep};
use std::pin::Pin;
use std::task::{Context, Poll};

/// How long a client that sends nothing, not even answers to pings, keeps its WebSocket. A guess: browsers answer in one
/// round trip, and proxies commonly give up after one minute without a byte, which the pings prevent.
const IDLE_TIMEOUT: Duration = Duration::from_secs(100);

/// How long the server waits for the answer to its close frame. A guess: far longer than a round trip.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Measures the time in which nothing comes.
pub(super) struct Quiet {
    limit: Option<Duration>,
    timer: Option<Pin<Box<Sleep>>>,
    /// The client has been asked whether it is there, and has not answered.
    asked: bool,
    /// The server has sent a close frame.
    closing: bool,
}

/// What to do about a client that sends nothing.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Due {
    Ping,
    /// It has not answered for so long.
    Fail(Duration),
}

impl Quiet {
    pub(super) fn new() -> Quiet {
        Quiet { limit: Some(IDLE_TIMEOUT), timer: None, asked: false, closing: false }
    }

    pub(super) fn set_limit(&mut self, limit: Option<Duration>) {
        self.limit = limit;
        if !self.closing {
            self.timer = None;
        }
    }

    /// The server has sent a close frame.
    pub(super) fn begin_close(&mut self) {
        if !self.closing {
            self.closing = true;
            self.timer = Some(Box::pin(sleep(CLOSE_TIMEOUT)));
        }
    }

    /// Whether the server has sent a close frame.
    pub(super) fn is_closing(&self) -> bool {
        self.closing
    }

    /// Whether the server has waited for the answer to its close frame for long enough. Asked before something is received,
    /// as a client that goes on sending does not answer either.
    pub(super) fn poll_over(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(timer) = &mut self.timer else { return false };
        self.closing && timer.as_mut().poll(cx).is_ready()
    }

    /// There is nothing to receive; `take_heard` tells whether something has come since the last call.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        mut take_heard: impl FnMut() -> bool,
    ) -> Poll<Due> {
        loop {
            let Some(timer) = &mut self.timer else {
                let Some(limit) = self.limit else { return Poll::Pending };
                self.asked = false;
                take_heard();
                self.timer = Some(Box::pin(sleep(limit / 2)));
                continue;
            };
            if self.closing || timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            let limit = self.limit.unwrap_or_default();
            timer.as_mut().reset(Instant::now() + limit / 2);
            if take_heard() {
                self.asked = false;
            } else if self.asked {
                return Poll::Ready(Due::Fail(limit));
            } else {
                self.asked = true;
                return Poll::Ready(Due::Ping);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use colored::time::timeout;
    use std::future::poll_fn;

    #[colored::test(paused)]
    async fn a_silent_client_is_asked_once_and_then_given_up() {
        let begun = Instant::now();
        let mut quiet = Quiet::new();
        assert_eq!(poll_fn(|cx| quiet.poll(cx, || false)).await, Due::Ping);
        assert!(begun.elapsed() >= IDLE_TIMEOUT / 2 && begun.elapsed() < IDLE_TIMEOUT);
        assert_eq!(poll_fn(|cx| quiet.poll(cx, || false)).await, Due::Fail(IDLE_TIMEOUT));
        assert!(begun.elapsed() >= IDLE_TIMEOUT && begun.elapsed() < IDLE_TIMEOUT * 2);

        let mut quiet = Quiet::new();
        let heard = poll_fn(|cx| quiet.poll(cx, || true));
        assert!(timeout(IDLE_TIMEOUT * 10, heard).await.is_err());
        quiet.set_limit(None);
        let silent = poll_fn(|cx| quiet.poll(cx, || false));
        assert!(timeout(IDLE_TIMEOUT * 10, silent).await.is_err());
    }

    #[colored::test(paused)]
    async fn the_answer_to_a_close_frame_is_waited_for_once() {
        let mut quiet = Quiet::new();
        let begun = Instant::now();
        quiet.begin_close();
        let over = poll_fn(|cx| if quiet.poll_over(cx) { Poll::Ready(()) } else { Poll::Pending });
        over.await;
        assert!(begun.elapsed() >= CLOSE_TIMEOUT && begun.elapsed() < CLOSE_TIMEOUT * 2);
        // A second close frame does not begin the time again.
        quiet.begin_close();
        assert!(poll_fn(|cx| Poll::Ready(quiet.poll_over(cx))).await);
    }
}
