//! [`Wire`]: a connection that sends the parts in its [`Outbox`] from their files.

use crate::body::{Reading, read};
use crate::outbox::{Outbox, Part, is_placeholder};
use crate::steps;
use bytes::{Buf, Bytes};
use colored::io::Interest;
use colored::net::{TcpListener, TcpStream};
use colored_hyper::Listener;
use hyper::rt::{Read, ReadBufCursor, Write};
use rustix::net::SendFlags;
use std::future::{Ready, ready};
use std::io::{self, ErrorKind, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A listener whose peers have an [`Outbox`] beside their address.
pub(crate) struct Wires(pub(crate) TcpListener);

impl Listener for Wires {
    type Io = Wire;
    type Peer = (SocketAddr, Outbox);
    type Handshake = Ready<io::Result<Wire>>;

    fn poll_accept(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<(Self::Handshake, Self::Peer)>> {
        self.0.poll_accept(cx).map_ok(|(stream, addr)| {
            // An error means that the connection is broken, which shows when it is read.
            let _ = stream.set_nodelay(true);
            let outbox = Outbox::default();
            let wire = Wire { stream, outbox: outbox.clone(), reading: None, read: Bytes::new() };
            (ready(Ok(wire)), (addr, outbox))
        })
    }
}

pub(crate) struct Wire {
    stream: TcpStream,
    outbox: Outbox,
    /// Reads the start of the first part, of which nothing is in memory.
    reading: Option<Reading>,
    /// What was read so.
    read: Bytes,
}

impl Wire {
    /// Sends from the first part, at most `room` bytes.
    fn poll_send_part(&mut self, cx: &mut Context<'_>, room: usize) -> Poll<io::Result<usize>> {
        let part = self.outbox.front().expect("a placeholder stands for a part");
        let sent = ready!(self.poll_send_of(&part, cx, room))?;
        self.outbox.note_sent(sent);
        Poll::Ready(Ok(sent))
    }

    fn poll_send_of(
        &mut self,
        part: &Part,
        cx: &mut Context<'_>,
        room: usize,
    ) -> Poll<io::Result<usize>> {
        let rest = part.rest();
        let next = rest.start..rest.end.min(rest.start + room as u64);
        loop {
            if !self.read.is_empty() {
                let bytes = &self.read[..self.read.len().min(room)];
                let sent = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes))?;
                self.read.advance(sent);
                return Poll::Ready(Ok(sent));
            }
            if let Some(reading) = &mut self.reading {
                let read = ready!(reading.as_mut().poll(cx));
                self.reading = None;
                self.read = read?;
                continue;
            }
            ready!(self.stream.poll_write_ready(cx))?;
            let file = part.source.lazy_file().expect("only these are in an outbox");
            match self.stream.try_send_file(file, next.clone()) {
                Ok(0) => self.reading = Some(read(&part.source, &next)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                sent => return Poll::Ready(sent),
            }
        }
    }

    /// Sends bytes that a part of a file follows: the system keeps them until it comes, for one packet.
    fn poll_send_before(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.stream.poll_write_ready(cx))?;
            let send = || Ok(rustix::net::send(&self.stream, bytes, BEFORE_MORE)?);
            match self.stream.try_io(Interest::WRITABLE, send) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                sent => return Poll::Ready(sent),
            }
        }
    }
}

#[cfg(target_os = "linux")]
const BEFORE_MORE: SendFlags = SendFlags::MORE.union(SendFlags::NOSIGNAL);

/// Rust's programs ignore the signal.
#[cfg(not(target_os = "linux"))]
const BEFORE_MORE: SendFlags = SendFlags::empty();

impl Read for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl Write for Wire {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(buf)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        steps::note("write");
        match bufs.iter().position(|buf| is_placeholder(buf)) {
            None => Pin::new(&mut self.stream).poll_write_vectored(cx, bufs),
            Some(0) => self.poll_send_part(cx, bufs[0].len()),
            Some(_) => self.poll_send_before(cx, &bufs[0]),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Write::poll_flush(Pin::new(&mut self.stream), cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Write::poll_shutdown(Pin::new(&mut self.stream), cx)
    }
}
