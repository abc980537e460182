//! The accept loop.

use super::connection::Protocol;
use super::drain::{Drain, Phase};
use super::version::Version;
use super::{DrainTimeout, Listener, Serve, ServeError, Settings};
use crate::ColoredTimer;
use colored::io::named;
use colored::task::consume_budget;
use colored::time::timeout;
use colored::{Color, JoinError, JoinHandle, spawn_colored, spawn_unique};
use hyper::body::{Body, Incoming};
use hyper::server::conn::http2;
use hyper::service::Service;
use hyper::{Request, Response};
use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::mem;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// A server that runs; see [`Serve`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Serving(State);

enum State {
    /// It has not been polled.
    New {
        accepting: Accepting,
        color: Option<Color>,
    },
    Running(JoinHandle<Result<(), DrainTimeout>>),
    /// For the moment in which it begins, and afterwards if that panics.
    Beginning,
}

type Accepting = Pin<Box<dyn Future<Output = Result<(), DrainTimeout>> + Send>>;

impl Future for Serving {
    type Output = Result<(), DrainTimeout>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if matches!(self.0, State::New { .. }) {
            let State::New { accepting, color } = mem::replace(&mut self.0, State::Beginning)
            else {
                unreachable!("it is new")
            };
            self.0 = State::Running(match color {
                Some(color) => spawn_colored(color, accepting),
                None => spawn_unique(accepting),
            });
        }
        let State::Running(task) = &mut self.0 else {
            panic!("a server was polled again after a panic")
        };
        match ready!(Pin::new(task).poll(cx)).map_err(JoinError::try_into_panic) {
            Ok(ended) => Poll::Ready(ended),
            Err(Ok(payload)) => resume_unwind(payload),
            // The runtime ends, and with it the task that waits here.
            Err(Err(_)) => Poll::Pending,
        }
    }
}

/// Stops accepting.
impl Drop for Serving {
    fn drop(&mut self) {
        if let State::Running(task) = &self.0 {
            task.abort();
        }
    }
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving").finish_non_exhaustive()
    }
}

impl<L, M, S, B> IntoFuture for Serve<L, M>
where
    L: Listener,
    M: FnMut(L::Peer) -> S + Send + 'static,
    S: Service<Request<Incoming>, Response = Response<B>> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    type Output = Result<(), DrainTimeout>;
    type IntoFuture = Serving;

    fn into_future(self) -> Serving {
        let color = self.settings.coloring.of_accepting();
        Serving(State::New { accepting: Box::pin(run(self)), color })
    }
}

async fn run<L, M, S, B>(serve: Serve<L, M>) -> Result<(), DrainTimeout>
where
    L: Listener,
    M: FnMut(L::Peer) -> S + Send + 'static,
    S: Service<Request<Incoming>, Response = Response<B>> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let Serve { mut listener, mut make, mut signal, settings } = serve;
    let Settings { coloring, max_connections, drain_timeout, .. } = settings;
    listener.offer(Version::offers(settings.version));
    let protocol = Arc::new(settings.into_protocol());
    let drain = Drain::new();
    loop {
        // A listener of others may have one for ever.
        consume_budget().await;
        let accepted = poll_fn(|cx| {
            if signal.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Ok(None));
            }
            ready!(drain.poll_fewer_than(max_connections, cx));
            listener.poll_accept(cx).map_ok(Some)
        });
        let (handshake, peer) = match named(accepted).await {
            Ok(Some(accepted)) => accepted,
            // The listener makes the next accept wait.
            Err(error) => {
                (protocol.on_error)(&ServeError::Accept(error));
                continue;
            }
            Ok(None) => break,
        };
        let (service, protocol, open) = (make(peer.clone()), Arc::clone(&protocol), drain.open());
        let connection = protocol.run(handshake, peer.clone(), service, L::progress, open);
        coloring.spawn(&peer, connection);
    }
    drop(listener);
    drain.enter(Phase::Drain);
    let drained = poll_fn(|cx| drain.poll_fewer_than(1, cx));
    let Some(limit) = drain_timeout else {
        drained.await;
        return Ok(());
    };
    if timeout(limit, drained).await.is_ok() {
        return Ok(());
    }
    let connections = drain.connections();
    drain.enter(Phase::Cut);
    Err(DrainTimeout { connections, timeout: limit })
}

impl<P> Settings<P> {
    /// The parts that connections need, once the coloring is known.
    fn into_protocol(self) -> Protocol<P> {
        let mut http2 = http2::Builder::new(self.coloring.of_streams());
        http2.timer(ColoredTimer);
        self.set_http2.into_iter().for_each(|set| set(&mut http2));
        Protocol {
            version: self.version,
            header_read_timeout: self.header_read_timeout,
            body_read_timeout: self.body_read_timeout,
            write_timeout: self.write_timeout,
            http2_idle_timeout: self.http2_idle_timeout,
            on_error: self.on_error,
            http1: self.http1,
            http2,
        }
    }
}
