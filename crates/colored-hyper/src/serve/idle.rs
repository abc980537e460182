//! [`Idle`]: the limit of the time without a request on an HTTP/2 connection.

use colored::time::{Duration, Instant, Sleep, sleep_until};
use hyper::Request;
use hyper::service::Service;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

/// Ends when no request has begun for the time of the limit.
pub(super) struct Idle {
    limit: Duration,
    last: Last,
    timer: Sleep,
}

/// When the last request has begun; before the first, when the connection has.
#[derive(Clone)]
struct Last {
    connection: Instant,
    /// Later by so many milliseconds.
    request: Arc<AtomicU64>,
}

impl Last {
    fn now() -> Last {
        Last { connection: Instant::now(), request: Arc::default() }
    }

    fn get(&self) -> Instant {
        // Ordering: only the time itself is shared.
        self.connection + Duration::from_millis(self.request.load(Ordering::Relaxed))
    }

    fn set(&self) {
        let request = self.connection.elapsed().as_millis();
        // Ordering: see `get`.
        self.request.store(u64::try_from(request).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

impl Idle {
    fn new(limit: Duration, last: Last) -> Idle {
        let timer = sleep_until(last.get() + limit);
        Idle { limit, last, timer }
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            ready!(Pin::new(&mut self.timer).poll(cx));
            let due = self.last.get() + self.limit;
            if due <= Instant::now() {
                return Poll::Ready(());
            }
            Pin::new(&mut self.timer).reset(due);
        }
    }
}

/// A service that notes when a request begins.
pub(super) struct Noting<S> {
    service: S,
    last: Last,
}

impl<S> Noting<S> {
    /// The service, and the limit of a connection that begins now, if it has one.
    pub(super) fn new(service: S, limit: Option<Duration>) -> (Self, Option<Box<Idle>>) {
        let last = Last::now();
        let idle = limit.map(|limit| Box::new(Idle::new(limit, last.clone())));
        (Noting { service, last }, idle)
    }
}

impl<S, B> Service<Request<B>> for Noting<S>
where
    S: Service<Request<B>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn call(&self, request: Request<B>) -> S::Future {
        self.last.set();
        self.service.call(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use colored::time::timeout;
    use std::future::poll_fn;

    #[test]
    fn the_time_begins_again_with_each_request() {
        const LIMIT: Duration = Duration::from_millis(20);
        let runtime = colored::Runtime::builder().workers(1).build().unwrap();
        runtime.block_on(async {
            let last = Last::now();
            let mut idle = Idle::new(LIMIT, last.clone());
            poll_fn(|cx| idle.poll(cx)).await;
            assert!(last.connection.elapsed() >= LIMIT);

            let mut idle = Idle::new(LIMIT, last.clone());
            // A request, as it seems, in an hour.
            last.request.store(3_600_000, Ordering::Relaxed);
            assert!(timeout(LIMIT * 5, poll_fn(|cx| idle.poll(cx))).await.is_err());

            last.set();
            assert!(last.get() >= last.connection + LIMIT && last.get() <= Instant::now());
        });
    }
}
