//! [`Stream`]: the socket of one end.

use super::end::{End, Names, Phase, Segment};
use super::error::error;
use super::{Listener, Network};
use crate::world::{Fault, Host};
use colored_machine::{self as machine, Moved, Ready, Socket, Tasks};
use std::fmt;
use std::io::{self, ErrorKind, IoSlice};
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;

/// A simulated connection. Dropping it closes it.
pub(crate) struct Stream {
    pub(super) host: Host,
    pub(super) end: usize,
    /// Keeps the address that was bound before the connection.
    #[expect(dead_code, reason = "it is dropped with this")]
    pub(super) bound: Option<Listener>,
}

/// How long the address of a connection is kept by the side that has closed first.
const LINGERS: u64 = 60_000_000_000;

impl Socket for Stream {
    fn attach(&self, tasks: Arc<dyn Tasks>) {
        self.host.world.network().attach(self.end, tasks);
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        match self.host.world.network().ends[self.end].names {
            Names::Inet { local, .. } => Ok(local),
            #[cfg(unix)]
            Names::Unix { .. } => Err(error(ErrorKind::InvalidInput)),
        }
    }

    fn take_error(&self) -> Option<io::Error> {
        self.host.world.network().ends[self.end].error.take().map(error)
    }
}

impl machine::Stream for Stream {
    fn receive(&self, room: usize, peeks: bool, put: &mut dyn FnMut(&[u8])) -> io::Result<Moved> {
        self.host.world.network().receive(self.end, room, peeks, put)
    }

