//! Looking at the next datagram, which stays in the queue.

use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use super::UdpSocket;
use crate::io::{Interest, ReadBuf};
use crate::net::system;

/// The methods that look at the next datagram, and leave it in the queue. If several tasks receive, another may take it
/// before this one does.
impl UdpSocket {
    /// Like [`recv`](Self::recv), and the datagram stays in the queue. Cancel safe.
    pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        let peek = |socket: &system::UdpSocket| socket.peek(buf);
        self.inner.io(Interest::READABLE, peek).await.map(|(_, len)| len)
    }

    /// Like [`peek`](Self::peek), without waiting.
    ///
    /// # Errors
    ///
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is no datagram.
    pub fn try_peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        let peek = |socket: &system::UdpSocket| socket.peek(buf);
        self.inner.try_io(Interest::READABLE, peek).map(|(_, len)| len)
    }

    /// Like [`peek`](Self::peek), into the unfilled part of `buf`; only the last task to poll for reading is woken.
    pub fn poll_peek(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let unfilled = buf.initialize_unfilled();
        let peek = |socket: &system::UdpSocket| socket.peek(unfilled);
        let peeked = self.inner.poll_io(cx, Interest::READABLE, peek);
        peeked.map_ok(|(_, len)| buf.advance(len))
    }

    /// Like [`recv_from`](Self::recv_from), and the datagram stays in the queue. Cancel safe.
    pub async fn peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let peek = |socket: &system::UdpSocket| socket.peek_from(buf);
        self.inner.io(Interest::READABLE, peek).await.map(|(_, peeked)| peeked)
    }

    /// Like [`peek_from`](Self::peek_from), without waiting.
    ///
    /// # Errors
    ///
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is no datagram.
    pub fn try_peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let peek = |socket: &system::UdpSocket| socket.peek_from(buf);
        self.inner.try_io(Interest::READABLE, peek).map(|(_, peeked)| peeked)
    }

    /// Like [`peek_from`](Self::peek_from), into the unfilled part of `buf`; only the last task to poll for reading is
    /// woken.
    pub fn poll_peek_from(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<SocketAddr>> {
        let unfilled = buf.initialize_unfilled();
        let peek = |socket: &system::UdpSocket| socket.peek_from(unfilled);
        self.inner.poll_io(cx, Interest::READABLE, peek).map_ok(|(_, (len, from))| {
            buf.advance(len);
            from
        })
    }

    /// The sender of the next datagram, which stays in the queue. Waits for one. Cancel safe.
    pub async fn peek_sender(&self) -> io::Result<SocketAddr> {
        self.inner.io(Interest::READABLE, sender).await.map(|(_, from)| from)
    }

    /// Like [`peek_sender`](Self::peek_sender), without waiting.
    ///
    /// # Errors
    ///
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is no datagram.
    pub fn try_peek_sender(&self) -> io::Result<SocketAddr> {
        self.inner.try_io(Interest::READABLE, sender).map(|(_, from)| from)
    }

    /// Like [`peek_sender`](Self::peek_sender); only the last task to poll for reading is woken.
    pub fn poll_peek_sender(&self, cx: &mut Context<'_>) -> Poll<io::Result<SocketAddr>> {
        self.inner.poll_io(cx, Interest::READABLE, sender).map_ok(|(_, from)| from)
    }
}

fn sender(socket: &system::UdpSocket) -> io::Result<SocketAddr> {
    system::peek_sender(socket)
}
