//! Which process is at the other end of a connection.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use super::stream::UnixStream;

mod system;

/// The user, the group and the process at the other end of a connection, as they were when it connected, or made the pair;
/// of a listener, when it began to listen.
///
/// The system vouches for them: the other process cannot choose them. They are the effective ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UCred {
    uid: u32,
    gid: u32,
    pid: Option<u32>,
}

impl UCred {
    /// The number of the user.
    #[must_use]
    pub const fn uid(&self) -> u32 {
        self.uid
    }

    /// The number of the group.
    #[must_use]
    pub const fn gid(&self) -> u32 {
        self.gid
    }

    /// The number of the process, which may have ended since, and another one may have the number; so do not decide by it
    /// what the other side may do. `None` where the system does not tell, which is everywhere but on Linux, Android and the
    /// systems of Apple; and for a process outside this one's PID namespace.
    #[must_use]
    pub const fn pid(&self) -> Option<u32> {
        self.pid
    }
}

impl UnixStream {
    /// The user, the group and, where the system tells, the process at the other end.
    ///
    /// ```
    /// use colored::net::UnixStream;
    ///
    /// # #[colored::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let (one, _other) = UnixStream::pair()?;
    /// let peer = one.peer_cred()?;
    /// assert_eq!(peer.uid(), rustix::process::geteuid().as_raw());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Unsupported`](io::ErrorKind::Unsupported) where the system has no such call: all but Linux, Android, the BSDs and
    /// the systems of Apple.
    pub fn peer_cred(&self) -> io::Result<UCred> {
        of_peer(self.socket().as_fd())
    }
}

/// Reads the credentials of the process at the other end of a connection.
pub(crate) fn of_peer(socket: BorrowedFd<'_>) -> io::Result<UCred> {
    system::of_peer(socket)
}
