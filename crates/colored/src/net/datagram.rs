//! The public methods that datagram sockets of all families have.

use std::io;
use std::task::{Context, Poll};

use super::UdpSocket;
#[cfg(unix)]
use super::UnixDatagram;
use super::buf_mut::{self, BufMut};
use super::system;
use crate::io::{Interest, ReadBuf, Ready};

macro_rules! methods {
    ($socket:ty, $system:ty, $address:ty) => {
        impl $socket {
            /// Sends a datagram to the peer of [`connect`](Self::connect), and returns its length: all of it or nothing.
            /// Waits for room. Cancel safe: a datagram whose future was dropped has not been sent.
            ///
            /// # Errors
            ///
            /// The system's; [`NotConnected`](io::ErrorKind::NotConnected) without a peer, on most systems.
            pub async fn send(&self, datagram: &[u8]) -> io::Result<usize> {
                let send = |socket: &$system| socket.send(datagram);
                self.inner.io(Interest::WRITABLE, send).await.map(|(_, len)| len)
            }

            /// Receives a datagram from the peer of [`connect`](Self::connect), or from anybody if there is none. Returns
            /// its length; what does not fit into `buf` is lost. Cancel safe: a datagram that has not been returned is
            /// still in the queue of the system.
            ///
            /// # Errors
            ///
            /// The system's. On Windows this includes a datagram that does not fit (10040, `WSAEMSGSIZE`), which is lost as
            /// a whole, as with the standard library.
            pub async fn recv(&self, buf: &mut [u8]) -> io::Result<usize> {
                let recv = |socket: &$system| socket.recv(buf);
                self.inner.io(Interest::READABLE, recv).await.map(|(_, len)| len)
            }

            /// Like [`send`](Self::send), without waiting.
            ///
            /// # Errors
            ///
            /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is no room.
            pub fn try_send(&self, datagram: &[u8]) -> io::Result<usize> {
                let send = |socket: &$system| socket.send(datagram);
                self.inner.try_io(Interest::WRITABLE, send).map(|(_, len)| len)
            }

            /// Like [`recv`](Self::recv), without waiting.
            ///
            /// # Errors
            ///
            /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is no datagram.
            pub fn try_recv(&self, buf: &mut [u8]) -> io::Result<usize> {
                let recv = |socket: &$system| socket.recv(buf);
                self.inner.try_io(Interest::READABLE, recv).map(|(_, len)| len)
            }

            /// Like [`recv`](Self::recv), behind what `buf` has, as far as it has room. Clears the room first. Cancel safe: a
            /// dropped call has taken no datagram.
            ///
            /// # Errors
            ///
            /// [`InvalidInput`](io::ErrorKind::InvalidInput) if there is no room; otherwise the system's.
            pub async fn recv_buf(&self, buf: &mut (impl BufMut + ?Sized)) -> io::Result<usize> {
                let recv = |socket: &$system| fill(buf, |buf| socket.recv(buf));
                self.inner.io(Interest::READABLE, recv).await.map(|(_, len)| len)
            }

            /// Like [`recv_buf`](Self::recv_buf), without waiting.
            ///
            /// # Errors
            ///
            /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is no datagram.
            pub fn try_recv_buf(&self, buf: &mut (impl BufMut + ?Sized)) -> io::Result<usize> {
                let recv = |socket: &$system| fill(buf, |buf| socket.recv(buf));
                self.inner.try_io(Interest::READABLE, recv).map(|(_, len)| len)
            }

            /// Like [`recv_from`](Self::recv_from), behind what `buf` has, as far as it has room. Clears the room first. Cancel
            /// safe: a dropped call has taken no datagram.
            ///
            /// # Errors
            ///
            /// [`InvalidInput`](io::ErrorKind::InvalidInput) if there is no room; otherwise the system's.
            pub async fn recv_buf_from(
                &self,
                buf: &mut (impl BufMut + ?Sized),
            ) -> io::Result<(usize, $address)> {
                let recv = |socket: &$system| fill_from(buf, |buf| socket.recv_from(buf));
                self.inner.io(Interest::READABLE, recv).await.map(|(_, received)| received)
            }

            /// Like [`recv_buf_from`](Self::recv_buf_from), without waiting.
            ///
            /// # Errors
            ///
            /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is no datagram.
            pub fn try_recv_buf_from(
                &self,
                buf: &mut (impl BufMut + ?Sized),
            ) -> io::Result<(usize, $address)> {
                let recv = |socket: &$system| fill_from(buf, |buf| socket.recv_from(buf));
                self.inner.try_io(Interest::READABLE, recv).map(|(_, received)| received)
            }

            /// Like [`send`](Self::send); only the last task to poll for writing is woken.
            pub fn poll_send(
                &self,
                cx: &mut Context<'_>,
                datagram: &[u8],
            ) -> Poll<io::Result<usize>> {
                let send = |socket: &$system| socket.send(datagram);
                self.inner.poll_io(cx, Interest::WRITABLE, send).map_ok(|(_, len)| len)
            }

            /// Like [`recv`](Self::recv), into the unfilled part of `buf`; only the last task to poll for reading is woken.
            pub fn poll_recv(
                &self,
                cx: &mut Context<'_>,
                buf: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                let unfilled = buf.initialize_unfilled();
                let recv = |socket: &$system| socket.recv(unfilled);
                let received = self.inner.poll_io(cx, Interest::READABLE, recv);
                received.map_ok(|(_, len)| buf.advance(len))
            }

            /// Waits until there is a datagram. Cancel safe. A hint: [`try_recv`](Self::try_recv) may still answer
            /// `WouldBlock`.
            pub async fn readable(&self) -> io::Result<()> {
                self.ready(Interest::READABLE).await.map(|_| ())
            }

            /// Waits until a datagram can be sent. Cancel safe. A hint like [`readable`](Self::readable).
            pub async fn writable(&self) -> io::Result<()> {
                self.ready(Interest::WRITABLE).await.map(|_| ())
            }

            /// Waits until the socket is ready for part of `interest`, and returns that part. Cancel safe. A hint like
            /// [`readable`](Self::readable).
            pub async fn ready(&self, interest: Interest) -> io::Result<Ready> {
                self.inner.ready(interest).await
            }

            /// Like [`readable`](Self::readable); only the last task to poll for reading is woken.
            pub fn poll_recv_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.inner.poll_ready(cx, Interest::READABLE)
            }

            /// Like [`writable`](Self::writable); only the last task to poll for writing is woken.
            pub fn poll_send_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.inner.poll_ready(cx, Interest::WRITABLE)
            }

            /// Runs `operation` once, unless the socket is known not to be ready for `interest`. Use it for system calls
            /// that this type has no method for: `operation` uses the descriptor.
            ///
            /// # Errors
            ///
            /// [`WouldBlock`](io::ErrorKind::WouldBlock) if the socket is not ready. When `operation` returns this error,
            /// the socket counts as not ready for all of `interest` until the system reports an event. So `operation` must
            /// return it only if the system did, and `interest` must cover no more than the system call that failed.
            pub fn try_io<T>(
                &self,
                interest: Interest,
                operation: impl FnOnce() -> io::Result<T>,
            ) -> io::Result<T> {
                self.inner.try_io(interest, |_| operation()).map(|(_, done)| done)
            }

            /// Runs `operation` when the socket is ready for part of `interest`, and again as long as it returns
            /// [`WouldBlock`](io::ErrorKind::WouldBlock); [`try_io`](Self::try_io) lists its obligations. Cancel safe:
            /// unless this returns, `operation` has not run or has not succeeded.
            pub async fn async_io<T>(
                &self,
                interest: Interest,
                mut operation: impl FnMut() -> io::Result<T>,
            ) -> io::Result<T> {
                self.inner.io(interest, |_| operation()).await.map(|(_, done)| done)
            }

            /// Takes the error that the system keeps for this socket.
            pub fn take_error(&self) -> io::Result<Option<io::Error>> {
                self.inner.get().take_error()
            }
        }
    };
}

