//! The task of one connection.

use super::activity::Activity;
use super::drain::{Open, Phase};
use super::guard::Marking;
use super::idle::{Goodbye, Idle, Limits};
use super::noting::Noting;
use super::preface::Prefaced;
use super::version::Version;
use super::{OnError, ServeError};
use crate::ColoredExecutor;
use colored::net::Progress;
use colored::time::{Duration, timeout};
use hyper::body::{Body, Incoming};
use hyper::rt::{Read, Write};
use hyper::server::conn::{http1, http2};
use hyper::service::Service;
use hyper::{Request, Response};
use std::error::Error;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// The state that all connections of a server share.
pub(super) struct Protocol<P> {
    pub(super) version: Option<Version>,
    pub(super) header_read_timeout: Option<Duration>,
    pub(super) body_read_timeout: Option<Duration>,
    pub(super) write_timeout: Option<Duration>,
    pub(super) http2_idle_timeout: Option<Duration>,
    pub(super) on_error: OnError<P>,
    pub(super) http1: http1::Builder,
    pub(super) http2: http2::Builder<ColoredExecutor>,
}

impl<P> Protocol<P> {
    /// Serves one connection to its end. The future is small, because each open connection has one. So this is no `async fn`,
    /// which has room for its arguments twice, and boxes keep what is large.
    pub(super) fn run<H, T, S, B>(
        self: Arc<Self>,
        handshake: H,
        peer: P,
        service: S,
        progress: fn(&T) -> Option<Progress>,
        mut open: Open,
    ) -> impl Future<Output = ()>
    where
        H: Future<Output = io::Result<T>>,
        T: Read + Write + Send + Unpin + 'static,
        S: Service<Request<Incoming>, Response = Response<B>> + Send + 'static,
        S::Future: Send + 'static,
        S::Error: Into<Box<dyn Error + Send + Sync>>,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        // The box gives its memory back before the connection takes its own.
        let begun = Box::pin(self.begin(handshake, progress));
        async move {
            let (io, version) = match unless_drained(begun, &mut open).await {
                Some(Ok(Some(begun))) => begun,
                Some(Ok(None)) | None => return,
                Some(Err(error)) => return (self.on_error)(&ServeError::Preface { peer, error }),
            };
            let (io, activity) = io.speaking(version);
            let ended = match version {
                Version::Http1 => {
                    let service = Marking { service, drain: open.drain() };
                    let connection =
                        Box::pin(self.http1.serve_connection(io, service).with_upgrades());
                    match drive(connection, &mut open, None, |http| http.graceful_shutdown()).await
                    {
                        // hyper has one time-out for half a request and for none.
                        Err(error) if error.is_timeout() && activity.was_answered() => Ok(()),
                        ended => ended,
                    }
                }
                Version::Http2 => {
                    let limits = self.limits();
                    let quiet = Some(Box::new(Quiet::new(limits, activity.clone())));
                    let service = Noting::new(service, activity, limits.write_timeout);
                    let connection = Box::pin(self.http2.serve_connection(io, service));
                    drive(connection, &mut open, quiet, |http| http.graceful_shutdown()).await
                }
            };
            if let Err(error) = ended {
                (self.on_error)(&ServeError::Connection { peer, error });
            }
        }
    }

    fn limits(&self) -> Limits {
        Limits { idle: self.http2_idle_timeout, write_timeout: self.write_timeout }
    }

    /// A connection that is ready for HTTP, and the version to speak; `None` if it ends before its
    /// first request.
    fn begin<H, T>(
        &self,
        handshake: H,
        progress: fn(&T) -> Option<Progress>,
    ) -> impl Future<Output = io::Result<Option<(Prefaced<T>, Version)>>> + use<P, H, T>
    where
        H: Future<Output = io::Result<T>>,
        T: Read + Unpin,
    {
        let (only, limit) = (self.version, self.header_read_timeout);
        let (write_timeout, body_read_timeout) = (self.write_timeout, self.body_read_timeout);
        let begin = async move {
            let mut io =
                Prefaced::new(handshake.await?, progress, write_timeout, body_read_timeout);
            if only == Some(Version::Http1) {
                return Ok(Some((io, Version::Http1)));
            }
            // hyper has no time-out before the first byte of HTTP/2, so this is read here in any case.
            let version = io.version().await?;
            Ok(version.map(|version| (io, only.unwrap_or(version))))
        };
        async move {
            let Some(limit) = limit else { return begin.await };
            timeout(limit, begin).await.map_err(|_| {
                let text = format!("the client did not begin in {limit:?}");
                io::Error::new(io::ErrorKind::TimedOut, text)
            })?
        }
    }
}

