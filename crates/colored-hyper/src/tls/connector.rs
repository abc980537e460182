//! Connections of a client over TLS.

use super::handshake::{explained, failed};
use super::stream::{Failed, fill};
use super::{ClientConfig, PROTOCOLS, client_config};
use crate::ColoredExecutor;
use crate::client::{Target, client_builder};
use colored::io::{AsyncWrite, NamedError, named};
use colored::net::TcpStream;
use colored::time::Duration;
use hyper::Uri;
use hyper::body::Body;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{Connected, Connection};
use std::fmt;
use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;
use tower_service::Service;

/// A client for `https` and `http` that trusts the roots of the system: as [`crate::client`](crate::client()), with a
/// [`Connector`] of this module and a [`client_config`].
///
/// # Errors
///
/// As [`client_config`].
pub fn client<B>() -> io::Result<Client<Connector, B>>
where
    B: Body + Send,
    B::Data: Send,
{
    let connector = Connector::new(client_config()?);
    Ok(client_builder(ColoredExecutor::unique()).build(connector))
}

/// Makes the connections of a client, with TLS for `https` and without for `http`. For
/// [`client_builder`].
///
/// The certificate of a server must be valid for the host in the address. HTTP/2 and HTTP/1.1 are offered by ALPN if the
/// configuration names no protocols.
#[derive(Clone)]
pub struct Connector {
    plain: crate::Connector,
    config: Arc<ClientConfig>,
}

impl Connector {
    /// A connector that gives up after 10 seconds, the look-up of the name and the handshake included.
    #[must_use]
    pub fn new(config: impl Into<Arc<ClientConfig>>) -> Connector {
        let mut config = config.into();
        if config.alpn_protocols.is_empty() {
            let names = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
            Arc::make_mut(&mut config).alpn_protocols = names;
        }
        Connector { plain: crate::Connector::new(), config }
    }

    /// The time limit for making a connection, as [`crate::Connector::connect_timeout`], with the handshake.
    #[must_use]
    pub fn connect_timeout(mut self, limit: impl Into<Option<Duration>>) -> Connector {
        self.plain = self.plain.connect_timeout(limit);
        self
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").field("plain", &self.plain).finish_non_exhaustive()
    }
}

impl Service<Uri> for Connector {
    type Response = ClientStream;
    type Error = NamedError;
    type Future = Pin<Box<dyn Future<Output = Result<ClientStream, NamedError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), NamedError>> {
        Poll::Ready(Ok(()))
    }

    /// # Errors
    ///
    /// When the address is neither `https` nor `http`, the connection or the handshake fails, the certificate is not
    /// valid for the host, or it all takes longer than the time limit. The error of a connection has the number of the
    /// system, if there is one; of a handshake, a source of the error has it.
    fn call(&mut self, uri: Uri) -> Self::Future {
        let Connector { plain, config } = self.clone();
        Box::pin(named(async move {
            let target = Target::of(&uri, &["https", "http"])?;
            let connecting = async {
                let stream = target.connect().await?;
                match uri.scheme_str() {
                    Some("https") => handshake(target, stream, config).await,
                    _ => Ok(ClientStream(Kind::Plain(stream))),
                }
            };
            plain.limited(target, connecting).await
        }))
    }
}

async fn handshake(
    target: Target<'_>,
    stream: TcpStream,
    config: Arc<ClientConfig>,
) -> io::Result<ClientStream> {
    let Target { host, port, .. } = target;
    let refused =
        |error: io::Error| explained(format!("cannot connect to {host}:{port}: {error}"), error);
    let name = ServerName::try_from(host.to_owned())
        .map_err(|error| refused(io::Error::new(ErrorKind::InvalidInput, error)))?;
    let stream = TlsConnector::from(config).connect(name, stream).await;
    let stream = stream.map_err(|error| refused(failed("the server", error)))?;
    Ok(ClientStream(Kind::Tls(Box::new((stream, None)))))
}

/// A connection of a client, with TLS or without.
#[derive(Debug)]
pub struct ClientStream(Kind);

#[derive(Debug)]
enum Kind {
    Plain(TcpStream),
    Tls(Box<(TlsStream<TcpStream>, Failed)>),
}

impl Connection for ClientStream {
    fn connected(&self) -> Connected {
        let protocol = match &self.0 {
            Kind::Plain(_) => None,
            Kind::Tls(tls) => tls.0.get_ref().1.alpn_protocol(),
        };
        match protocol {
            Some(b"h2") => Connected::new().negotiated_h2(),
            _ => Connected::new(),
        }
    }
}

impl Read for ClientStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.0 {
            Kind::Plain(stream) => Read::poll_read(Pin::new(stream), cx, buf),
            Kind::Tls(tls) => {
                let (stream, failed) = &mut **tls;
                fill(stream, failed, cx, buf)
            }
        }
    }
}

impl ClientStream {
    fn writer(self: Pin<&mut Self>) -> Pin<&mut (dyn AsyncWrite + Send)> {
        match &mut self.get_mut().0 {
            Kind::Plain(stream) => Pin::<&mut TcpStream>::new(stream),
            Kind::Tls(tls) => Pin::<&mut TlsStream<TcpStream>>::new(&mut tls.0),
        }
    }
}

impl Write for ClientStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.writer().poll_write(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.writer().poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        match &self.0 {
            Kind::Plain(stream) => AsyncWrite::is_write_vectored(stream),
            Kind::Tls(tls) => AsyncWrite::is_write_vectored(&tls.0),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.writer().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.writer().poll_shutdown(cx)
    }
}
