//! [`Either`]: a socket of the system, or a simulated one.

use std::fmt;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use mio::event::Source;
use mio::{Interest, Registry, Token};
use socket2::SockRef;

use crate::driver::reactor::{self, Entry};
use crate::net::socket::{Moved, Socket};
use crate::net::uninit::Mode;
use crate::wait_reason::NO_DESCRIPTOR;
use crate::world::network::{Datagrams, Listener, Stream};

/// A socket of the system, or a simulated one.
///
/// It is also, by `Deref`, a socket of the system that has the options. That of a simulated socket is made when an option is
/// used first, and is never connected: the options are those of the system, and a call that moves data by its descriptor
/// fails.
pub(in crate::net) enum Either<M, S> {
    System(M),
    Simulated { socket: S, options: OnceLock<M> },
}

/// A kind of socket of the system.
pub(in crate::net) trait Unbound: Sized {
    /// A socket that is neither bound nor connected.
    fn unbound() -> io::Result<Self>;
}

/// A kind of simulated socket.
pub(in crate::net) trait Simulated {
    fn attach(&self, entry: &Arc<Entry>);
}

macro_rules! simulated {
    ($($type:ty),*) => {$(
        impl Simulated for $type {
            fn attach(&self, entry: &Arc<Entry>) {
                <$type>::attach(self, entry);
            }
        }
    )*};
}

simulated!(Stream, Listener, Datagrams);

impl<M, S> Either<M, S> {
    pub(super) fn simulated(socket: S) -> Self {
        Either::Simulated { socket, options: OnceLock::new() }
    }

    /// The socket of the system, given away. A simulated one has none to give: its shard has refused that.
    pub(super) fn into_system(self) -> M {
        match self {
            Either::System(socket) => socket,
            Either::Simulated { .. } => unreachable!("a simulated socket stays registered"),
        }
    }
}

impl<M: Unbound, S> Deref for Either<M, S> {
    type Target = M;

    fn deref(&self) -> &M {
        match self {
            Either::System(socket) => socket,
            Either::Simulated { options, .. } => options.get_or_init(|| {
                let made = M::unbound();
                made.unwrap_or_else(|error| {
                    panic!("no descriptor for the options of a socket: {error}")
                })
            }),
        }
    }
}

#[cfg(unix)]
impl<M: Unbound + std::os::fd::AsFd, S> std::os::fd::AsFd for Either<M, S> {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        (**self).as_fd()
    }
}

#[cfg(windows)]
impl<M: Unbound + std::os::windows::io::AsSocket, S> std::os::windows::io::AsSocket
    for Either<M, S>
{
    fn as_socket(&self) -> std::os::windows::io::BorrowedSocket<'_> {
        (**self).as_socket()
    }
}

impl<M: Source, S> Source for Either<M, S> {
    fn register(&mut self, registry: &Registry, token: Token, to: Interest) -> io::Result<()> {
        match self {
            Either::System(socket) => socket.register(registry, token, to),
            Either::Simulated { .. } => Ok(()),
        }
    }

    fn reregister(&mut self, registry: &Registry, token: Token, to: Interest) -> io::Result<()> {
        match self {
            Either::System(socket) => socket.reregister(registry, token, to),
            Either::Simulated { .. } => Ok(()),
        }
    }

    fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        match self {
            Either::System(socket) => socket.deregister(registry),
            Either::Simulated { .. } => Ok(()),
        }
    }
}

impl<M: reactor::Socket, S: Simulated> reactor::Socket for Either<M, S> {
    fn number(&self) -> u32 {
        match self {
            Either::System(socket) => socket.number(),
            Either::Simulated { .. } => NO_DESCRIPTOR,
        }
    }

    fn is_simulated(&self) -> bool {
        matches!(self, Either::Simulated { .. })
    }

    fn attach(&self, entry: &Arc<Entry>) {
        if let Either::Simulated { socket, .. } = self {
            socket.attach(entry);
        }
    }
}

impl<M: Socket + Unbound> Socket for Either<M, Stream> {
    const HAS_ANCILLARY: bool = M::HAS_ANCILLARY;

    fn system(&self) -> SockRef<'_> {
        (**self).system()
    }

    fn try_io<T>(&self, operation: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        match self {
            Either::System(socket) => Socket::try_io(socket, operation),
            Either::Simulated { .. } => operation(),
        }
    }

    fn read(&self, buf: &mut [u8]) -> io::Result<Moved> {
        match self {
            Either::System(socket) => Socket::read(socket, buf),
            Either::Simulated { .. } => self.read_vectored(&mut [IoSliceMut::new(buf)]),
        }
    }

    fn read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<Moved> {
        match self {
            Either::System(socket) => Socket::read_vectored(socket, bufs),
            Either::Simulated { socket, .. } => {
                let room = bufs.iter().map(|buf| buf.len()).sum();
                let mut all = bufs.iter_mut().flat_map(|buf| buf.iter_mut());
                let mut put = |piece: &[u8]| {
                    for (to, from) in all.by_ref().zip(piece) {
                        *to = *from;
                    }
                };
                moved(socket.receive(room, false, &mut put))
            }
        }
    }

    fn write(&self, buf: &[u8]) -> io::Result<Moved> {
        match self {
            Either::System(socket) => Socket::write(socket, buf),
            Either::Simulated { socket, .. } => moved(socket.send(&[IoSlice::new(buf)])),
        }
    }

    fn write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<Moved> {
        match self {
            Either::System(socket) => Socket::write_vectored(socket, bufs),
            Either::Simulated { socket, .. } => moved(socket.send(bufs)),
        }
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        match self {
            Either::System(socket) => Socket::shutdown(socket, how),
            Either::Simulated { socket, .. } => socket.shutdown(how),
        }
    }

    fn receive_simulated(
        &self,
        buf: &mut [MaybeUninit<u8>],
        mode: Mode,
    ) -> Option<io::Result<Moved>> {
        let Either::Simulated { socket, .. } = self else { return None };
        let (room, peeks) = (buf.len(), matches!(mode, Mode::Peek));
        let mut filled = 0;
        let mut put = |piece: &[u8]| {
            for (to, from) in buf[filled..filled + piece.len()].iter_mut().zip(piece) {
                to.write(*from);
            }
            filled += piece.len();
        };
        Some(moved(socket.receive(room, peeks, &mut put)))
    }
}

fn moved(moved: io::Result<(usize, bool)>) -> io::Result<Moved> {
    moved.map(|(bytes, is_all)| Moved { bytes, is_all })
}

impl<M: fmt::Debug, S: fmt::Debug> fmt::Debug for Either<M, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Either::System(socket) => socket.fmt(f),
            Either::Simulated { socket, .. } => socket.fmt(f),
        }
    }
}
