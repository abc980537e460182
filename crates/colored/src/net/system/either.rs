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

use colored_machine as machine;

use crate::driver::reactor::{self, Entry};
use crate::driver::simulated::Simulated;
use crate::net::socket::{Moved, Socket};
use crate::net::uninit::Mode;
use crate::services::current;
use crate::wait_reason::NO_DESCRIPTOR;

/// A socket of the system, or one of a simulation.
///
/// It is also, by `Deref`, a socket of the system that has the options. That of a simulated socket is made when an option is
/// used first, and is never connected: the options are those of the system, and a call that moves data by its descriptor
/// fails.
pub(in crate::net) enum Either<M: Kind> {
    System(M),
    Simulated(Simulated<InSimulation<M>>),
}

pub(in crate::net) struct InSimulation<M: Kind> {
    pub(super) socket: Box<M::Simulated>,
    options: OnceLock<M>,
}

/// A kind of socket of the system.
pub(in crate::net) trait Kind: Sized {
    /// That of a simulation.
    type Simulated: machine::Socket + ?Sized;

    /// A socket that is neither bound nor connected.
    fn unbound() -> io::Result<Self>;
}

impl<M: Kind> Either<M> {
    /// One that is opened where this runs: `system` opens one of the system, and `machine` one of a simulation.
    pub(super) fn open(
        system: impl FnOnce() -> io::Result<M>,
        machine: impl FnOnce(&dyn machine::Machine) -> io::Result<Box<M::Simulated>>,
    ) -> io::Result<Self> {
        match current::machine() {
            None => system().map(Either::System),
            Some(of) => of.try_map(|of| machine(&*of)).map(Either::simulated),
        }
    }

    /// What the socket answers to `system`, if it is one of the system, and to `simulated` otherwise.
    pub(super) fn ask<R>(
        &self,
        system: impl FnOnce(&M) -> R,
        simulated: impl FnOnce(&M::Simulated) -> R,
    ) -> R {
        match self {
            Either::System(socket) => system(socket),
            Either::Simulated(of) => simulated(&of.socket),
        }
    }

    pub(in crate::net) fn take_error(&self) -> io::Result<Option<io::Error>>
    where
        for<'a> SockRef<'a>: From<&'a M>,
    {
        let simulated = |of: &M::Simulated| Ok(machine::Socket::take_error(of));
        self.ask(|socket| SockRef::from(socket).take_error(), simulated)
    }

    pub(super) fn simulated(socket: Simulated<Box<M::Simulated>>) -> Self {
        Either::Simulated(socket.map(|socket| InSimulation { socket, options: OnceLock::new() }))
    }

    /// With this socket for the options.
    pub(super) fn simulated_with(socket: Simulated<Box<M::Simulated>>, options: M) -> Self {
        Either::Simulated(socket.map(|socket| InSimulation { socket, options: options.into() }))
    }

    /// The socket of the system, given away. A simulated one has none to give: its shard has refused that.
    pub(super) fn into_system(self) -> M {
        match self {
            Either::System(socket) => socket,
            Either::Simulated(_) => unreachable!("a simulated socket stays registered"),
        }
    }
}

impl<M: Kind> Deref for Either<M> {
    type Target = M;

    fn deref(&self) -> &M {
        match self {
            Either::System(socket) => socket,
            Either::Simulated(of) => of.options.get_or_init(|| {
                let made = M::unbound();
                made.unwrap_or_else(|error| {
                    panic!("no descriptor for the options of a socket: {error}")
                })
            }),
        }
    }
}

#[cfg(unix)]
impl<M: Kind + std::os::fd::AsFd> std::os::fd::AsFd for Either<M> {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        (**self).as_fd()
    }
}

#[cfg(windows)]
impl<M: Kind + std::os::windows::io::AsSocket> std::os::windows::io::AsSocket for Either<M> {
    fn as_socket(&self) -> std::os::windows::io::BorrowedSocket<'_> {
        (**self).as_socket()
    }
}

