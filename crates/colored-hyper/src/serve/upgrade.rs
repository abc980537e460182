//! [`into_tcp`]: the socket under an upgraded connection.

use super::preface::Prefaced;
use bytes::{Bytes, BytesMut};
use colored::net::TcpStream;
use hyper::upgrade::{Parts, Upgraded};

/// The socket of a connection that [`serve`](crate::serve()) has upgraded, for a protocol that is not
/// HTTP, and what the client has said in it already, which comes first.
///
/// ```
/// use hyper::body::Incoming;
/// use hyper::{Request, Response, StatusCode};
///
/// # #[allow(dead_code)]
/// async fn handler(request: Request<Incoming>) -> hyper::Result<Response<String>> {
///     colored::spawn_unique(async {
///         let upgraded = hyper::upgrade::on(request).await?;
///         if let Ok((stream, said)) = colored_hyper::into_tcp(upgraded) {
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
/// The argument, if the connection is not one of HTTP/1 that [`serve`](crate::serve()) serves.
pub fn into_tcp(upgraded: Upgraded) -> Result<(TcpStream, Bytes), Upgraded> {
    let Parts { io, read_buf, .. } = upgraded.downcast::<Prefaced>()?;
    let (stream, rest) = io.into_parts();
    if rest.is_empty() {
        return Ok((stream, read_buf));
    }
    let mut said = BytesMut::from(read_buf);
    said.extend_from_slice(&rest);
    Ok((stream, said.freeze()))
}
