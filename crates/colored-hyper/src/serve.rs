//! Serving HTTP on a listener.

mod accept;
mod activity;
mod bodies;
mod coloring;
mod connection;
mod drain;
mod error;
mod flow;
mod guard;
mod idle;
mod listener;
mod noting;
mod preface;
mod stall;
mod upgrade;
mod version;

pub use self::accept::Serving;
pub use self::coloring::Coloring;
pub use self::error::{DrainTimeout, ServeError};
pub use self::guard::UpgradeGuard;
pub use self::listener::Listener;
#[cfg(unix)]
pub use self::listener::UnixPeer;
pub use self::upgrade::into_io;

use self::version::Version;
use crate::{ColoredExecutor, ColoredTimer};
use colored::time::Duration;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::Service;
use std::fmt;
use std::pin::Pin;

/// Serves every connection of `listener` with a clone of `service`, over HTTP/1 and HTTP/2. The first
/// bytes of a client decide which of the two it speaks.
///
/// `service` is a [`hyper::service::Service`]; [`tower`](crate::tower) makes one of an axum `Router`.
/// To know the peer of a connection, or to give each connection its own state, use [`serve_with`].
///
/// # Limits of time
///
/// No connection waits for the good will of its client: each phase has a limit that ends it without an answer. So a
/// server with the defaults is not held by clients that say nothing, or half of something; and a handler may take as long
/// as it likes. The last column names tests in the folder `tests/http` of the repository's package.
///
/// | phase | limit | default | what happens then | test |
/// |---|---|---|---|---|
/// | handshake of the listener, such as that of TLS | [`header_read_timeout`](Serve::header_read_timeout) | 30 s | error, closed | `silence::over_tls` |
/// | the first bytes: HTTP/1, or half of HTTP/2's preface | [`header_read_timeout`](Serve::header_read_timeout) | 30 s | error, closed | `silence::over_http1`, `silence::over_http2` |
/// | headers of an HTTP/1 request | [`header_read_timeout`](Serve::header_read_timeout) | 30 s | error, closed | `silence::over_http1` |
/// | HTTP/1, between two requests | [`header_read_timeout`](Serve::header_read_timeout) | 30 s | closed | `silence::over_http1` |
/// | HTTP/2 without a request: no SETTINGS, half a frame, half the headers, idle | [`http2_idle_timeout`](Serve::http2_idle_timeout) | 3 min | GOAWAY | `silence::over_http2` |
/// | after GOAWAY, with no request and no response left | 5 s, or [`http2_idle_timeout`](Serve::http2_idle_timeout) if shorter | 5 s | closed | `silence::over_http2`, `silence::a_shutdown_does_not_wait_for_silent_clients` |
/// | body of a request, which the handler reads | [`body_read_timeout`](Serve::body_read_timeout) | 60 s | error, closed (HTTP/1: after the response) | `silence::over_http1`, `silence::over_http2` |
/// | response, over a full socket | [`write_timeout`](Serve::write_timeout) | 30 s | error, closed | `limits::a_client_that_does_not_read_is_disconnected` |
/// | response of HTTP/2 for which the client gives no room | [`write_timeout`](Serve::write_timeout) | 30 s | the stream is reset | `silence::a_response_without_room_is_reset_and_others_go_on` |
/// | closing, such as TLS's notice of the end | [`write_timeout`](Serve::write_timeout) | 30 s | closed; nothing waits for the notice of the client | `silence::over_tls` |
/// | graceful shutdown, with requests that run | [`drain_timeout`](Serve::drain_timeout) | 30 s | closed | `drain::the_rest_is_cut_off_when_the_time_is_over` |
/// | request for an upgrade, and the answer | as for HTTP/1 | | | `silence::on_a_websocket` |
/// | WebSocket on which the client sends nothing | `WebSocket::set_idle_timeout` | 100 s | ping, then an error of `recv` | `silence::on_a_websocket` |
/// | WebSocket that the server or the session closes | 5 s | 5 s | closed | `websocket::a_close_frame_of_the_session_is_answered_in_time_or_not_at_all`, unit tests of `websocket::quiet` |
/// | other protocols after an upgrade | the handler's, but for [`write_timeout`](Serve::write_timeout) | | | |
/// | what the handler waits for | the handler's | | | |
///
/// Where a limit is of the time in which a client sends or takes nothing, a client that is slow and never stops is not cut
/// off: the tests in `slow`.
///
/// # Limits of memory
///
/// What a client can make the server keep, for each connection, whatever the client sends. The test
/// `bounds::nothing_that_a_client_sends_is_kept_without_a_bound` sends far more of each.
///
/// | what grows | bound | set by |
/// |---|---|---|
/// | the head of an HTTP/1 request: its line, names, values, all fields | 400 KiB, 100 fields | `max_buf_size`, `max_headers` of [`http1`](Serve::http1) |
/// | the size of a chunk, what is around it | nothing is kept | |
/// | extensions of chunks, of a body | 16 KiB | |
/// | fields behind a chunked body | 16 KiB, 100 fields | `max_header_size`, `max_headers` of [`http1`](Serve::http1) |
/// | a body that the handler does not read, requests behind another one | 400 KiB | `max_buf_size` of [`http1`](Serve::http1) |
/// | the fields of an HTTP/2 request | 16 KiB | `max_header_list_size` of [`http2`](Serve::http2) |
/// | requests of HTTP/2 at a time | 200 | `max_concurrent_streams` of [`http2`](Serve::http2) |
/// | bodies over HTTP/2 that the handlers do not read | 1 MiB together | `initial_connection_window_size` of [`http2`](Serve::http2) |
/// | answers to pings, settings and resets of HTTP/2 | hyper reads no more, or closes | |
/// | the framing that these limits follow | 5 KiB over HTTP/1, 200 KiB over HTTP/2 | |
/// | a response that the client does not read | 400 KiB of each, and one chunk of its body | `max_buf_size` of [`http1`](Serve::http1), `max_send_buf_size` of [`http2`](Serve::http2) |
/// | a message of the TLS handshake | 64 KiB | |
/// | a record of TLS | 16 KiB | |
/// | a message on a WebSocket | 64 MiB, a frame 16 MiB | `websocket::upgrade_with` |
/// | answers to pings on a WebSocket | 64 KiB, then nothing is read | |
/// | what a session sends on a WebSocket | 128 KiB, and one message | `websocket::upgrade_with` |
///
/// The number of connections is [`max_connections`](Serve::max_connections).
///
/// # What one might not expect of hyper
///
/// | case | what happens |
/// |---|---|
/// | a client that sends several HTTP/1 requests at once, and ends its direction | hyper takes the end for a client that has gone: all requests but the last are answered, and the last one only if its handler never waits. `half_close(true)` of [`http1`](Serve::http1) answers it, and then handlers are not dropped when their client goes. Test: `limits::of_the_requests_before_the_end_the_last_is_dropped` |
/// | a shutdown when half of a request has come | The server waits for the rest of the first request of an HTTP/1 connection, up to its limits. Half of a later one is dropped. Test: `drain::half_of_a_first_request_is_waited_for_and_half_of_another_is_not` |
/// | a handler over HTTP/2 that does not read its body | The window of the connection, 1 MiB, is for the bodies of all requests: while one handler leaves as much unread, no other body goes on. Read the body, or drop it, or give the connection a larger window than a stream. Test: `limits::an_unread_body_holds_those_of_other_streams` |
///
/// # Tasks
///
/// Nothing happens before the [`Serve`] is awaited. Then a task of its own accepts connections, so a task that keeps the
/// caller's color busy does not stop the server.
pub fn serve<L, S>(listener: L, service: S) -> Serve<L, impl FnMut(L::Peer) -> S + Send + 'static>
where
    L: Listener,
    S: HttpService + Clone + Send + 'static,
{
    serve_with(listener, move |_| service.clone())
}

