//! [`Incoming`]: the connections of a listener as a stream.

use super::TcpListener;
#[cfg(unix)]
use super::UnixListener;
use futures_core::Stream;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The connections that come to a listener, without an end; made by its method `incoming`.
///
/// An error is that of one accept; the next one may succeed. A listener whose accepts fail for want of descriptors pauses
/// between them. Cancel safe: dropped at any time, it loses no connection. Of several streams of one listener that are
/// polled by different tasks, only the last task to poll is woken: let such tasks call `accept`.
#[derive(Debug)]
#[must_use = "streams do nothing unless you poll them"]
pub struct Incoming<'a, L>(&'a L);

impl TcpListener {
    /// The connections as a [`Stream`]. Their addresses are the streams' [`peer_addr`](super::TcpStream::peer_addr).
    pub fn incoming(&self) -> Incoming<'_, TcpListener> {
        Incoming(self)
    }
}

impl Stream for Incoming<'_, TcpListener> {
    type Item = io::Result<super::TcpStream>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_accept(cx).map(|accepted| Some(accepted.map(|(stream, _)| stream)))
    }
}

#[cfg(unix)]
impl UnixListener {
    /// The connections as a [`Stream`].
    pub fn incoming(&self) -> Incoming<'_, UnixListener> {
        Incoming(self)
    }
}

#[cfg(unix)]
impl Stream for Incoming<'_, UnixListener> {
    type Item = io::Result<super::UnixStream>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_accept(cx).map(|accepted| Some(accepted.map(|(stream, _)| stream)))
    }
}
