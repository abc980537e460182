//! What a runtime asks of its system, where a simulation answers in place of the real one.
//!
//! A runtime that is made for a [`Machine`] asks it for the time, for sockets, names and files. Any other runtime has none, and
//! never looks here. No call waits: one that would have to answers [`WouldBlock`](io::ErrorKind::WouldBlock), and the machine
//! tells the [`Tasks`] of the socket later.

#![cfg_attr(docsrs, feature(doc_cfg))]

use std::ffi::OsString;
use std::fmt::Debug;
use std::fs::{FileType, Metadata, Permissions};
use std::io::{self, IoSlice};
use std::net::{Shutdown, SocketAddr};
use std::ops::BitOr;
#[cfg(unix)]
use std::os::unix::net::SocketAddr as UnixAddr;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::task::Waker;
use std::time::{Instant, SystemTime};

/// The nanoseconds of a tick of a clock, to which timers are rounded: 1/64 ms, a fraction of the time that a system takes to
/// wake a thread.
pub const TICK: u64 = 15_625;

/// A machine. It outlives the runtimes that run on it, one after the other.
pub trait Machine: Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// Its name.
    fn name(&self) -> &str;

    /// When its clock began. Clocks with one origin agree.
    fn origin(&self) -> Instant;

    /// What its clock shows, in nanoseconds since the origin.
    fn now(&self) -> u64;

    /// The time of day.
    fn system_time(&self) -> SystemTime;

    /// The addresses of a name.
    ///
    /// # Errors
    ///
    /// If nothing has the name.
    fn look_up(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>>;

    /// Begins to connect, from any address.
    ///
    /// # Errors
    ///
    /// As of the system.
    fn connect(&self, to: SocketAddr) -> io::Result<Box<dyn Stream>>;

    /// A socket for streams, of IPv6 or of IPv4.
    fn socket(&self, is_v6: bool) -> Box<dyn Unconnected>;

    /// Binds a socket for datagrams.
    ///
    /// # Errors
    ///
    /// As of the system.
    fn bind_datagrams(&self, to: SocketAddr) -> io::Result<Box<dyn Datagrams>>;

    /// Connects to a listener of this machine.
    ///
    /// # Errors
    ///
    /// As of the system.
    #[cfg(unix)]
    fn connect_unix(&self, to: &UnixAddr) -> io::Result<Box<dyn Stream>>;

    /// Listens on a name of this machine: a path gets a file.
    ///
    /// # Errors
    ///
    /// As of the system.
    #[cfg(unix)]
    fn bind_unix(&self, to: &UnixAddr) -> io::Result<Box<dyn Listener>>;

    /// Two streams that are connected to each other.
    #[cfg(unix)]
    fn unix_pair(&self) -> [Box<dyn Stream>; 2];

    /// Its files.
    fn files(&self) -> &dyn Files;
}

/// The files of a [`Machine`]. A method fails with the error that the system would give.
pub trait Files {
    /// Whether a call that could be answered at once is left to a blocking thread.
    fn is_deferred(&self) -> bool;

    /// Opens a file.
    fn open(&self, path: &Path, options: &OpenOptions) -> io::Result<Box<dyn File>>;

    /// The metadata of what is at a path, or of a symbolic link itself.
    fn look_at(&self, path: &Path, follow: bool) -> io::Result<Metadata>;

    /// The entries of a directory, by their names.
    fn read_dir(&self, path: &Path) -> io::Result<Vec<(OsString, io::Result<FileType>)>>;

    /// Makes a directory, or all that are not there on the way to it. Without a mode, that of the system.
    fn create_dir(&self, path: &Path, all: bool, mode: Option<u32>) -> io::Result<()>;

    /// Changes permissions.
    fn set_permissions(&self, path: &Path, permissions: Permissions) -> io::Result<()>;

    /// As [`std::fs::copy`].
    fn copy(&self, from: &Path, to: &Path) -> io::Result<u64>;

    /// As [`std::fs::rename`].
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// As [`std::fs::hard_link`].
    fn hard_link(&self, original: &Path, link: &Path) -> io::Result<()>;

    /// As `symlink` of Unix.
    #[cfg(unix)]
    fn symlink(&self, original: &Path, link: &Path) -> io::Result<()>;

    /// As [`std::fs::remove_file`].
    fn remove_file(&self, path: &Path) -> io::Result<()>;

    /// As [`std::fs::remove_dir`].
    fn remove_dir(&self, path: &Path) -> io::Result<()>;

    /// As [`std::fs::remove_dir_all`].
    fn remove_dir_all(&self, path: &Path) -> io::Result<()>;

    /// As [`std::fs::read_link`].
    fn read_link(&self, path: &Path) -> io::Result<PathBuf>;

    /// As [`std::fs::canonicalize`].
    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf>;

    /// As [`std::fs::write`].
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
}

/// How to open a file, as [`std::fs::OpenOptions`].
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenOptions {
    /// It can be read.
    pub read: bool,
    /// It can be written.
    pub write: bool,
    /// Each write goes to its end.
    pub append: bool,
    /// It is emptied.
    pub truncate: bool,
    /// It is made if it does not exist.
    pub create: bool,
    /// It must not exist, and is made.
    pub create_new: bool,
    /// The permissions of a new file.
    pub mode: Option<u32>,
    /// More flags of the system's call.
    pub flags: i32,
}