/// As [`serve`](crate::serve()), but `make` makes the service of each connection from the address of
/// its peer. `make` runs under the color of the accept loop, which is one of its own, so that nothing else keeps
/// connections waiting; with [`Coloring::Default`] it is the default color.
pub fn serve_with<L, M, S>(listener: L, make: M) -> Serve<L, M>
where
    L: Listener,
    M: FnMut(L::Peer) -> S + Send + 'static,
    S: HttpService,
{
    let mut http1 = http1::Builder::new();
    http1.timer(ColoredTimer).header_read_timeout(HEADER_READ_TIMEOUT);
    let settings = Settings {
        version: None,
        coloring: Coloring::Connection,
        max_connections: usize::MAX,
        header_read_timeout: Some(HEADER_READ_TIMEOUT),
        body_read_timeout: Some(BODY_READ_TIMEOUT),
        write_timeout: Some(WRITE_TIMEOUT),
        http2_idle_timeout: Some(HTTP2_IDLE_TIMEOUT),
        drain_timeout: Some(DRAIN_TIMEOUT),
        on_error: Box::new(|_| {}),
        http1,
        set_http2: Vec::new(),
    };
    Serve { listener, make, signal: Box::pin(std::future::pending()), settings }
}

/// A service of hyper that takes the requests of a server. It exists for its error message: every such service has it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no service of hyper",
    label = "this cannot serve requests",
    note = "an axum `Router`, like every service of tower, becomes one by `colored_hyper::tower(..)`: \
            `serve(listener, tower(router))`",
    note = "`into_make_service` is for `axum::serve`: leave it out; and in place of \
            `into_make_service_with_connect_info` write \
            `serve_with(listener, move |peer| with_extension(tower(router.clone()), ConnectInfo(peer)))`"
)]
pub trait HttpService {}