    fn send(&self, bufs: &[IoSlice<'_>]) -> io::Result<Moved> {
        self.host.world.network().write(self.end, bufs)
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.host.world.network().shut_down(self.end, how)
    }

    fn peer_addr(&self) -> io::Result<SocketAddr> {
        let network = self.host.world.network();
        let end = &network.ends[self.end];
        match end.names {
            Names::Inet { remote, .. } if end.phase == Phase::Open && !end.is_over() => Ok(remote),
            _ => Err(error(ErrorKind::NotConnected)),
        }
    }

    fn connected_addr(&self) -> io::Result<SocketAddr> {
        match self.host.world.network().ends[self.end].names {
            Names::Inet { remote, .. } => Ok(remote),
            #[cfg(unix)]
            Names::Unix { .. } => Err(error(ErrorKind::InvalidInput)),
        }
    }

    #[cfg(unix)]
    fn unix_addrs(&self) -> [Option<std::os::unix::net::SocketAddr>; 2] {
        match &self.host.world.network().ends[self.end].names {
            Names::Unix { local, remote } => [local.clone(), remote.clone()],
            Names::Inet { .. } => [None, None],
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let mut network = self.host.world.network();
        if network.check(self.end).is_ok() {
            network.close(self.end);
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let network = self.host.world.network();
        f.debug_tuple("simulated").field(&network.ends[self.end].names).finish()
    }
}

impl Network<'_> {
    /// The error of a socket whose host has crashed.
    fn check(&self, end: usize) -> io::Result<&End> {
        let end = &self.ends[end];
        match self.is_of_this_boot(end.host, end.boots) {
            true => Ok(end),
            false => Err(crashed()),
        }
    }

    fn attach(&mut self, end: usize, tasks: Arc<dyn Tasks>) {
        let has_room = self.ends[end].phase == Phase::Open && self.room_for(end) > 0;
        let room = if has_room { Ready::WRITABLE } else { Ready::EMPTY };
        let ready = self.ends[end].ready() | room;
        self.mark(Some(&tasks), ready);
        self.ends[end].tasks = Some(tasks);
    }

    /// How many bytes this end may send.
    fn room_for(&self, end: usize) -> usize {
        self.ends[self.ends[end].peer].room()
    }

    fn receive(
        &mut self,
        end: usize,
        room: usize,
        peeks: bool,
        put: &mut dyn FnMut(&[u8]),
    ) -> io::Result<Moved> {
        let of = self.check(end)?;
        // What has arrived can be read, also when the socket has said that it reads no more.
        if of.available == 0 {
            let is_at_end = of.is_at_end || of.has_ended_reading;
            if of.has_heard_end && !of.is_unix() {
                // The error of a later reset is the writer's.
                return Ok(Moved { bytes: 0, is_all: false });
            }
            return match self.ends[end].error.take() {
                Some(kind) => Err(error(kind)),
                None if is_at_end => Ok(Moved { bytes: 0, is_all: false }),
                None => Err(error(ErrorKind::WouldBlock)),
            };
        }
        let (all, peer) = (of.available.min(room), of.peer);
        if peeks {
            of.copy(all, put);
            return Ok(Moved { bytes: all, is_all: false });
        }
        let bytes = self.piece_of(all, of.host);
        let of = &self.ends[end];
        of.copy(bytes, put);
        let (was_full, is_unheard) = (of.room() == 0, self.is_cut(of.host, self.ends[peer].host));
        let of = &mut self.ends[end];
        of.consume(bytes);
        if is_unheard {
            of.unheard += bytes;
        } else if was_full {
            self.send(peer, Segment::Room);
        }
        Ok(Moved { bytes, is_all: bytes == all })
    }

    fn write(&mut self, end: usize, bufs: &[IoSlice<'_>]) -> io::Result<Moved> {
        self.check(end)?;
        let peer = &self.ends[self.ends[end].peer];
        let hears_nobody = peer.phase == Phase::Closed || peer.has_ended_reading;
        let of = &mut self.ends[end];
        if of.is_unix() {
            // It knows its peer, and the error of a reset is the reader's.
            if of.has_ended_writing || hears_nobody {
                return Err(error(ErrorKind::BrokenPipe));
            }
        } else if let Some(kind) = of.error.take() {
            return Err(error(kind));
        } else if of.has_ended_writing {
            return Err(error(ErrorKind::BrokenPipe));
        }
        let (is_open, host, peer) = (of.phase == Phase::Open, of.host, of.peer);
        let len: usize = bufs.iter().map(|buf| buf.len()).sum();
        let all = self.ends[peer].room().min(len);
        if !is_open || (all == 0 && len > 0) {
            return Err(error(ErrorKind::WouldBlock));
        }
        if host != self.ends[peer].host && self.world.fault(Fault::Reset, host) {
            self.send(peer, Segment::Reset);
            self.ends[end].fail();
            return Err(error(ErrorKind::ConnectionReset));
        }
        let part = self.piece_of(all, host);
        let mut data = Vec::with_capacity(part);
        for buf in bufs {
            let rest = part - data.len();
            data.extend_from_slice(&buf[..buf.len().min(rest)]);
        }
        self.ends[peer].on_the_way += part;
        self.send(peer, Segment::Data(data));
        Ok(Moved { bytes: part, is_all: part == all })
    }

    /// How many of these bytes are moved: all, or by a fault fewer.
    fn piece_of(&self, all: usize, host: usize) -> usize {
        if all > 1 && self.world.fault(Fault::Pieces, host) {
            return if self.world.is_tails(Fault::Pieces, host) { 1 } else { all.div_ceil(2) };
        }
        all
    }

    fn shut_down(&mut self, end: usize, how: Shutdown) -> io::Result<()> {
        let of = self.check(end)?;
        if !of.is_unix() && (of.phase != Phase::Open || of.is_over()) {
            return Err(error(ErrorKind::NotConnected));
        }
        if how != Shutdown::Write {
            self.ends[end].has_ended_reading = true;
        }
        if how != Shutdown::Read {
            self.end_writing(end);
        }
        let of = &self.ends[end];
        let read =
            if of.has_ended_reading { Ready::READABLE | Ready::READ_CLOSED } else { Ready::EMPTY };
        let (tasks, ready) = (of.tasks.clone(), of.ready() | read);
        self.mark(tasks.as_ref(), ready);
        Ok(())
    }

    fn end_writing(&mut self, end: usize) {
        let of = &mut self.ends[end];
        if !std::mem::replace(&mut of.has_ended_writing, true) {
            of.has_ended_first = !of.has_heard_end;
            self.send(self.ends[end].peer, Segment::End);
        }
    }

    /// The socket is dropped. As Linux does, it resets the connection if something has not been read.
    fn close(&mut self, end: usize) {
        let is_read = self.ends[end].available == 0;
        let until = self.world.now() + LINGERS;
        // First, for the peer hears of it at once over a Unix socket.
        let has_ended_writing = self.ends[end].has_ended_writing;
        self.ends[end].close();
        self.ends[end].has_ended_writing = has_ended_writing;
        match is_read {
            true => self.end_writing(end),
            false => self.send(self.ends[end].peer, Segment::Reset),
        }
        let of = &mut self.ends[end];
        of.has_ended_writing = true;
        of.lingers_until = if is_read && of.has_ended_first { until } else { 0 };
    }

    /// Resets the connection and closes the socket.
    pub(super) fn break_off(&mut self, end: usize) {
        self.send(self.ends[end].peer, Segment::Reset);
        self.ends[end].close();
    }
}

/// The error of a socket whose host has crashed.
#[cold]
pub(super) fn crashed() -> io::Error {
    io::Error::other("the host of this socket has crashed, in the simulation")
}
