//! [`Limited`]: a stream of HTTP/2 that ends when its client takes nothing of the response.
//!
//! hyper polls the body of a response, and then waits until the client gives room for what it got. No code of a service
//! runs in that wait, so the task of the stream measures it: the body says in each poll whether its stream waits for the
//! server or for the client.

use colored::time::{Duration, Instant, Sleep, sleep};
use pin_project_lite::pin_project;
use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll};

/// What a stream waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaits {
    /// Nothing has been said in this poll.
    Same,
    Server,
    /// For so long at most.
    Client(Duration),
}

thread_local! {
    /// For the poll that runs now.
    static AWAITS: Cell<Awaits> = const { Cell::new(Awaits::Same) };
}

/// The stream that is being polled waits for the server.
pub(crate) fn note_server() {
    AWAITS.set(Awaits::Server);
}

/// The stream that is being polled waits for its client, and should not for longer than `limit`.
pub(crate) fn note_client(limit: Duration) {
    AWAITS.set(Awaits::Client(limit));
}

pin_project! {
    /// Ends with its future, or when that has waited for its client for too long.
    pub(super) struct Limited<F> {
        #[pin]
        future: F,
        // In a box, because few streams ever have one.
        timer: Option<Pin<Box<Sleep>>>,
    }
}

impl<F> Limited<F> {
    pub(super) fn new(future: F) -> Limited<F> {
        Limited { future, timer: None }
    }
}

impl<F: Future> Future for Limited<F> {
    type Output = ();

    /// The runtime then drops the future, by which hyper resets the stream.
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        // A stream may poll another connection, in which another stream is polled.
        let outer = AWAITS.replace(Awaits::Same);
        let polled = this.future.poll(cx);
        let awaits = AWAITS.replace(outer);
        if polled.is_ready() {
            return Poll::Ready(());
        }
        match (awaits, &mut *this.timer) {
            (Awaits::Same, _) => {}
            (Awaits::Server, timer) => *timer = None,
            (Awaits::Client(limit), Some(timer)) => timer.as_mut().reset(Instant::now() + limit),
            (Awaits::Client(limit), timer) => *timer = Some(Box::pin(sleep(limit))),
        }
        match this.timer {
            Some(timer) => timer.as_mut().poll(cx),
            None => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use colored::time::timeout;
    use std::future::{pending, poll_fn};

    const LIMIT: Duration = Duration::from_millis(20);

    #[test]
    fn a_stream_ends_only_while_it_waits_for_its_client() {
        let runtime = colored::Runtime::builder().workers(1).build().unwrap();
        runtime.block_on(async {
            let mut polls = 0;
            let client = poll_fn(|_| {
                polls += 1;
                if polls == 1 {
                    note_client(LIMIT);
                }
                Poll::<()>::Pending
            });
            Limited::new(client).await;

            let mut polls = 0;
            let server = poll_fn(|_| {
                polls += 1;
                if polls == 1 {
                    note_client(LIMIT)
                } else {
                    note_server()
                }
                Poll::<()>::Pending
            });
            let mut server = std::pin::pin!(Limited::new(server));
            poll_fn(|cx| Poll::Ready(server.as_mut().poll(cx).is_pending())).await;
            assert!(timeout(LIMIT * 5, server).await.is_err());

            assert!(timeout(LIMIT * 2, Limited::new(pending::<()>())).await.is_err());
            assert_eq!(AWAITS.get(), Awaits::Same);
        });
    }
}