#[diagnostic::do_not_recommend]
impl<S: Service<Request<Incoming>>> HttpService for S {}

/// hyper's own default.
const HEADER_READ_TIMEOUT: Duration = Duration::from_secs(30);

/// A guess: other servers wait for one minute.
const BODY_READ_TIMEOUT: Duration = Duration::from_secs(60);

/// As long as for a client that sends nothing.
const WRITE_TIMEOUT: Duration = HEADER_READ_TIMEOUT;

/// A guess: browsers and pools keep idle connections for one to five minutes.
const HTTP2_IDLE_TIMEOUT: Duration = Duration::from_secs(180);

/// The time that supervisors commonly grant before they kill a process.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);

/// As good as for ever, and yet no sum with the present time overflows.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// A limit that no clock is too small for.
pub(crate) fn limit(timeout: impl Into<Option<Duration>>) -> Option<Duration> {
    timeout.into().map(|limit| limit.min(LONGEST))
}

/// The settings of a server; `.await` runs it. Made by [`serve`](crate::serve()) and [`serve_with`].
///
/// The server runs until the signal of [`with_graceful_shutdown`](Serve::with_graceful_shutdown), or
/// for ever. To spawn it, use [`into_future`](IntoFuture::into_future).
///
/// No error of a connection or of the listener ends the server; [`on_error`](Serve::on_error) reports
/// them. Dropping the future stops accepting; connections go on until they end by themselves.
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
    body_read_timeout: Option<Duration>,
    write_timeout: Option<Duration>,
    http2_idle_timeout: Option<Duration>,
    drain_timeout: Option<Duration>,
    on_error: OnError<P>,
    http1: http1::Builder,
    /// Kept for when the coloring, and with it the executor, is known.
    set_http2: Vec<SetHttp2>,
}

impl<L: Listener, M> Serve<L, M> {
    /// Speaks only HTTP/1. This saves each connection the check of its first bytes.
    pub fn http1_only(mut self) -> Self {
        self.settings.version = Some(Version::Http1);
        self
    }

    /// Speaks only HTTP/2, as clients of gRPC do.
    pub fn http2_only(mut self) -> Self {
        self.settings.version = Some(Version::Http2);
        self
    }

    /// Decides which requests may overlap. Default: [`Coloring::Connection`].
    pub fn coloring(mut self, coloring: Coloring<L::Peer>) -> Self {
        self.settings.coloring = coloring;
        self
    }

    /// Limits the number of open connections, at least 1; further connections wait in the queue of the
    /// system. Default: only the system's descriptors limit the number.
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

