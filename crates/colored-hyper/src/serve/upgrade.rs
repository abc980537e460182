//! [`into_io`]: the socket of an upgraded connection.

use super::preface::Prefaced;
use bytes::{Bytes, BytesMut};
use hyper::rt::{Read, Write};
use hyper::upgrade::{Parts, Upgraded};

/// Returns the socket of a connection that [`serve`](crate::serve()) has upgraded to another protocol,
/// and the bytes of that protocol that the server has already read from the client; handle these bytes
/// first. `T` is the [`Io`](crate::Listener::Io) of the listener.
///
/// ```
/// use colored::net::TcpStream;
/// use hyper::body::Incoming;
/// use hyper::{Request, Response, StatusCode};
///
/// # #[allow(dead_code)]
/// async fn handler(request: Request<Incoming>) -> hyper::Result<Response<String>> {
///     colored::spawn_unique(async {
///         let upgraded = hyper::upgrade::on(request).await?;
///         if let Ok((stream, said)) = colored_hyper::into_io::<TcpStream>(upgraded) {
///             drop((stream, said)); // Any protocol, from here on.
///         }
///         hyper::Result::Ok(())
///     });
///     let mut answer = Response::new(String::new());
///     *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
///     Ok(answer)
/// }
/// ```
///
/// # Errors
///
/// The argument, if the connection is no HTTP/1 connection of [`serve`](crate::serve()), or not over a
/// `T`.
pub fn into_io<T>(upgraded: Upgraded) -> Result<(T, Bytes), Upgraded>
where
    T: Read + Write + Send + Unpin + 'static,
{
    let Parts { io, read_buf, .. } = upgraded.downcast::<Prefaced<T>>()?;
    let (io, rest) = io.into_parts();
    if rest.is_empty() {
        return Ok((io, read_buf));
    }
    let mut said = BytesMut::from(read_buf);
    said.extend_from_slice(&rest);
    Ok((io, said.freeze()))
}
