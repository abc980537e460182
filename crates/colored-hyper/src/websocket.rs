//! WebSocket (RFC 6455) on [`serve`](crate::serve()), by tungstenite. Needs the feature `websocket`.
//!
//! [`upgrade`] answers a request that asks for a WebSocket, and runs a session under a color:
//!
//! ```no_run
//! use axum::Router;
//! use axum::extract::Request;
//! use axum::response::Response;
//! use axum::routing::get;
//! use colored::Color;
//! use colored_hyper::websocket::{self, WebSocket};
//!
//! async fn echo(request: Request) -> Response {
//!     websocket::upgrade(request, Color::unique(), session)
//! }
//!
//! async fn session(mut socket: WebSocket) {
//!     while let Some(Ok(message)) = socket.recv().await {
//!         if message.is_text() || message.is_binary() {
//!             if socket.send(message).await.is_err() {
//!                 return;
//!             }
//!         }
//!     }
//! }
//!
//! # async fn example(listener: colored::net::TcpListener) -> std::io::Result<()> {
//! let router: Router = Router::new().route("/echo", get(echo));
//! colored_hyper::serve(listener, colored_hyper::tower(router)).await?;
//! # Ok(())
//! # }
//! ```
//!
//! axum's own `WebSocketUpgrade` spawns by `tokio::spawn`, which panics without a runtime of tokio, and its tasks have no
//! color; this function needs neither. It takes any request and makes any response whose body is made of a `String`, so
//! it also serves services of hyper.
//!
//! **Browsers** send an `Origin` header and let any page open a WebSocket to any server, with the cookies of the user: a
//! server that knows its users by cookies must check the header before the upgrade.
//!
//! **HTTP/2.** A WebSocket begins with HTTP/1.1. Over TLS browsers choose that for a WebSocket by themselves.
//!
//! **A client** needs nothing of this crate: `tokio_tungstenite::client_async` works on our sockets.

mod io;
mod quiet;
mod refusal;
mod socket;
mod split;

pub use self::socket::WebSocket;
pub use self::split::{Receiver, Sender};
pub use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
pub use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
pub use tokio_tungstenite::tungstenite::{Bytes, Error, Message, Utf8Bytes};

use self::io::Io;
use crate::UpgradeGuard;
use colored::sync::oneshot;
use colored::{Color, spawn_colored};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper::{Request, Response, StatusCode};
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::Role;

/// Answers a request for a WebSocket, and spawns a task under `color` that runs `session` on it when the client has the
/// answer.
///
/// The response has the status 101. A request that is no request for a WebSocket gets a status from 400 to 499, and a
/// text that says what is missing; `session` is then dropped.
///
/// In a [graceful shutdown](crate::Serve::with_graceful_shutdown) the server closes the WebSocket: the client gets a close
/// frame with the code 1001, "going away", [`WebSocket::recv`] returns the messages that the client has sent before its
/// answer, and then `None`; after 5 seconds without an answer also. The server waits for the session, and drops it when
/// [`drain_timeout`](crate::Serve::drain_timeout) is over.
///
/// A client that does not read is cut off by [`write_timeout`](crate::Serve::write_timeout): the session gets an error
/// when it sends. While 64 KiB of answers to its pings wait for such a client, nothing is received, and the session gets
/// that error when it receives. A client that sends nothing is asked by a ping whether it is there, and cut off if it does not answer:
/// see [`WebSocket::set_idle_timeout`].
///
/// A subprotocol is the caller's choice: read the header `Sec-WebSocket-Protocol` of the request, and set it in the
/// response.
///
/// # Panics
///
/// Outside a runtime.
pub fn upgrade<B, R, F, S>(request: Request<B>, color: Color, session: F) -> Response<R>
where
    R: From<String>,
    F: FnOnce(WebSocket) -> S + Send + 'static,
    S: Future<Output = ()> + Send + 'static,
{
    upgrade_with(request, color, WebSocketConfig::default(), session)
}

/// As [`upgrade`], with limits of tungstenite other than its defaults, such as 64 MiB for a message.
///
/// # Panics
///
/// Outside a runtime, and if the limits exclude each other, as [`WebSocketConfig`] says.
pub fn upgrade_with<B, R, F, S>(
    mut request: Request<B>,
    color: Color,
    config: WebSocketConfig,
    session: F,
) -> Response<R>
where
    R: From<String>,
    F: FnOnce(WebSocket) -> S + Send + 'static,
    S: Future<Output = ()> + Send + 'static,
{
    let answer = refusal::answer(&request);
    if answer.status() == StatusCode::SWITCHING_PROTOCOLS {
        let guard = UpgradeGuard::of(&request);
        let upgrade = hyper::upgrade::on(&mut request);
        drop(spawn_colored(color, begin(upgrade, guard, config, session)));
    }
    answer.map(R::from)
}

/// Waits for the connection, and runs the session.
async fn begin<F, S>(
    upgrade: OnUpgrade,
    guard: Option<UpgradeGuard>,
    config: WebSocketConfig,
    session: F,
) where
    F: FnOnce(WebSocket) -> S,
    S: Future<Output = ()>,
{
    // An error means that the client has not waited for the answer.
    let Ok(upgraded) = upgrade.await else { return };
    let (stop, stopped) = oneshot::channel();
    let socket = WebSocket::new(open(upgraded, config).await, stopped);
    guarded(guard, stop, session(socket)).await;
}

async fn open(upgraded: Upgraded, config: WebSocketConfig) -> WebSocketStream<Io> {
    WebSocketStream::from_raw_socket(Io::new(upgraded), Role::Server, Some(config)).await
}

/// Runs the session until it ends or is cut off; drops `stop` when the server shuts down.
async fn guarded(
    mut guard: Option<UpgradeGuard>,
    stop: oneshot::Sender<()>,
    session: impl Future<Output = ()>,
) {
    let mut session = pin!(session);
    let mut stop = Some(stop);
    poll_fn(|cx| {
        if let Some(guard) = &mut guard {
            if guard.poll_cut(cx).is_ready() {
                return Poll::Ready(());
            }
            if guard.poll_shutdown(cx).is_ready() {
                stop = None;
            }
        }
        session.as_mut().poll(cx)
    })
    .await;
}
