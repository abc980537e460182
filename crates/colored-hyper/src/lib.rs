//! HTTP on the `colored` runtime: hyper 1, and libraries on top of it, such as axum and tonic.
//!
//! | | |
//! |---|---|
//! | [`serve`](crate::serve()), [`serve_with`] | a server: HTTP/1 and HTTP/2, parallel connections, graceful shutdown |
//! | [`client`](crate::client()) | a client with a pool of connections |
//! | [`tower`] | adapts a tower service, such as an axum `Router`, to [`serve`](crate::serve()) |
//! | [`with_extension`] | a value for each request of a connection, such as the address of the client for axum's `ConnectInfo` |
//! | `UnixPeer` | the client of a Unix socket: its address, its user, its process |
//! | [`Listener`] | the source of connections: TCP, Unix sockets, TLS, or a listener of your own |
//! | `AxumListener` | such a listener for `axum::serve`, whose connections have no color; with the feature `axum` |
//! | module `tls` | TLS by rustls: a listener, and a client for `https`; with the feature `tls` |
//! | module `websocket` | WebSockets, under the colors that you name; with the feature `websocket` |
//! | [`into_io`], [`UpgradeGuard`] | the socket of an upgraded connection, for other protocols, and its part in a graceful shutdown |
//! | [`ColoredExecutor`], [`ColoredTimer`] | the runtime interfaces of hyper, for your own hyper builders |
//!
//! ```no_run
//! use colored_hyper::serve;
//! use hyper::body::Incoming;
//! use hyper::service::service_fn;
//! use hyper::{Request, Response};
//!
//! #[colored::main]
//! async fn main() -> std::io::Result<()> {
//!     let listener = colored::net::TcpListener::bind("127.0.0.1:8080").await?;
//!     let hello = service_fn(async |_: Request<Incoming>| {
//!         Ok::<_, hyper::Error>(Response::new(String::from("Hello, World!")))
//!     });
//!     serve(listener, hello).await?;
//!     Ok(())
//! }
//! ```
//!
//! # Colors
//!
//! The colors of requests decide which of them may overlap: see [`Coloring`]. By default each
//! connection has a color of its own, so connections run in parallel, and state of one connection needs
//! no lock.
//!
//! # Slow clients
//!
//! A server waits for no client without a limit: [`serve`](crate::serve()) has the table of all phases of a connection. The
//! limits that matter most, by timers of the runtime. It also has the table of what a client can make the server keep.
//!
//! | a client that | is cut off after | set by |
//! |---|---|---|
//! | does not finish its TLS handshake, or sends nothing | 30 seconds | [`Serve::header_read_timeout`] |
//! | sends the headers of an HTTP/1 request too slowly | 30 seconds | [`Serve::header_read_timeout`] |
//! | keeps an HTTP/1 connection open between two requests | 30 seconds | [`Serve::header_read_timeout`] |
//! | keeps an HTTP/2 connection open without a request, and answers or does not | 3 minutes | [`Serve::http2_idle_timeout`] |
//! | sends nothing of the body of a request that a handler waits for | 60 seconds | [`Serve::body_read_timeout`] |
//! | reads nothing of what the server sends | 30 seconds | [`Serve::write_timeout`] |
//! | sends nothing on a WebSocket, not even answers to pings | 100 seconds | `WebSocket::set_idle_timeout` |
//! | is busy when the server shuts down | 30 seconds | [`Serve::drain_timeout`] |
//! | is gone without a word while a handler works | never by default | `keep_alive_interval` of [`Serve::http2`] |
//! | takes a response slowly, and never stops | never | |
//! | sends a body byte by byte | never: a handler knows how long a body may take | [`colored::time::timeout`] in the handler |
//!
//! # axum
//!
//! [`tower`] makes a service of a `Router`, and [`serve`](crate::serve()) runs it. Two things of axum look for tokio's runtime,
//! and panic without it, when a request comes: the extractor `WebSocketUpgrade`, which calls `tokio::spawn`, and
//! `Sse::keep_alive`, which sets a timer of tokio. In place of the first use the module `websocket`. In place of the second
//! let the stream of events make a comment when nothing else has come for a while, by [`colored::time::timeout`] around the
//! source of the events. Both also work under `#[colored::main(tokio)]`, with the feature `tokio-context` of the runtime.
//! The rest of axum needs no runtime. Layers of tower and tower-http may: `examples/libraries/GUIDE.md` of the repository lists
//! them.
//!
//! `axum::serve` works as well, as a first step from tokio: with the feature `axum`, `AxumListener` makes one of its listeners
//! of ours, TLS included. But `axum::serve` spawns each connection by `tokio::spawn`: its requests run on the one thread of a
//! tokio runtime, have no color, and none of the limits above applies. The documentation of `AxumListener` lists what differs.
//!
//! # Features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `axum` | no | `AxumListener`, for `axum::serve` under `#[colored::main(tokio)]` |
//! | `tls` | no | the module `tls`: rustls with the cryptography of `ring`, which compiles C, and the roots of the system |
//! | `websocket` | no | the module `websocket`: tungstenite |

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "axum")]
mod axum_listener;
mod client;
mod executor;
mod extension;
mod serve;
mod timer;
#[cfg(feature = "tls")]
pub mod tls;
#[cfg(feature = "websocket")]
pub mod websocket;

#[cfg(feature = "axum")]
pub use self::axum_listener::{AxumListener, AxumStream};
pub use self::client::{ClientStream, Connector, client, client_builder};
pub use self::executor::ColoredExecutor;
pub use self::extension::{WithExtension, with_extension};
#[cfg(unix)]
pub use self::serve::UnixPeer;
pub use self::serve::{
    Coloring, DrainTimeout, HttpService, Listener, Serve, ServeError, Serving, UpgradeGuard,
    into_io, serve, serve_with,
};
pub use self::timer::ColoredTimer;

use hyper_util::service::TowerToHyperService;

/// Adapts a tower service to [`serve`](crate::serve()). Each request clones the service, as tower's
/// services expect; for an axum `Router` a clone and its drop increment and decrement one count.
///
/// ```no_run
/// # async fn example(listener: colored::net::TcpListener) -> std::io::Result<()> {
/// use axum::{Router, routing::get};
///
/// let router: Router = Router::new().route("/", get(async || "Hello, World!"));
/// colored_hyper::serve(listener, colored_hyper::tower(router)).await?;
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn tower<S>(service: S) -> TowerToHyperService<S> {
    TowerToHyperService::new(service)
}
