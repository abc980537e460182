//! [`Listener`]: connections of clients that speak TLS.

use super::handshake::failed;
use super::{ServerConfig, Stream};
use colored::io::{AsyncRead, AsyncWrite};
use colored::net::{Progress, TcpListener};
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio_rustls::TlsAcceptor;

/// A listener whose connections speak TLS, for [`serve`](crate::serve()).
///
/// The handshake runs in the task of its connection, under the color of the connection, so a client that is slow or
/// speaks no TLS delays no other client. Its time counts against
/// [`header_read_timeout`](crate::Serve::header_read_timeout). A failed handshake ends its connection, and
/// [`on_error`](crate::Serve::on_error) reports it.
///
/// `L` is the listener below: TCP, a Unix socket, or a listener of your own that makes a handshake before that of TLS.
pub struct Listener<L = TcpListener> {
    inner: L,
    config: Arc<ServerConfig>,
}

impl<L> Listener<L> {
    /// Speaks TLS on the connections of `inner`.
    ///
    /// If `config` names no protocols for ALPN, the server offers those that it speaks: HTTP/2 and HTTP/1.1, or the one of
    /// [`http1_only`](crate::Serve::http1_only) or [`http2_only`](crate::Serve::http2_only).
    pub fn new(inner: L, config: impl Into<Arc<ServerConfig>>) -> Listener<L> {
        Listener { inner, config: config.into() }
    }
}

impl<L> crate::Listener for Listener<L>
where
    L: crate::Listener,
    L::Io: AsyncRead + AsyncWrite,
{
    type Io = Stream<L::Io>;
    type Peer = L::Peer;
    type Handshake = Pin<Box<dyn Future<Output = io::Result<Self::Io>> + Send>>;

    fn poll_accept(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<(Self::Handshake, Self::Peer)>> {
        self.inner.poll_accept(cx).map_ok(|(below, peer)| {
            let acceptor = TlsAcceptor::from(Arc::clone(&self.config));
            let handshake = async move {
                let accepted = acceptor.accept(below.await?).await;
                accepted.map(Stream::new).map_err(|error| failed("the client", error))
            };
            (Box::pin(handshake) as Self::Handshake, peer)
        })
    }

    fn offer(&mut self, protocols: &[&[u8]]) {
        if self.config.alpn_protocols.is_empty() {
            let config = Arc::make_mut(&mut self.config);
            config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        }
    }

    fn progress(io: &Self::Io) -> Option<Progress> {
        L::progress(io.get_ref().0)
    }

    fn local_addr(&self) -> io::Result<Self::Peer> {
        self.inner.local_addr()
    }
}

impl<L: fmt::Debug> fmt::Debug for Listener<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").field("inner", &self.inner).finish_non_exhaustive()
    }
}
