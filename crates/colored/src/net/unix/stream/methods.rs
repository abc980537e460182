//! Readiness, transfers that do not wait, files, and a look at what comes: as a TCP connection has them.

use std::io::{self, IoSlice, IoSliceMut};
use std::ops::Range;
use std::task::{Context, Poll};

use super::UnixStream;
use crate::fs::File;
use crate::io::{Interest, ReadBuf, Ready};
#[expect(unused_imports, reason = "the name in the links of the documentation")]
use crate::net::TcpStream;
use crate::net::buf_mut::BufMut;
use crate::net::chunks::Chunks;
use crate::net::send_file;
use crate::net::socket::Socket;
use crate::net::transfer::Stream;
use crate::net::uninit::{self, Mode};

impl UnixStream {
    /// As [`TcpStream::readable`]. Cancel safe.
    pub async fn readable(&self) -> io::Result<()> {
        self.ready(Interest::READABLE).await.map(|_| ())
    }

    /// As [`TcpStream::writable`]. Cancel safe.
    pub async fn writable(&self) -> io::Result<()> {
        self.ready(Interest::WRITABLE).await.map(|_| ())
    }

    /// As [`TcpStream::ready`]. Cancel safe.
    pub async fn ready(&self, interest: Interest) -> io::Result<Ready> {
        self.registered().ready(interest).await
    }

    /// As [`TcpStream::poll_read_ready`].
    pub fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.registered().poll_ready(cx, Interest::READABLE)
    }

    /// As [`TcpStream::poll_write_ready`].
    pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.registered().poll_ready(cx, Interest::WRITABLE)
    }

    /// As [`TcpStream::try_read`].
    ///
    /// # Errors
    ///
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is nothing to read yet.
    pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.try_transfer(Interest::READABLE, buf.len(), |socket| socket.read(buf))
    }

    /// As [`TcpStream::try_read_vectored`].
    pub fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.try_read_bufs(bufs)
    }

    /// As [`TcpStream::try_read_buf`].
    pub fn try_read_buf(&self, buf: &mut (impl BufMut + ?Sized)) -> io::Result<usize> {
        self.try_fill(buf)
    }

    /// As [`TcpStream::try_write`].
    ///
    /// # Errors
    ///
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is no room yet.
    pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
        self.try_transfer(Interest::WRITABLE, buf.len(), |socket| socket.write(buf))
    }

    /// As [`TcpStream::try_write_vectored`].
    pub fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        self.try_write_bufs(bufs)
    }

    /// As [`TcpStream::write_chunks`]. Cancel safe in the same way.
    ///
    /// # Errors
    ///
    /// The system's; the chunks that were not written stay.
    pub async fn write_chunks<B: AsRef<[u8]>>(&self, chunks: &mut Chunks<B>) -> io::Result<()> {
        chunks.write_all(self).await
    }

    /// As [`TcpStream::send_file`]. Cancel safe in the same way.
    ///
    /// # Errors
    ///
    /// As there.
    pub async fn send_file(&self, file: &File, range: &mut Range<u64>) -> io::Result<()> {
        send_file::send_file(self, file, range).await
    }

    /// As [`TcpStream::try_send_file`].
    ///
    /// # Errors
    ///
    /// The system's; [`WouldBlock`](io::ErrorKind::WouldBlock) if there is no room yet.
    pub fn try_send_file(&self, file: &File, range: Range<u64>) -> io::Result<usize> {
        send_file::try_send(self, file, &range)
    }

    /// As [`TcpStream::try_io`], which lists the obligations of `operation`.
    ///
    /// # Errors
    ///
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if the connection is not ready.
    pub fn try_io<T>(
        &self,
        interest: Interest,
        operation: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        self.registered().try_io(interest, |_| operation()).map(|(_, done)| done)
    }

    /// As [`TcpStream::async_io`]. Cancel safe: unless this returns, `operation` has not run or has not succeeded.
    pub async fn async_io<T>(
        &self,
        interest: Interest,
        mut operation: impl FnMut() -> io::Result<T>,
    ) -> io::Result<T> {
        self.registered().io(interest, |_| operation()).await.map(|(_, done)| done)
    }

    /// As [`TcpStream::peek`]. Cancel safe.
    pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        let peek = |socket: &_| uninit::read(socket, &mut ReadBuf::new(buf), Mode::Peek);
        Ok(self.registered().io(Interest::READABLE, peek).await?.1.bytes)
    }

    /// As [`TcpStream::poll_peek`].
    pub fn poll_peek(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<usize>> {
        let peek = |socket: &_| uninit::read(socket, buf, Mode::Peek);
        self.registered().poll_io(cx, Interest::READABLE, peek).map_ok(|(_, moved)| moved.bytes)
    }
}
