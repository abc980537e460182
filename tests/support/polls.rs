//! Polling by hand.

use crate::support::message;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// Polls once, on this thread, for nobody.
pub(crate) fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Polls once, for the task that runs; whether it waits.
pub(crate) async fn waits<F: Future + ?Sized>(future: Pin<&mut F>) -> bool {
    once(future).await.is_pending()
}

/// Polls once, for the task that runs.
pub(crate) async fn once<F: Future + ?Sized>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
}

/// What a task panicked with.
pub(crate) async fn panic_of_task<R: Send + 'static>(
    color: u64,
    future: impl Future<Output = R> + Send + 'static,
) -> String {
    let error = colored::spawn_colored(color, future).await.err().expect("it was to panic");
    message(&*error.into_panic())
}

/// Polls two futures of one task until both are done.
pub(crate) async fn both(one: impl Future<Output = ()>, other: impl Future<Output = ()>) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    let mut open = [true, true];
    poll_fn(|cx| {
        open[0] = open[0] && one.as_mut().poll(cx).is_pending();
        open[1] = open[1] && other.as_mut().poll(cx).is_pending();
        if open == [false, false] { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}