/// The output of `begun`; `None` if the server ends first.
fn unless_drained<F: Future>(
    mut begun: Pin<Box<F>>,
    open: &mut Open,
) -> impl Future<Output = Option<F::Output>> {
    poll_fn(move |cx| match open.poll(cx) {
        Phase::Serve => begun.as_mut().poll(cx).map(Some),
        Phase::Drain | Phase::Cut => Poll::Ready(None),
    })
}

/// The limits of an HTTP/2 connection that has nothing to do.
struct Quiet {
    limits: Limits,
    activity: Activity,
    idle: Option<Idle>,
    goodbye: Option<Goodbye>,
    /// The task of the connection.
    waker: Waker,
}

impl Quiet {
    fn new(limits: Limits, activity: Activity) -> Quiet {
        let idle = limits.idle.map(|limit| Idle::new(limit, activity.clone()));
        Quiet { limits, activity, idle, goodbye: None, waker: Waker::noop().clone() }
    }

    /// The streams may wake the connection that is polled now.
    fn note_task(&mut self, cx: &Context<'_>) {
        if !self.waker.will_wake(cx.waker()) {
            self.waker.clone_from(cx.waker());
            if let Some(flow) = self.activity.flow() {
                flow.set_connection(self.waker.clone());
            }
        }
    }

    /// Whether the connection should come to its end.
    fn poll_over(&mut self, cx: &mut Context<'_>) -> bool {
        self.idle.as_mut().is_some_and(|idle| idle.poll(cx).is_ready())
    }

    /// The client is told to go away.
    fn begin_goodbye(&mut self) {
        self.idle = None;
        self.goodbye = Some(Goodbye::new(self.limits, self.activity.clone()));
    }

    /// Whether the client has been waited for long enough.
    fn poll_gone(&mut self, cx: &mut Context<'_>) -> bool {
        self.goodbye.as_mut().is_some_and(|goodbye| goodbye.poll(cx).is_ready())
    }
}

/// Drives a connection of hyper to its end, and tells it when to come to one. A client that does not understand is left
/// alone: that is no error, as it asks for nothing.
fn drive<C>(
    mut connection: Pin<Box<C>>,
    open: &mut Open,
    mut quiet: Option<Box<Quiet>>,
    finish: fn(Pin<&mut C>),
) -> impl Future<Output = hyper::Result<()>>
where
    C: Future<Output = hyper::Result<()>>,
{
    let mut finishing = false;
    poll_fn(move |cx| {
        let draining = match open.poll(cx) {
            Phase::Serve => false,
            Phase::Drain => true,
            Phase::Cut => return Poll::Ready(Ok(())),
        };
        if let Some(quiet) = &mut quiet {
            quiet.note_task(cx);
        }
        let over = !finishing && quiet.as_mut().is_some_and(|quiet| quiet.poll_over(cx));
        if !finishing && (draining || over) {
            finishing = true;
            finish(connection.as_mut());
            if let Some(quiet) = &mut quiet {
                quiet.begin_goodbye();
            }
        }
        if let Poll::Ready(ended) = connection.as_mut().poll(cx) {
            return Poll::Ready(ended);
        }
        if quiet.as_mut().is_some_and(|quiet| quiet.poll_gone(cx)) {
            return Poll::Ready(Ok(()));
        }
        Poll::Pending
    })
}
