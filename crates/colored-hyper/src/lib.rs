//! HTTP on the `colored` runtime: hyper 1, and libraries on top of it, such as axum and tonic.
//!
//! | | |
//! |---|---|
//! | [`serve`](crate::serve()), [`serve_with`] | a server: HTTP/1 and HTTP/2, parallel connections, graceful shutdown |
//! | [`client`](crate::client()) | a client with a pool of connections |
//! | [`tower`] | adapts a tower service, such as an axum `Router`, to [`serve`](crate::serve()) |
//! | [`Listener`] | the source of connections: TCP, Unix sockets, or a listener of your own, as for TLS |
//! | [`into_io`] | the socket of an upgraded connection, for web sockets and other protocols |
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
//! The colors of requests decide which of them may overlap: see [`Coloring`]. By default each
//! connection has a color of its own, so connections run in parallel, and state of one connection needs
//! no lock.

mod client;
mod executor;
mod extension;
mod serve;
mod timer;
#[cfg(feature = "tls")]
pub mod tls;
#[cfg(feature = "websocket")]
pub mod websocket;

pub use self::client::{ClientStream, Connector, client, client_builder};
pub use self::executor::ColoredExecutor;
pub use self::extension::{WithExtension, with_extension};
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
