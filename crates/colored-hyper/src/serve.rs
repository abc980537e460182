//! Serving HTTP on a listener.

mod accept;
mod coloring;
mod connection;
mod drain;
mod error;
mod listener;
mod preface;
mod upgrade;

pub use self::accept::Serving;
pub use self::coloring::Coloring;
pub use self::error::{DrainTimeout, ServeError};
pub use self::listener::Listener;
pub use self::upgrade::into_io;

use self::preface::Version;
use crate::{ColoredExecutor, ColoredTimer};
use colored::time::Duration;
use hyper::server::conn::{http1, http2};
use std::fmt;
use std::pin::Pin;

/// Serves every connection of `listener` with a clone of `service`, over HTTP/1 and HTTP/2: which of
/// the two a client speaks shows in its first bytes.
///
/// `service` is a [`hyper::service::Service`]; [`tower`](crate::tower) makes one of an axum `Router`.
/// To know the peer of a connection, or to give each connection something of its own, use
/// [`serve_with`].
///
/// Nothing happens before the [`Serve`] is awaited.
pub fn serve<L, S>(listener: L, service: S) -> Serve<L, impl FnMut(L::Peer) -> S + Send + 'static>
where
    L: Listener,
    S: Clone + Send + 'static,
{
    serve_with(listener, move |_| service.clone())
}

/// [`serve`](crate::serve()) with a service that `make` makes for each connection, given the address of the peer.
/// `make` runs under the color of the accept loop, which is the caller's.
pub fn serve_with<L, M, S>(listener: L, make: M) -> Serve<L, M>
where
    L: Listener,
    M: FnMut(L::Peer) -> S + Send + 'static,
{
    let mut http1 = http1::Builder::new();
    http1.timer(ColoredTimer).header_read_timeout(HEADER_READ_TIMEOUT);
    let settings = Settings {
        version: None,
        coloring: Coloring::Connection,
        max_connections: usize::MAX,
        header_read_timeout: Some(HEADER_READ_TIMEOUT),
        drain_timeout: Some(DRAIN_TIMEOUT),
        on_error: Box::new(|_| {}),
        http1,
        set_http2: Vec::new(),
    };
    Serve { listener, make, signal: Box::pin(std::future::pending()), settings }
}

/// hyper's own default.
const HEADER_READ_TIMEOUT: Duration = Duration::from_secs(30);

/// What supervisors commonly grant before they kill.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);

/// A server that has not begun: settings, and `.await` to run it. Made by [`serve`](crate::serve()) and
/// [`serve_with`].
///
/// It runs until the signal of [`with_graceful_shutdown`](Serve::with_graceful_shutdown), or for
/// ever. To spawn it, use [`into_future`](IntoFuture::into_future).
///
/// No error of a connection or of the listener ends it; [`on_error`](Serve::on_error) shows them.
/// Dropping the future stops accepting; connections go on until they end by themselves.
///
/// # Errors
///
/// [`DrainTimeout`], when the time for a graceful shutdown was over.
#[must_use = "a server does nothing unless it is awaited"]
pub struct Serve<L: Listener, M> {
    listener: L,
    make: M,
    signal: Signal,
    settings: Settings<L::Peer>,
}

type Signal = Pin<Box<dyn Future<Output = ()> + Send>>;
type OnError<P> = Box<dyn Fn(&ServeError<P>) + Send + Sync>;
type SetHttp2 = Box<dyn FnOnce(&mut http2::Builder<ColoredExecutor>) + Send>;

struct Settings<P> {
    /// The one version that is spoken, if only one is.
    version: Option<Version>,
    coloring: Coloring<P>,
    max_connections: usize,
    header_read_timeout: Option<Duration>,
    drain_timeout: Option<Duration>,
    on_error: OnError<P>,
    http1: http1::Builder,
    /// Kept for when the coloring, and with it the executor, is known.
    set_http2: Vec<SetHttp2>,
}

impl<L: Listener, M> Serve<L, M> {
    /// Speaks HTTP/1 only. Saves each connection the look at its first bytes.
    pub fn http1_only(mut self) -> Self {
        self.settings.version = Some(Version::Http1);
        self
    }

