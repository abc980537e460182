//! [`Listener`]: where connections come from.

use colored::net::{TcpListener, TcpStream};
use hyper::rt::{Read, Write};
use std::fmt::Debug;
use std::future::{Ready, ready};
use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

/// Where a server gets its connections from: a [`TcpListener`], a `UnixListener` where there are
/// Unix sockets, or anything else that has this trait, such as a listener for TLS.
///
/// ```
/// use colored::net::{TcpListener, TcpStream};
/// use colored_hyper::Listener;
/// use std::io::{self, Error, ErrorKind};
/// use std::net::SocketAddr;
/// use std::pin::Pin;
/// use std::task::{Context, Poll};
///
/// /// For clients behind a proxy that says a word first, as those do that tell who the client is.
/// struct Proxied(TcpListener);
///
/// impl Listener for Proxied {
///     type Io = TcpStream;
///     type Peer = SocketAddr;
///     type Handshake = Pin<Box<dyn Future<Output = io::Result<TcpStream>> + Send>>;
///
///     fn poll_accept(
///         &mut self,
///         cx: &mut Context<'_>,
///     ) -> Poll<io::Result<(Self::Handshake, SocketAddr)>> {
///         self.0.poll_accept(cx).map_ok(|(stream, peer)| (Box::pin(greet(stream)) as _, peer))
///     }
/// }
///
/// async fn greet(mut stream: TcpStream) -> io::Result<TcpStream> {
///     let mut word = [0; 5];
///     colored::io::AsyncReadExt::read_exact(&mut stream, &mut word).await?;
///     match &word {
///         b"PROXY" => Ok(stream),
///         _ => Err(Error::new(ErrorKind::InvalidData, "this is not the proxy")),
///     }
/// }
/// # #[allow(dead_code)]
/// # async fn example(listener: TcpListener, router: axum::Router) -> io::Result<()> {
/// colored_hyper::serve(Proxied(listener), colored_hyper::tower(router)).await?;
/// # Ok(())
/// # }
/// ```
///
/// A library that speaks tokio's traits, such as tokio-rustls, takes our sockets as they are, and
/// `hyper_util::rt::TokioIo` makes an [`Io`](Listener::Io) of what it gives.
pub trait Listener: Send + 'static {
    /// A connection that is ready for HTTP.
    type Io: Read + Write + Send + Unpin + 'static;

    /// Who a connection comes from. In errors it is shown as [`Debug`] tells.
    type Peer: Clone + Debug + Send + 'static;

    /// What makes a connection ready for HTTP, such as a handshake of TLS; [`Ready`] if it is.
    ///
    /// It runs in the task of its connection, under the color of that, so a slow client keeps no
    /// other one waiting. Its time counts against
    /// [`header_read_timeout`](crate::Serve::header_read_timeout), and a shutdown drops it.
    type Handshake: Future<Output = io::Result<Self::Io>> + Send + 'static;

    /// Accepts a connection; the task of `cx` is woken when there is one.
    ///
    /// # Errors
    ///
    /// The server shows them by [`on_error`](crate::Serve::on_error) and asks again at once, so the
    /// listener itself must wait after one that lasts, as ours do.
    fn poll_accept(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<(Self::Handshake, Self::Peer)>>;
}

/// Connections have `TCP_NODELAY` set.
impl Listener for TcpListener {
    type Io = TcpStream;
    type Peer = SocketAddr;
    type Handshake = Ready<io::Result<TcpStream>>;

    fn poll_accept(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<(Self::Handshake, SocketAddr)>> {
        TcpListener::poll_accept(self, cx).map_ok(|(stream, peer)| {
            // An error means that the connection is broken, which shows when it is read.
            let _ = stream.set_nodelay(true);
            (ready(Ok(stream)), peer)
        })
    }
}

/// Peers rarely have a name: see `std::os::unix::net::SocketAddr`.
#[cfg(unix)]
impl Listener for colored::net::UnixListener {
    type Io = colored::net::UnixStream;
    type Peer = std::os::unix::net::SocketAddr;
    type Handshake = Ready<io::Result<Self::Io>>;

    fn poll_accept(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<(Self::Handshake, Self::Peer)>> {
        colored::net::UnixListener::poll_accept(self, cx)
            .map_ok(|(stream, peer)| (ready(Ok(stream)), peer))
    }
}
