//! A client with a pool of connections.

use crate::{ColoredExecutor, ColoredTimer};
use colored::io::{NamedError, named};
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
/// idle for 90 seconds. It supports only `http`; the module `tls`, which needs the feature `tls`, has a client for
/// `https` as well.
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

    /// The output of `connecting`, within the time limit.
    pub(crate) async fn limited<T>(
        self,
        Target { host, port, .. }: Target<'_>,
        connecting: impl Future<Output = io::Result<T>>,
    ) -> io::Result<T> {
        let Some(limit) = self.limit else { return connecting.await };
        timeout(limit, connecting).await.map_err(|_| {
            let text = format!("cannot connect to {host}:{port}: no answer in {limit:?}");
            io::Error::new(io::ErrorKind::TimedOut, text)
        })?
    }
}

impl Default for Connector {
    fn default() -> Connector {
        Connector::new()
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
    /// When the address is no `http` address, or the connection fails, or takes longer than the time
    /// limit. The error has the number of the system, if the system refused the connection; it is the source of the
    /// client's.
    fn call(&mut self, uri: Uri) -> Self::Future {
        let connector = *self;
        Box::pin(named(async move {
            let target = Target::of(&uri, &["http"])?;
            connector.limited(target, target.connect()).await.map(ClientStream)
        }))
    }
}

/// Where a connection leads.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    /// Without the brackets of an IPv6 address: it has them in a URI only.
    pub(crate) host: &'a str,
    pub(crate) port: u16,
}

impl<'a> Target<'a> {
    /// What `uri` names, if its scheme is one of `schemes`, which are among `http` and `https`.
    pub(crate) fn of(uri: &'a Uri, schemes: &[&str]) -> io::Result<Target<'a>> {
        let invalid = |what: &str| {
            let expected: Vec<_> =
                schemes.iter().map(|scheme| format!("{scheme}://HOST[:PORT]/...")).collect();
            let expected = expected.join(" or ");
            let text = format!("cannot connect to {uri}: {what}; expected {expected}");
            io::Error::new(io::ErrorKind::InvalidInput, text)
        };
        let scheme = uri.scheme_str().unwrap_or_default();
        if !schemes.contains(&scheme) {
            return Err(invalid(match schemes {
                ["http"] => "this connector speaks plain HTTP only",
                _ => "this connector speaks HTTP only, with TLS or without",
            }));
        }
        let host = uri.host().ok_or_else(|| invalid("there is no host"))?;
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let usual = if scheme == "https" { 443 } else { 80 };
        Ok(Target { host: bare.unwrap_or(host), port: uri.port_u16().unwrap_or(usual) })
    }

    pub(crate) async fn connect(self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect((self.host, self.port)).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
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
    use super::Target;

    fn of(uri: &str) -> String {
        match Target::of(&uri.parse().unwrap(), &["http"]) {
            Ok(Target { host, port, .. }) => format!("{host} {port}"),
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