    /// Limits how long a client may take to send the first bytes of a connection, including its
    /// handshake, and the headers of each HTTP/1 request. Between two requests it limits how long an
    /// idle connection stays open, and closing an idle connection is no error. `None` sets no limit,
    /// which lets a few slow clients hold all connections. Default: 30 seconds.
    ///
    /// The limit does not apply to an idle HTTP/2 connection that has begun, which
    /// [`http2_idle_timeout`](Serve::http2_idle_timeout) limits, nor to a body, which
    /// [`body_read_timeout`](Serve::body_read_timeout) limits.
    pub fn header_read_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        let timeout = limit(timeout);
        self.settings.header_read_timeout = timeout;
        self.settings.http1.header_read_timeout(timeout);
        self
    }

    /// Limits how long a client may send nothing of the body of a request that it has begun, while the server waits for it.
    /// `None` sets no limit. Default: 60 seconds.
    ///
    /// Over HTTP/1 the handler's read of the body then fails with an error of kind
    /// [`TimedOut`](std::io::ErrorKind::TimedOut), and the connection ends after the response. Over HTTP/2 the
    /// connection ends with all of its requests, and [`on_error`](Serve::on_error) reports it.
    ///
    /// The time begins again with each byte, and the server notices its end within twice the limit. A part of a record of TLS
    /// counts, where the system tells that it has come: on Linux and Android. A body that the handler
    /// does not read has no limit, because then the client does not make it wait; neither has one of HTTP/2 whose
    /// response has begun, because both sides may talk for as long as they like. A handler that begins its response
    /// before the end of the request, as calls of gRPC with two streams do, limits its reads itself. A call of gRPC whose
    /// client sends a stream and is silent for minutes before the answer begins needs a longer limit.
    pub fn body_read_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.settings.body_read_timeout = limit(timeout);
        self
    }

    /// Limits how long an HTTP/2 connection stays open on which no request begins. The server then tells the client to send
    /// no more requests, lets running ones finish, and closes the connection; that is no error, and the client opens
    /// another connection when it needs one. `None` sets no limit. Default: 3 minutes.
    ///
    /// The server does not wait for a client that does not understand: 5 seconds after the last request has ended, or after
    /// this limit, if that is shorter, it closes the connection. While the rest of a response is on its way,
    /// [`write_timeout`](Serve::write_timeout) is the limit.
    ///
    /// A client that is gone without a word holds requests open whose handlers wait for something else: see
    /// `keep_alive_interval` under [`http2`](Serve::http2).
    pub fn http2_idle_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.settings.http2_idle_timeout = limit(timeout);
        self
    }

    /// Limits how long a client may take nothing of what the server sends, so that clients that do not read hold no
    /// connections. The connection then ends, and [`on_error`](Serve::on_error) reports it. `None` sets no limit. Default:
    /// 30 seconds.
    ///
    /// The time begins when the buffers of the system are full, and begins again with each byte that the client's system
    /// acknowledges: a client that reads slowly, but reads, is not cut off. The server notices the end of the time within
    /// twice the limit. What a client reads from the buffers of its own system shows when these have room for a packet, which
    /// on the loopback interface has 64 KiB. The limit also applies to connections that were upgraded, until [`into_io`]
    /// takes the socket out.
    ///
    /// Linux and Android tell what a client has acknowledged; over a Unix socket, what it has read, in pieces of up to 100
    /// KiB. Elsewhere, and for an [`Io`](crate::Listener::Io) of your own without
    /// [`progress`](crate::Listener::progress), the time begins again when the system reports room.
    ///
    /// If the client of an HTTP/2 connection gives no room for one response, but reads others, only the stream of that
    /// response is reset, and that is no error of the connection. A client has the time of the limit to give room, from when
    /// it has taken all that was sent before.
    pub fn write_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.settings.write_timeout = limit(timeout);
        self
    }

    /// Stops when `signal` is ready. The server then accepts no more connections, closes idle ones,
    /// lets running requests finish, tells HTTP/2 clients to send no more requests, and returns when
    /// all connections are closed.
    ///
    /// The server waits for a connection that was upgraded to another protocol only while there is an [`UpgradeGuard`] for
    /// it, as there is for each WebSocket of the module `websocket`.
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

    /// Limits how long a graceful shutdown waits for running requests. Afterwards the server cuts their
    /// connections off and ends with [`DrainTimeout`]. `None` sets no limit. Default: 30 seconds.
    pub fn drain_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.settings.drain_timeout = limit(timeout);
        self
    }

    /// Calls `hook` with every error of a connection and of accepting, for a log or a counter; the
    /// server goes on. `hook` runs under the color of the connection or of the accept loop, so it may
    /// run several times at once. By default the server ignores errors.
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