/// An open file. Dropping it closes it. A method fails with the error that the system would give.
pub trait File: Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// As [`Files::is_deferred`].
    fn is_deferred(&self) -> bool;

    /// Reads once at an offset.
    fn read(&self, buf: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes once at an offset; to a file in append mode, at the end.
    fn write(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;

    /// The position, if there may be one: a file has all that the system can name.
    fn seek(&self, to: u64) -> io::Result<u64>;

    /// Its length.
    fn length(&self) -> io::Result<u64>;

    /// Changes the length.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Its metadata.
    fn metadata(&self) -> io::Result<Metadata>;

    /// Changes its permissions.
    fn set_permissions(&self, permissions: Permissions) -> io::Result<()>;

    /// Brings its bytes to the device, and its metadata if `all`.
    fn sync(&self, all: bool) -> io::Result<()>;

    /// Another value of the same open file.
    fn try_clone(&self) -> io::Result<Box<dyn File>>;
}

impl dyn File + '_ {
    /// The result of the call; `None` if it is left to a blocking thread.
    ///
    /// # Errors
    ///
    /// The call's error.
    pub fn unless_deferred<T>(
        &self,
        call: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<Option<T>> {
        if self.is_deferred() { Ok(None) } else { call().map(Some) }
    }
}

/// A socket of a [`Machine`]. Dropping it closes it. A method fails with the error that the system would give.
pub trait Socket: Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// From now on these tasks are told.
    fn attach(&self, tasks: Arc<dyn Tasks>);

    /// The address of this side.
    fn local_addr(&self) -> io::Result<SocketAddr>;

    /// Takes the error that is to be reported.
    fn take_error(&self) -> Option<io::Error>;
}

/// A socket that is neither connected nor listens. A method fails with the error that the system would give.
pub trait Unconnected: Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// Takes an address.
    fn bind(&self, to: SocketAddr, options: BindOptions) -> io::Result<()>;

    /// The address; `None` if it has none.
    fn local_addr(&self) -> Option<io::Result<SocketAddr>>;

    /// Begins to connect.
    fn connect(self: Box<Self>, to: SocketAddr) -> io::Result<Box<dyn Stream>>;

    /// Listens. At most `backlog` connections wait. A socket without an address takes one with these options.
    fn listen(
        self: Box<Self>,
        backlog: usize,
        options: BindOptions,
    ) -> io::Result<Box<dyn Listener>>;
}

/// A connection. A method fails with the error that the system would give.
pub trait Stream: Socket {
    /// Hands up to `room` bytes to `put`, in pieces. They stay if this only peeks.
    fn receive(&self, room: usize, peeks: bool, put: &mut dyn FnMut(&[u8])) -> io::Result<Moved>;

    /// Sends what there is room for.
    fn send(&self, bufs: &[IoSlice<'_>]) -> io::Result<Moved>;

    /// Ends one direction or both.
    fn shutdown(&self, how: Shutdown) -> io::Result<()>;

    /// The address of the other side.
    fn peer_addr(&self) -> io::Result<SocketAddr>;

    /// The address of the side that has connected, also if the connection is over already.
    fn connected_addr(&self) -> io::Result<SocketAddr>;

    /// The addresses of this side, and of the other one. None is an address without a name.
    #[cfg(unix)]
    fn unix_addrs(&self) -> [Option<UnixAddr>; 2];
}

/// The result of one transfer.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    /// How many bytes. If something was to be read, 0 is the end of the stream.
    pub bytes: usize,
    /// Whether there are no more to read, or there is no more room, if they are fewer than asked for.
    pub is_all: bool,
}

/// A listener. A method fails with the error that the system would give.
pub trait Listener: Socket {
    /// Takes a connection that waits.
    fn accept(&self) -> io::Result<Box<dyn Stream>>;

    /// The address of a listener of the machine itself.
    #[cfg(unix)]
    fn unix_addr(&self) -> Option<UnixAddr>;
}

/// What else may have the address of a socket: the options of the system's socket.
#[derive(Clone, Copy, Debug, Default)]
pub struct BindOptions {
    /// `IPV6_V6ONLY`: one for IPv6 takes nothing of IPv4.
    pub only_v6: bool,
    /// `SO_REUSEADDR`: what does not listen, and connections, if they permit it too.
    pub reuses: bool,
    /// `SO_REUSEPORT`: others may listen at the same place, if they permit it too.
    pub shares: bool,
}

/// A socket for datagrams. A method fails with the error that the system would give.
pub trait Datagrams: Socket {
    /// Sends to that address, or to the peer.
    fn send(&self, datagram: &[u8], to: Option<SocketAddr>) -> io::Result<usize>;

    /// Copies the next datagram to the start of `buf`, as far as there is room, and returns how long that is. It stays if
    /// this only peeks.
    fn receive(&self, buf: &mut [u8], peeks: bool) -> io::Result<(usize, SocketAddr)>;

    /// Chooses the peer.
    fn connect(&self, peer: SocketAddr) -> io::Result<()>;

    /// The peer.
    fn peer_addr(&self) -> io::Result<SocketAddr>;
}

/// The tasks that wait for a socket.
pub trait Tasks: Send + Sync + UnwindSafe + RefUnwindSafe {
    /// The socket is ready for that. Appends the wakers to call.
    fn mark(&self, ready: Ready, wakers: &mut Vec<Waker>);
}

/// What a socket is ready for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ready(u8);

impl Ready {
    /// Nothing.
    pub const EMPTY: Ready = Ready(0);
    /// Reading makes progress.
    pub const READABLE: Ready = Ready(1 << 0);
    /// Writing makes progress.
    pub const WRITABLE: Ready = Ready(1 << 1);
    /// The peer has ended its direction.
    pub const READ_CLOSED: Ready = Ready(1 << 2);
    /// Nothing more can be written.
    pub const WRITE_CLOSED: Ready = Ready(1 << 3);
    /// There is an error to report.
    pub const ERROR: Ready = Ready(1 << 4);

    /// As a number.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }
}

impl BitOr for Ready {
    type Output = Ready;
    fn bitor(self, other: Ready) -> Ready {
        Ready(self.0 | other.0)
    }
}