    /// Speaks HTTP/2 only, as clients of gRPC do.
    pub fn http2_only(mut self) -> Self {
        self.settings.version = Some(Version::Http2);
        self
    }

    /// Which requests may overlap. Default: [`Coloring::Connection`].
    pub fn coloring(mut self, coloring: Coloring<L::Peer>) -> Self {
        self.settings.coloring = coloring;
        self
    }

    /// At most so many open connections, at least 1; further ones wait in the queue of the system.
    /// Default: as many as the system has descriptors for.
    ///
    /// # Panics
    ///
    /// If it is 0.
    #[track_caller]
    pub fn max_connections(mut self, connections: usize) -> Self {
        assert!(connections > 0, "max_connections(0): a server needs at least 1 connection");
        self.settings.max_connections = connections;
        self
    }

    /// How long a client may take to send the first bytes of a connection, its handshake included,
    /// and how long for the headers of each HTTP/1 request; between two requests it is how long an
    /// idle connection stays open, and the end of one is no error. `None`: for ever, which lets a few
    /// slow clients hold all connections. Default: 30 seconds.
    ///
    /// An HTTP/2 connection that has begun may be idle for ever, and so may a body be slow: see
    /// `keep_alive_interval` under [`http2`](Serve::http2), and use a layer with a time-out.
    pub fn header_read_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        let timeout = timeout.into();
        self.settings.header_read_timeout = timeout;
        self.settings.http1.header_read_timeout(timeout);
        self
    }

    /// Stops when `signal` is ready: accepts no more, closes idle connections, lets requests that
    /// are under way finish, and returns when all connections are closed. HTTP/2 clients are told to
    /// send no more requests.
    ///
    /// A connection that was upgraded, to a web socket for instance, is no longer the server's: it
    /// is not waited for.
    ///
    /// ```no_run
    /// # use colored_hyper::serve;
    /// # use hyper::{Request, Response, body::Incoming, service::service_fn};
    /// # async fn example(listener: colored::net::TcpListener) -> std::io::Result<()> {
    /// # let service = service_fn(async |_: Request<Incoming>| {
    /// #     Ok::<_, hyper::Error>(Response::new(String::new()))
    /// # });
    /// let (stop, stopped) = colored::sync::oneshot::channel::<()>();
    /// let signal = async { drop(stopped.await) };
    /// let server = colored::spawn(serve(listener, service).with_graceful_shutdown(signal).into_future());
    /// // When the time has come:
    /// drop(stop);
    /// server.await??;
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_graceful_shutdown(
        mut self,
        signal: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        self.signal = Box::pin(signal);
        self
    }

    /// How long a graceful shutdown waits for requests that are under way; then their connections
    /// are cut off and the server ends with [`DrainTimeout`]. `None`: for ever. Default: 30 seconds.
    pub fn drain_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.settings.drain_timeout = timeout.into();
        self
    }

    /// Calls `hook` with every error of a connection and of accepting, for a log or a counter; the
    /// server goes on. `hook` runs under the color of the connection or of the accept loop, so it may
    /// run several times at once. Default: errors are ignored.
    pub fn on_error(mut self, hook: impl Fn(&ServeError<L::Peer>) + Send + Sync + 'static) -> Self {
        self.settings.on_error = Box::new(hook);
        self
    }

    /// Changes other settings of HTTP/1. The timer is set already.
    pub fn http1(mut self, set: impl FnOnce(&mut http1::Builder)) -> Self {
        set(&mut self.settings.http1);
        self
    }

    /// Changes other settings of HTTP/2, when the server begins. The timer is set already.
    pub fn http2(
        mut self,
        set: impl FnOnce(&mut http2::Builder<ColoredExecutor>) + Send + 'static,
    ) -> Self {
        self.settings.set_http2.push(Box::new(set));
        self
    }
}

impl<L: Listener + fmt::Debug, M> fmt::Debug for Serve<L, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serve")
            .field("listener", &self.listener)
            .field("coloring", &self.settings.coloring)
            .finish_non_exhaustive()
    }
}
