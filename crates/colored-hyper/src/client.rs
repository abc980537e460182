//! A client with a pool of connections.

use crate::{ColoredExecutor, ColoredTimer};
use colored::net::TcpStream;
use colored::time::{Duration, timeout};
use hyper::Uri;
use hyper::body::Body;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::client::legacy::{Builder, Client};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use tower_service::Service;

/// A client that keeps connections open and reuses them: hyper-util's client, with our timers and
/// sockets. Clones share the pool.
///
/// Each connection is a task under a color of its own. The client closes a connection that has been
/// idle for 90 seconds. It supports only `http`; for TLS, wrap [`Connector`] and pass it to
/// [`client_builder`].
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use http_body_util::{BodyExt, Empty};
///
/// let client = colored_hyper::client::<Empty<&[u8]>>();
/// let answer = client.get("http://127.0.0.1:8080/".parse()?).await?;
/// println!("{:?}", answer.into_body().collect().await?.to_bytes());
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn client<B>() -> Client<Connector, B>
where
    B: Body + Send,
    B::Data: Send,
{
    client_builder(ColoredExecutor::unique()).build(Connector::new())
}

/// The settings of a [`client`](crate::client()), with our timers set; `executor` chooses the color of its
/// connections.
#[must_use]
pub fn client_builder(executor: ColoredExecutor) -> Builder {
    let mut builder = Client::builder(executor);
    // Without the second, the client closes idle connections only when a request looks for one.
    builder.timer(ColoredTimer).pool_timer(ColoredTimer);
    builder
}

/// Makes the connections of a [`client`](crate::client()): TCP without TLS, with `TCP_NODELAY`.
#[derive(Clone, Copy, Debug)]
pub struct Connector {
    limit: Option<Duration>,
}

impl Connector {
    /// A connector that gives up after 10 seconds, the look-up of the name included.
    #[must_use]
    pub const fn new() -> Connector {
        Connector { limit: Some(Duration::from_secs(10)) }
    }

    /// The time limit for making a connection. With `None` only the system limits the time, which may
    /// be minutes.
    #[must_use]
    pub fn connect_timeout(mut self, limit: impl Into<Option<Duration>>) -> Connector {
        self.limit = limit.into();
        self
    }
}

impl Default for Connector {
    fn default() -> Connector {
        Connector::new()
    }
}

impl Service<Uri> for Connector {
    type Response = ClientStream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<ClientStream>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// # Errors
    ///
    /// When the address is no `http` address, or the connection fails, or takes longer than the time
    /// limit.
    fn call(&mut self, uri: Uri) -> Self::Future {
        let limit = self.limit;
        Box::pin(async move {
            let (host, port) = target(&uri)?;
            let connecting = TcpStream::connect((host, port));
            let stream = match limit {
                None => connecting.await?,
                Some(limit) => timeout(limit, connecting).await.map_err(|_| {
                    let text = format!("cannot connect to {host}:{port}: no answer in {limit:?}");
                    io::Error::new(io::ErrorKind::TimedOut, text)
                })??,
            };
            stream.set_nodelay(true)?;
            Ok(ClientStream(stream))
        })
    }
}

fn target(uri: &Uri) -> io::Result<(&str, u16)> {
    let invalid = |what: &str| {
        let text = format!("cannot connect to {uri}: {what}; expected http://HOST[:PORT]/...");
        io::Error::new(io::ErrorKind::InvalidInput, text)
    };
    if uri.scheme_str() != Some("http") {
        return Err(invalid("this connector speaks plain HTTP only"));
    }
    let host = uri.host().ok_or_else(|| invalid("there is no host"))?;
    // An IPv6 address has brackets in a URI and none in a socket address.
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    Ok((bare.unwrap_or(host), uri.port_u16().unwrap_or(80)))
}

/// A connection of a [`client`](crate::client()).
#[derive(Debug)]
pub struct ClientStream(TcpStream);

impl ClientStream {
    /// The socket, for a TLS handshake on top of it.
    #[must_use]
    pub fn into_inner(self) -> TcpStream {
        self.0
    }
}

impl Connection for ClientStream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl Read for ClientStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Read::poll_read(Pin::new(&mut self.0), cx, buf)
    }
}

impl Write for ClientStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Write::poll_write(Pin::new(&mut self.0), cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Write::poll_write_vectored(Pin::new(&mut self.0), cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        Write::is_write_vectored(&self.0)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Write::poll_flush(Pin::new(&mut self.0), cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Write::poll_shutdown(Pin::new(&mut self.0), cx)
    }
}

#[cfg(test)]
mod tests {
    use super::target;

    fn of(uri: &str) -> String {
        match target(&uri.parse().unwrap()) {
            Ok((host, port)) => format!("{host} {port}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_target_is_host_and_port() {
        assert_eq!(of("http://example.org/a"), "example.org 80");
        assert_eq!(of("http://127.0.0.1:8080"), "127.0.0.1 8080");
        assert_eq!(of("http://[::1]:8080/"), "::1 8080");
    }

    #[test]
    fn anything_but_plain_http_is_refused() {
        let refused = "cannot connect to https://a/: this connector speaks plain HTTP only; \
                       expected http://HOST[:PORT]/...";
        assert_eq!(of("https://a/"), refused);
        assert!(of("/path").contains("plain HTTP only"));
    }
}
