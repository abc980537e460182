//! Polling by hand.

use crate::message;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

/// Polls once, on this thread, with a waker that does nothing.
pub fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Polls once, for the task that runs; returns whether the future waits.
pub async fn waits<F: Future + ?Sized>(future: Pin<&mut F>) -> bool {
    once(future).await.is_pending()
}

/// The future, polled once by the task that runs: it has to wait.
#[expect(clippy::async_yields_async, reason = "its caller awaits it when the wait is to end")]
#[track_caller]
pub fn that_waits<F: Future>(future: F) -> impl Future<Output = Pin<Box<F>>> {
    let place = Location::caller();
    async move {
        let mut future = Box::pin(future);
        assert!(waits(future.as_mut()).await, "what {place} polls does not wait");
        future
    }
}

/// Polls once, for the task that runs.
pub async fn once<F: Future + ?Sized>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
}

/// The future's output at its first poll, by the task that runs; the future is dropped.
pub async fn at_once<F: Future>(future: F) -> Option<F::Output> {
    match once(pin!(future)).await {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// The text of a task's panic.
pub async fn panic_of_task<R: Send + 'static>(
    color: u64,
    future: impl Future<Output = R> + Send + 'static,
) -> String {
    let error = colored::spawn_colored(color, future).await.err().expect("it was to panic");
    message(&*error.into_panic())
}

/// Polls two futures of one task until both are done.
pub async fn both(one: impl Future<Output = ()>, other: impl Future<Output = ()>) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    let mut open = [true, true];
    poll_fn(|cx| {
        open[0] = open[0] && one.as_mut().poll(cx).is_pending();
        open[1] = open[1] && other.as_mut().poll(cx).is_pending();
        if open == [false, false] { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// Polls a future when its own waker was woken, as `FuturesUnordered` does.
pub struct Child<F> {
    future: Pin<Box<F>>,
    woken: Arc<Flag>,
}

struct Flag(AtomicBool, Mutex<Option<Waker>>);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
        if let Some(waker) = &*self.1.lock().unwrap() {
            waker.wake_by_ref();
        }
    }
}

impl<F: Future> Child<F> {
    /// The first poll polls it in any case.
    pub fn new(future: F) -> Self {
        let woken = Arc::new(Flag(AtomicBool::new(true), Mutex::default()));
        Self { future: Box::pin(future), woken }
    }
}

impl<F: Future> Future for Child<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        *self.woken.1.lock().unwrap() = Some(cx.waker().clone());
        if !self.woken.0.swap(false, Ordering::Acquire) {
            return Poll::Pending;
        }
        let waker = Waker::from(Arc::clone(&self.woken));
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }
}