methods!(UdpSocket, system::UdpSocket, std::net::SocketAddr);
#[cfg(unix)]
methods!(UnixDatagram, mio::net::UnixDatagram, std::os::unix::net::SocketAddr);

/// Receives once, behind what `buf` has.
fn fill(
    buf: &mut (impl BufMut + ?Sized),
    recv: impl FnOnce(&mut [u8]) -> io::Result<usize>,
) -> io::Result<usize> {
    fill_from(buf, |buf| Ok((recv(buf)?, ()))).map(|(len, ())| len)
}

/// Receives once, behind what `buf` has.
///
/// # Errors
///
/// `InvalidInput` if there is no room: the datagram would be lost.
fn fill_from<A>(
    buf: &mut (impl BufMut + ?Sized),
    recv: impl FnOnce(&mut [u8]) -> io::Result<(usize, A)>,
) -> io::Result<(usize, A)> {
    let mut from = None;
    let len = buf_mut::fill(buf, |buf| {
        let (len, sender) = recv(buf.initialize_unfilled())?;
        buf.advance(len);
        from = Some(sender);
        Ok(())
    })?;
    let no_room = || io::Error::new(io::ErrorKind::InvalidInput, "the buffer has no room");
    Ok((len, from.ok_or_else(no_room)?))
}
