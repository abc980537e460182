//! Moving bytes through a connection.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::Shutdown;
use std::task::{Context, Poll, ready};

use super::buf_mut::{self, BufMut};
use super::gather;
use super::socket::{Moved, Socket};
use super::uninit::{self, Mode};
use crate::driver::reactor::Snapshot;
use crate::io::{Interest, ReadBuf};
use crate::registration::Registered;

/// A connection: bytes that go both ways, in order.
pub(super) trait Stream {
    type Socket: Socket;

    fn registered(&self) -> &Registered<Self::Socket>;

    fn poll_read_buf(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let room = buf.remaining();
        let read = |socket: &_| uninit::read(socket, buf, Mode::Take);
        self.poll_read_with(cx, room, read).map_ok(|_| ())
    }

    /// Reads with `read` into `room` bytes.
    fn poll_read_with(
        &self,
        cx: &mut Context<'_>,
        room: usize,
        read: impl FnMut(&Self::Socket) -> io::Result<Moved>,
    ) -> Poll<io::Result<usize>> {
        self.poll_transfer(cx, Interest::READABLE, room, read)
    }

    fn poll_write_buf(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_transfer(cx, Interest::WRITABLE, buf.len(), |socket| socket.write(buf))
    }

    fn poll_write_bufs(
        &self,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let len = bufs.iter().map(|buf| buf.len()).sum();
        self.poll_transfer(cx, Interest::WRITABLE, len, |socket| gather::write(socket, bufs, len))
    }

    /// Ends the writing direction. That the peer has already broken the connection is no error
    /// here: there is nothing left to end, and a loss of data shows when reading.
    fn end_writing(&self) -> io::Result<()> {
        match self.registered().get().shutdown(Shutdown::Write) {
            Err(error) if error.kind() == io::ErrorKind::NotConnected => {}
            done => done?,
        }
        // On systems that wake only tasks that wait to read.
        self.registered().end(Shutdown::Write);
        Ok(())
    }

    fn poll_transfer(
        &self,
        cx: &mut Context<'_>,
        interest: Interest,
        len: usize,
        transfer: impl FnMut(&Self::Socket) -> io::Result<Moved>,
    ) -> Poll<io::Result<usize>> {
        // An empty transfer is done: it must not wait for a peer that may never send.
        if len == 0 {
            return Poll::Ready(Ok(0));
        }
        let (seen, moved) = ready!(self.registered().poll_io(cx, interest, transfer))?;
        Poll::Ready(Ok(self.moved(seen, interest, moved, len)))
    }

    fn try_read_bufs(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        let len = bufs.iter().map(|buf| buf.len()).sum();
        self.try_transfer(Interest::READABLE, len, |socket| socket.read_vectored(bufs))
    }

    /// Reads behind what `buf` has.
    fn try_fill(&self, buf: &mut (impl BufMut + ?Sized)) -> io::Result<usize> {
        buf_mut::fill(buf, |buf| {
            let room = buf.remaining();
            let read = |socket: &_| uninit::read(socket, buf, Mode::Take);
            self.try_transfer(Interest::READABLE, room, read).map(|_| ())
        })
    }

    fn try_write_bufs(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        let len = bufs.iter().map(|buf| buf.len()).sum();
        self.try_transfer(Interest::WRITABLE, len, |socket| gather::write(socket, bufs, len))
    }

    fn try_transfer(
        &self,
        interest: Interest,
        len: usize,
        transfer: impl FnOnce(&Self::Socket) -> io::Result<Moved>,
    ) -> io::Result<usize> {
        let (seen, moved) = self.registered().try_io(interest, transfer)?;
        Ok(self.moved(seen, interest, moved, len))
    }

    /// After a transfer of at most `len` bytes. The next one need not ask the system where it would
    /// answer `WouldBlock`.
    fn moved(&self, seen: Snapshot, interest: Interest, moved: Moved, len: usize) -> usize {
        if moved.is_all && 0 < moved.bytes && moved.bytes < len {
            self.registered().note_drained(seen, interest);
        }
        moved.bytes
    }
}
