//! Moving bytes through a connection.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::task::{Context, Poll, ready};

use super::{TcpStream, gather};
use crate::io::{Interest, ReadBuf, Ready};
use crate::net::uninit::{self, Mode};

impl TcpStream {
    /// Waits until there is something to read, be it the end of the stream. Cancel safe.
    ///
    /// This is a hint: [`try_read`](TcpStream::try_read) may still answer `WouldBlock`.
    pub async fn readable(&self) -> io::Result<()> {
        self.ready(Interest::READABLE).await.map(|_| ())
    }

    /// Waits until something can be written. Cancel safe. A hint like
    /// [`readable`](TcpStream::readable).
    pub async fn writable(&self) -> io::Result<()> {
        self.ready(Interest::WRITABLE).await.map(|_| ())
    }

    /// Waits until the connection is ready for part of `interest`, and tells for what. Cancel safe.
    /// A hint like [`readable`](TcpStream::readable).
    pub async fn ready(&self, interest: Interest) -> io::Result<Ready> {
        self.inner.ready(interest).await
    }

    /// Like [`readable`](TcpStream::readable); only the last task to poll for reading is woken.
    pub fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner.poll_ready(cx, Interest::READABLE)
    }

    /// Like [`writable`](TcpStream::writable); only the last task to poll for writing is woken.
    pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner.poll_ready(cx, Interest::WRITABLE)
    }

    /// Reads what is there, and answers how many bytes; 0 is the end of the stream.
    ///
    /// # Errors
    ///
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is nothing to read yet.
    pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.try_transfer(Interest::READABLE, buf.len(), |mut socket| socket.read(buf))
    }

    /// Like [`try_read`](TcpStream::try_read) into several buffers, one after the other.
    pub fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        let len = bufs.iter().map(|buf| buf.len()).sum();
        self.try_transfer(Interest::READABLE, len, |mut socket| socket.read_vectored(bufs))
    }

    /// Writes as much as there is room for, and answers how many bytes.
    ///
    /// # Errors
    ///
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is no room yet.
    pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
        self.try_transfer(Interest::WRITABLE, buf.len(), |mut socket| socket.write(buf))
    }

    /// Like [`try_write`](TcpStream::try_write) from several buffers, one after the other.
    pub fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        let len = bufs.iter().map(|buf| buf.len()).sum();
        self.try_transfer(Interest::WRITABLE, len, |socket| gather::write(socket, bufs, len))
    }

    /// Runs `operation` once, unless the connection is known not to be ready for `interest`. For what
    /// this type has no method for: `operation` uses the descriptor.
    ///
    /// # Errors
    ///
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if the connection is not ready. When `operation`
    /// answers that, the connection counts as not ready for all of `interest` until the system says
    /// otherwise: it must not answer so without having asked the system, and `interest` must be no
    /// more than what it has asked for.
    pub fn try_io<T>(
        &self,
        interest: Interest,
        operation: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        self.inner.try_io(interest, |_| operation()).map(|(_, done)| done)
    }

    /// Runs `operation` once the connection is ready for part of `interest`, again as long as it
    /// answers [`WouldBlock`](io::ErrorKind::WouldBlock); see [`try_io`](TcpStream::try_io) for what
    /// it must not do. Cancel safe: unless this returns, `operation` has not run or has not succeeded.
    pub async fn async_io<T>(
        &self,
        interest: Interest,
        mut operation: impl FnMut() -> io::Result<T>,
    ) -> io::Result<T> {
        self.inner.io(interest, |_| operation()).await.map(|(_, done)| done)
    }

    /// Reads what is there without taking it, and answers how many bytes; 0 is the end of the
    /// stream. Waits until there is something. Cancel safe.
    pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        let peeked = self.inner.io(Interest::READABLE, |socket| socket.peek(buf)).await?;
        Ok(peeked.1)
    }

    /// Like [`peek`](TcpStream::peek); only the last task to poll for reading is woken.
    pub fn poll_peek(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<usize>> {
        let peek = |socket: &_| uninit::read(socket, buf, Mode::Peek);
        self.inner.poll_io(cx, Interest::READABLE, peek).map_ok(|(_, n)| n)
    }

    pub(in crate::net) fn poll_read_buf(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let room = buf.remaining();
        let read = |socket: &_| uninit::read(socket, buf, Mode::Take);
        self.poll_read_with(cx, room, read).map_ok(|_| ())
    }

    /// Reads with `read` into `room` bytes.
    pub(in crate::net) fn poll_read_with(
        &self,
        cx: &mut Context<'_>,
        room: usize,
        read: impl FnMut(&mio::net::TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        self.poll_transfer(cx, Interest::READABLE, room, read)
    }

    pub(in crate::net) fn poll_write_buf(
        &self,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_transfer(cx, Interest::WRITABLE, buf.len(), |mut socket| socket.write(buf))
    }

    pub(in crate::net) fn poll_write_bufs(
        &self,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let len = bufs.iter().map(|buf| buf.len()).sum();
        self.poll_transfer(cx, Interest::WRITABLE, len, |socket| gather::write(socket, bufs, len))
    }

    /// Ends the writing direction. That the peer has already broken the connection is no error
    /// here: there is nothing left to end, and a loss of data shows when reading.
    pub(in crate::net) fn end_writing(&self) -> io::Result<()> {
        match self.socket().shutdown(std::net::Shutdown::Write) {
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
            done => done,
        }
    }

    fn poll_transfer(
        &self,
        cx: &mut Context<'_>,
        interest: Interest,
        len: usize,
        transfer: impl FnMut(&mio::net::TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        // An empty transfer is done: it must not wait for a peer that may never send.
        if len == 0 {
            return Poll::Ready(Ok(0));
        }
        let (seen, n) = ready!(self.inner.poll_io(cx, interest, transfer))?;
        if 0 < n && n < len {
            self.inner.drained(seen, interest);
        }
        Poll::Ready(Ok(n))
    }

    fn try_transfer(
        &self,
        interest: Interest,
        len: usize,
        transfer: impl FnOnce(&mio::net::TcpStream) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let (seen, n) = self.inner.try_io(interest, transfer)?;
        if 0 < n && n < len {
            self.inner.drained(seen, interest);
        }
        Ok(n)
    }
}
