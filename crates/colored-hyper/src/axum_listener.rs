//! [`AxumListener`]: our listeners under `axum::serve`.

mod stream;

pub use self::stream::AxumStream;

use crate::Listener;
use axum::serve::{ListenerExt, TapIo};
use colored::io::{AsyncRead, AsyncWrite, NamedError, named};
use colored::task::consume_budget;
use std::fmt;
use std::future::poll_fn;
use std::io;

/// A [`Listener`] for `axum::serve`: the smallest first step of a server that is ported from tokio. Needs the feature
/// `axum`.
///
/// ```no_run
/// use axum::Router;
/// use axum::extract::ConnectInfo;
/// use axum::routing::get;
/// use colored_hyper::AxumListener;
/// use std::net::SocketAddr;
///
/// #[colored::main(tokio)]
/// async fn main() -> std::io::Result<()> {
///     let app = Router::new()
///         .route("/", get(async |ConnectInfo(peer): ConnectInfo<SocketAddr>| peer.to_string()))
///         .into_make_service_with_connect_info::<SocketAddr>();
///     let listener = colored::net::TcpListener::bind("127.0.0.1:8080").await?;
///     axum::serve(AxumListener::new(listener).with_connect_info(), app).await
/// }
/// ```
///
/// # What is missing before `serve`
///
/// `axum::serve` spawns each connection by `tokio::spawn`. So connections and handlers run on the thread of the tokio
/// runtime beside ours, which the feature starts, and have **no color**. [`serve`](crate::serve()) is where the port leads;
/// the step from here is one line:
///
/// ```no_run
/// # async fn example(listener: colored::net::TcpListener, router: axum::Router) -> std::io::Result<()> {
/// colored_hyper::serve(listener, colored_hyper::tower(router)).await?;
/// # Ok(())
/// # }
/// ```
///
/// | | under `axum::serve` | under [`serve`](crate::serve()) |
/// |---|---|---|
/// | connections and handlers run | on tokio's one thread, beside all colors | on all workers, under the colors of [`Coloring`](crate::Coloring) |
/// | state in a `ColorCell` | `call`, `post`, `read` and `when` work; `with` panics | all of them work |
/// | `colored::spawn`, sockets, timers, `signal::ctrl_c` | work; `spawn_here`, `spawn_local` and `hop` panic, for want of a color | all of them work |
/// | the signal of `with_graceful_shutdown` | runs on tokio's thread too | runs in the server's task |
/// | a graceful shutdown | waits for its requests for ever | waits at most for [`drain_timeout`](crate::Serve::drain_timeout) |
/// | slow clients, clients that say nothing | keep their connections | are [cut off](crate#slow-clients) |
/// | number of connections | not limited | [`max_connections`](crate::Serve::max_connections) |
/// | errors of connections | are dropped, or traced by axum | go to [`on_error`](crate::Serve::on_error) |
/// | axum's `WebSocketUpgrade` | works | the module `websocket` |
///
/// In a simulation, `axum::serve` runs with `colored::sim::Builder::tokio`.
///
/// A server that stops at Ctrl-C:
///
/// ```no_run
/// # use colored_hyper::AxumListener;
/// # async fn example(listener: colored::net::TcpListener, router: axum::Router) -> std::io::Result<()> {
/// axum::serve(AxumListener::new(listener), router)
///     .with_graceful_shutdown(async { drop(colored::signal::ctrl_c().await) })
///     .await
/// # }
/// ```
///
/// # Accepting
///
/// The accept loop runs in the task that awaits `axum::serve`, under its color: give it a color that nothing else keeps
/// busy. It must be a task of ours, since the pause after an error is a timer of ours.
///
/// Errors do not end the loop: [`on_error`](AxumListener::on_error) hears of each, and the next accept waits, 5 ms after
/// the first error and up to a second after many, where axum's own listeners wait for a second after each. A handshake,
/// such as that of TLS, runs in the task of its connection, so a slow client delays no other; it has no limit of time. A
/// listener for TLS offers HTTP/2 and HTTP/1.1.
pub struct AxumListener<L> {
    inner: L,
    on_error: OnError,
}

type OnError = Box<dyn FnMut(&NamedError) + Send>;

impl<L> AxumListener<L>
where
    L: Listener,
    L::Io: AsyncRead + AsyncWrite,
{
    /// Accepts the connections of `inner`: TCP, a Unix socket, TLS, or a listener of your own.
    pub fn new(mut inner: L) -> AxumListener<L> {
        inner.offer(&[b"h2", b"http/1.1"]);
        AxumListener { inner, on_error: Box::new(|_| {}) }
    }

    /// Calls `hook` with every error of accepting, which has the number of the system and names the operation. By default the
    /// listener ignores errors.
    pub fn on_error(mut self, hook: impl FnMut(&NamedError) + Send + 'static) -> AxumListener<L> {
        self.on_error = Box::new(hook);
        self
    }

    /// Lets handlers take the peer of their connection by axum's `ConnectInfo`, for a service that
    /// `into_make_service_with_connect_info` makes: `ConnectInfo<SocketAddr>` for TCP, and for TLS over TCP.
    ///
    /// It is axum's `tap_io` with a closure that does nothing: axum has this `ConnectInfo` for its own types only, and
    /// [`TapIo`] is one.
    pub fn with_connect_info(self) -> TapIo<AxumListener<L>, fn(&mut AxumStream<L>)> {
        self.tap_io(|_| {})
    }
}

impl<L> axum::serve::Listener for AxumListener<L>
where
    L: Listener,
    L::Io: AsyncRead + AsyncWrite,
{
    type Io = AxumStream<L>;
    type Addr = L::Peer;

    /// Cancel safe, if the listener's `poll_accept` is: a connection that has not been returned is still in the queue of
    /// the system.
    async fn accept(&mut self) -> (AxumStream<L>, L::Peer) {
        loop {
            // A listener of others may have an error for ever.
            consume_budget().await;
            match named(poll_fn(|cx| self.inner.poll_accept(cx))).await {
                Ok((handshake, peer)) => return (AxumStream::new(handshake), peer),
                // The listener makes the next accept wait.
                Err(error) => (self.on_error)(&error),
            }
        }
    }

    fn local_addr(&self) -> io::Result<L::Peer> {
        self.inner.local_addr()
    }
}

impl<L: fmt::Debug> fmt::Debug for AxumListener<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AxumListener").field("inner", &self.inner).finish_non_exhaustive()
    }
}