impl<M: Kind + Source> Source for Either<M> {
    fn register(&mut self, registry: &Registry, token: Token, to: Interest) -> io::Result<()> {
        match self {
            Either::System(socket) => socket.register(registry, token, to),
            Either::Simulated(_) => Ok(()),
        }
    }

    fn reregister(&mut self, registry: &Registry, token: Token, to: Interest) -> io::Result<()> {
        match self {
            Either::System(socket) => socket.reregister(registry, token, to),
            Either::Simulated(_) => Ok(()),
        }
    }

    fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        match self {
            Either::System(socket) => socket.deregister(registry),
            Either::Simulated(_) => Ok(()),
        }
    }
}

impl<M: Kind + reactor::Socket> reactor::Socket for Either<M> {
    fn number(&self) -> u32 {
        self.ask(reactor::Socket::number, |_| NO_DESCRIPTOR)
    }

    fn is_simulated(&self) -> bool {
        matches!(self, Either::Simulated(_))
    }

    fn attach(&self, entry: &Arc<Entry>) {
        if let Either::Simulated(of) = self {
            machine::Socket::attach(&*of.socket, Arc::clone(entry) as Arc<dyn machine::Tasks>);
        }
    }
}

impl<M: Socket + Kind<Simulated = dyn machine::Stream>> Socket for Either<M> {
    const HAS_ANCILLARY: bool = M::HAS_ANCILLARY;

    fn system(&self) -> SockRef<'_> {
        (**self).system()
    }

    fn try_io<T>(&self, operation: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        match self {
            Either::System(socket) => Socket::try_io(socket, operation),
            Either::Simulated(_) => operation(),
        }
    }

    fn read(&self, buf: &mut [u8]) -> io::Result<Moved> {
        match self {
            Either::System(socket) => Socket::read(socket, buf),
            Either::Simulated(_) => self.read_vectored(&mut [IoSliceMut::new(buf)]),
        }
    }

    fn read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<Moved> {
        match self {
            Either::System(socket) => Socket::read_vectored(socket, bufs),
            Either::Simulated(of) => {
                let room = bufs.iter().map(|buf| buf.len()).sum();
                let mut all = bufs.iter_mut().flat_map(|buf| buf.iter_mut());
                let mut put = |piece: &[u8]| {
                    // In this order: `zip` takes from its first iterator before it sees that the second one has ended.
                    for (from, to) in piece.iter().zip(all.by_ref()) {
                        *to = *from;
                    }
                };
                of.socket.receive(room, false, &mut put)
            }
        }
    }

    fn write(&self, buf: &[u8]) -> io::Result<Moved> {
        self.ask(|socket| Socket::write(socket, buf), |of| of.send(&[IoSlice::new(buf)]))
    }

    fn write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<Moved> {
        self.ask(|socket| Socket::write_vectored(socket, bufs), |of| of.send(bufs))
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.ask(|socket| Socket::shutdown(socket, how), |of| of.shutdown(how))
    }

    fn receive_simulated(
        &self,
        buf: &mut [MaybeUninit<u8>],
        mode: Mode,
    ) -> Option<io::Result<Moved>> {
        let Either::Simulated(of) = self else { return None };
        let (room, peeks) = (buf.len(), matches!(mode, Mode::Peek));
        let mut filled = 0;
        let mut put = |piece: &[u8]| {
            for (to, from) in buf[filled..filled + piece.len()].iter_mut().zip(piece) {
                to.write(*from);
            }
            filled += piece.len();
        };
        let moved = of.socket.receive(room, peeks, &mut put);
        // Unsafe code relies on the count, and the machine is code of another crate.
        Some(
            moved.inspect(|moved| {
                assert!(moved.bytes <= filled, "{} of {filled} bytes", moved.bytes)
            }),
        )
    }
}

impl<M: Kind + fmt::Debug> fmt::Debug for Either<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Either::System(socket) => socket.fmt(f),
            Either::Simulated(of) => of.socket.fmt(f),
        }
    }
}
