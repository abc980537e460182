//! [`Stream`]: the socket of one end.

use super::Network;
use super::end::{End, Names, Phase, Segment};
use crate::driver::reactor::{Entry, Ready};
use crate::world::{Family, Host};
use std::fmt;
use std::io::{self, ErrorKind, IoSlice};
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;

/// A simulated connection. Dropping it closes it.
pub(crate) struct Stream {
    pub(super) host: Arc<Host>,
    pub(super) end: usize,
}

/// The result of one transfer: the bytes, and whether there are no more, or there is no more room, if they are fewer than
/// asked for.
pub(crate) type Moved = (usize, bool);

impl Stream {
    /// From now on the tasks of this entry are told.
    pub(crate) fn attach(&self, entry: &Arc<Entry>) {
        self.host.world.network().attach(self.end, entry);
    }

    /// Hands up to `room` bytes to `put`, in pieces. They stay if this only peeks.
    pub(crate) fn receive(
        &self,
        room: usize,
        peeks: bool,
        put: &mut dyn FnMut(&[u8]),
    ) -> io::Result<Moved> {
        self.host.world.network().receive(self.end, room, peeks, put)
    }

    pub(crate) fn send(&self, bufs: &[IoSlice<'_>]) -> io::Result<Moved> {
        self.host.world.network().write(self.end, bufs)
    }

    pub(crate) fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.host.world.network().shut_down(self.end, how)
    }

    pub(crate) fn take_error(&self) -> Option<io::Error> {
        self.host.world.network().ends[self.end].error.take().map(io::Error::from)
    }

    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        match self.host.world.network().ends[self.end].names {
            Names::Inet { local, .. } => Ok(local),
            #[cfg(unix)]
            Names::Unix { .. } => Err(ErrorKind::InvalidInput.into()),
        }
    }

    pub(crate) fn peer_addr(&self) -> io::Result<SocketAddr> {
        let network = self.host.world.network();
        let end = &network.ends[self.end];
        match end.names {
            Names::Inet { remote, .. } if end.phase == Phase::Open => Ok(remote),
            _ => Err(ErrorKind::NotConnected.into()),
        }
    }
}

#[cfg(unix)]
impl Stream {
    /// The addresses of this side, and of the other one. None is an address without a name.
    pub(crate) fn unix_addrs(
        &self,
    ) -> (Option<std::os::unix::net::SocketAddr>, Option<std::os::unix::net::SocketAddr>) {
        match &self.host.world.network().ends[self.end].names {
            Names::Unix { local, remote } => (local.clone(), remote.clone()),
            Names::Inet { .. } => (None, None),
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

    fn attach(&mut self, end: usize, entry: &Arc<Entry>) {
        self.ends[end].entry = Some(Arc::clone(entry));
        let has_room = self.ends[end].phase == Phase::Open && self.room_for(end) > 0;
        let room = if has_room { Ready::WRITABLE } else { Ready::EMPTY };
        let ready = self.ends[end].ready() | room;
        self.mark(Some(entry), ready);
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
        if of.available == 0 || of.has_ended_reading {
            let is_at_end = of.is_at_end || of.has_ended_reading;
            return match self.ends[end].error.take() {
                Some(error) => Err(error.into()),
                None if is_at_end => Ok((0, false)),
                None => Err(ErrorKind::WouldBlock.into()),
            };
        }
        let (all, peer) = (of.available.min(room), of.peer);
        if peeks {
            of.copy(all, put);
            return Ok((all, false));
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
        Ok((bytes, bytes == all))
    }

    fn write(&mut self, end: usize, bufs: &[IoSlice<'_>]) -> io::Result<Moved> {
        self.check(end)?;
        let of = &mut self.ends[end];
        if let Some(error) = of.error.take() {
            return Err(error.into());
        }
        if of.has_ended_writing {
            return Err(ErrorKind::BrokenPipe.into());
        }
        let (is_open, host, peer) = (of.phase == Phase::Open, of.host, of.peer);
        let len: usize = bufs.iter().map(|buf| buf.len()).sum();
        let all = self.ends[peer].room().min(len);
        if !is_open || (all == 0 && len > 0) {
            return Err(ErrorKind::WouldBlock.into());
        }
        if host != self.ends[peer].host && self.world.fault(Family::Reset, host) {
            self.send(peer, Segment::Reset);
            self.ends[end].fail();
            return Err(ErrorKind::ConnectionReset.into());
        }
        let part = self.piece_of(all, host);
        let mut data = Vec::with_capacity(part);
        for buf in bufs {
            let rest = part - data.len();
            data.extend_from_slice(&buf[..buf.len().min(rest)]);
        }
        self.ends[peer].on_the_way += part;
        self.send(peer, Segment::Data(data));
        Ok((part, part == all))
    }

    /// How many of these bytes are moved: all, or by a fault fewer.
    fn piece_of(&self, all: usize, host: usize) -> usize {
        if all > 1 && self.world.fault(Family::Pieces, host) {
            return if self.world.is_tails(Family::Pieces, host) { 1 } else { all.div_ceil(2) };
        }
        all
    }

    fn shut_down(&mut self, end: usize, how: Shutdown) -> io::Result<()> {
        let of = self.check(end)?;
        if of.phase != Phase::Open || (of.is_at_end && of.has_ended_writing) {
            return Err(ErrorKind::NotConnected.into());
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
        let (entry, ready) = (of.entry.clone(), of.ready() | read);
        self.mark(entry.as_ref(), ready);
        Ok(())
    }

    fn end_writing(&mut self, end: usize) {
        if !std::mem::replace(&mut self.ends[end].has_ended_writing, true) {
            self.send(self.ends[end].peer, Segment::End);
        }
    }

    /// The socket is dropped. As Linux does, it resets the connection if something has not been read.
    fn close(&mut self, end: usize) {
        match self.ends[end].available {
            0 => self.end_writing(end),
            _ => self.send(self.ends[end].peer, Segment::Reset),
        }
        self.ends[end].close();
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
