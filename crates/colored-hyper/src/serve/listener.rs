//! [`Listener`]: the source of connections.

#[cfg(unix)]
mod unix;

#[cfg(unix)]
pub use self::unix::UnixPeer;

#[cfg(unix)]
use colored::net::UnixStream;
use colored::net::{Progress, TcpListener, TcpStream};
use hyper::rt::{Read, Write};
use std::any::Any;
use std::fmt::Debug;
use std::future::{Ready, ready};
use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

/// The source of a server's connections: a [`TcpListener`], a `UnixListener` on platforms with Unix
/// sockets, or another type that implements this trait, such as a listener for TLS.
///
/// ```
/// use colored::net::{TcpListener, TcpStream};
/// use colored_hyper::Listener;
/// use std::io::{self, Error, ErrorKind};
/// use std::net::SocketAddr;
/// use std::pin::Pin;
/// use std::task::{Context, Poll};
///
/// /// For clients behind a proxy that sends a word first, as proxies do that name the client.
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
/// The module `tls`, which needs the feature `tls`, has a listener for TLS. A library that uses tokio's traits accepts our
/// sockets, and `hyper_util::rt::TokioIo` turns its streams into an [`Io`](Listener::Io).
pub trait Listener: Send + 'static {
    /// A connection that is ready for HTTP.
    type Io: Read + Write + Send + Unpin + 'static;

    /// The peer of a connection. Errors show it by [`Debug`].
    type Peer: Clone + Debug + Send + 'static;

    /// The future that makes a connection ready for HTTP, such as a TLS handshake; [`Ready`] if there
    /// is none.
    ///
    /// The future runs in the task of its connection, under the color of the connection, so a slow
    /// client delays no other client. Its time counts against
    /// [`header_read_timeout`](crate::Serve::header_read_timeout), and a shutdown drops it.
    type Handshake: Future<Output = io::Result<Self::Io>> + Send + 'static;

    /// Accepts a connection; the task of `cx` is woken when there is one.
    ///
    /// # Errors
    ///
    /// The server reports them by [`on_error`](crate::Serve::on_error) and polls again at once, so the
    /// listener itself must wait after an error that persists, as our listeners do.
    fn poll_accept(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<(Self::Handshake, Self::Peer)>>;

    /// Tells the listener, before it accepts, which protocols the server speaks, by their names in ALPN and in the order
    /// of preference: `h2` and `http/1.1`. A listener whose handshake negotiates the protocol offers these.
    ///
    /// Does nothing by default.
    fn offer(&mut self, protocols: &[&[u8]]) {
        let _ = protocols;
    }

    /// How far the bytes of a connection have come, if the system tells. By this the limits of the server tell a client that
    /// is slow from one that does nothing: see [`write_timeout`](crate::Serve::write_timeout).
    ///
    /// By default that of [`TcpStream::progress`], or of `UnixStream`, if `Io` is one of the two, and `None` otherwise. A
    /// listener whose `Io` wraps another connection, as those of TLS do, asks that one.
    fn progress(io: &Self::Io) -> Option<Progress> {
        let io: &dyn Any = io;
        #[cfg(unix)]
        if let Some(stream) = io.downcast_ref::<UnixStream>() {
            return stream.progress().ok();
        }
        io.downcast_ref::<TcpStream>()?.progress().ok()
    }

    /// The address at which the listener accepts, in the type of its peers; for `axum::serve`, which can tell it.
    ///
    /// # Errors
    ///
    /// The system's. By default [`Unsupported`](io::ErrorKind::Unsupported).
    fn local_addr(&self) -> io::Result<Self::Peer> {
        let text = "this listener does not tell where it accepts: it has no `Listener::local_addr`";
        Err(io::Error::new(io::ErrorKind::Unsupported, text))
    }
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

    fn local_addr(&self) -> io::Result<SocketAddr> {
        TcpListener::local_addr(self)
    }
}
