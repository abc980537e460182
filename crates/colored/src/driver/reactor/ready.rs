//! [`Interest`]: what a task waits for on a socket; and [`Ready`]: the readiness of a socket.

use colored_machine as machine;
use std::fmt;
use std::ops::BitOr;

/// What to wait for on a socket: reading, writing, on Linux and Android urgent data, or any of several.
///
/// ```
/// use colored::io::Interest;
///
/// let either = Interest::READABLE | Interest::WRITABLE;
/// assert!(either.is_readable() && either.is_writable());
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Interest(u8);

/// The operations that a socket is ready for.
///
/// This is a hint from the last event that the system reported: an operation that it promises may
/// still answer [`WouldBlock`](std::io::ErrorKind::WouldBlock).
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Ready(u8);

impl Interest {
    /// Data, a connection to accept, or the end of the stream.
    pub const READABLE: Interest = Interest(1 << 0);
    /// Room for data, or the news that it will never be taken.
    pub const WRITABLE: Interest = Interest(1 << 1);
    /// What the system calls an exceptional condition (`EPOLLPRI`): urgent data of a TCP connection, a pressure threshold
    /// (`/proc/pressure`), a changed file of `/proc` or `/sys`.
    ///
    /// Such an event may have no operation that takes it and then answers `WouldBlock`. Then let
    /// [`AsyncFd::try_io`](crate::io::AsyncFd::try_io) run one that answers so at once, and look at what has changed
    /// afterwards: later events count again.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub const PRIORITY: Interest = Interest(URGENT);

    /// True if this includes [`READABLE`](Interest::READABLE).
    pub const fn is_readable(self) -> bool {
        self.0 & Interest::READABLE.0 != 0
    }

    /// True if this includes [`WRITABLE`](Interest::WRITABLE).
    pub const fn is_writable(self) -> bool {
        self.0 & Interest::WRITABLE.0 != 0
    }

    /// True if this includes [`PRIORITY`](Interest::PRIORITY).
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub const fn is_priority(self) -> bool {
        self.is_urgent()
    }

    /// As `is_priority`, on all systems.
    pub(super) const fn is_urgent(self) -> bool {
        self.0 & URGENT != 0
    }

    pub(super) const fn bits(self) -> u8 {
        self.0
    }

    /// Everything that ends a wait for this interest. An error ends any wait: the operation that
    /// follows reports it. So does the end of the stream a wait for urgent data.
    pub(crate) const fn answered_by(self) -> Ready {
        let mut ends = self.0 & DIRECTIONS;
        if self.is_urgent() {
            ends |= Interest::READABLE.0;
        }
        Ready(self.0 | ends << CLOSED_SHIFT | Ready::ERROR.0)
    }
}

/// The flags of the directions, in both types.
const DIRECTIONS: u8 = Interest::READABLE.0 | Interest::WRITABLE.0;

/// The flag of urgent data, in both types.
const URGENT: u8 = 1 << 5;

/// From a direction to its closed flag.
const CLOSED_SHIFT: u8 = 2;

impl Ready {
    /// Ready for nothing.
    pub const EMPTY: Ready = Ready(0);
    /// Reading makes progress.
    pub const READABLE: Ready = Ready(Interest::READABLE.0);
    /// Writing makes progress.
    pub const WRITABLE: Ready = Ready(Interest::WRITABLE.0);
    /// Whether the peer has ended its direction: after the buffered bytes, reads return the end of the
    /// stream.
    pub const READ_CLOSED: Ready = Ready(machine::Ready::READ_CLOSED.bits());
    /// Nothing more can be written.
    pub const WRITE_CLOSED: Ready = Ready(machine::Ready::WRITE_CLOSED.bits());
    /// The socket has an error to report.
    pub const ERROR: Ready = Ready(machine::Ready::ERROR.bits());
    /// There is what [`Interest::PRIORITY`] asks for.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub const PRIORITY: Ready = Ready(URGENT);
    pub(super) const ALL: Ready = Ready(0b11_1111);

    /// True if no flag is set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// True if reading makes progress, be it towards the end of the stream.
    pub const fn is_readable(self) -> bool {
        self.0 & (Ready::READABLE.0 | Ready::READ_CLOSED.0) != 0
    }

    /// True if writing makes progress, be it towards an error.
    pub const fn is_writable(self) -> bool {
        self.0 & (Ready::WRITABLE.0 | Ready::WRITE_CLOSED.0) != 0
    }

    /// True if the peer has ended its direction.
    pub const fn is_read_closed(self) -> bool {
        self.0 & Ready::READ_CLOSED.0 != 0
    }

    /// True if nothing more can be written.
    pub const fn is_write_closed(self) -> bool {
        self.0 & Ready::WRITE_CLOSED.0 != 0
    }

    /// True if the socket has an error to report.
    pub const fn is_error(self) -> bool {
        self.0 & Ready::ERROR.0 != 0
    }

    /// True if there is what [`Interest::PRIORITY`] asks for.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub const fn is_priority(self) -> bool {
        self.0 & URGENT != 0
    }

    pub(super) const fn bits(self) -> u8 {
        self.0
    }

    pub(super) const fn from_bits(bits: u8) -> Ready {
        Ready(bits & Ready::ALL.0)
    }

    /// The readiness that a machine tells of: its flags have the numbers of these.
    pub(super) const fn of_machine(ready: machine::Ready) -> Ready {
        Ready::from_bits(ready.bits())
    }

    /// The flags that both have.
    pub(crate) const fn and(self, other: Ready) -> Ready {
        Ready(self.0 & other.0)
    }

    /// The readiness that one event of the system reports.
    pub(super) fn of(event: &mio::event::Event) -> Ready {
        let flag = |set: bool, flag: Ready| if set { flag } else { Ready::EMPTY };
        flag(event.is_readable(), Ready::READABLE)
            | flag(event.is_writable(), Ready::WRITABLE)
            | flag(event.is_read_closed(), Ready::READ_CLOSED)
            | flag(event.is_write_closed(), Ready::WRITE_CLOSED)
            | flag(event.is_error(), Ready::ERROR)
            | flag(event.is_priority(), Ready(URGENT))
    }
}

impl BitOr for Interest {
    type Output = Interest;
    fn bitor(self, other: Interest) -> Interest {
        Interest(self.0 | other.0)
    }
}

impl BitOr for Ready {
    type Output = Ready;
    fn bitor(self, other: Ready) -> Ready {
        Ready(self.0 | other.0)
    }
}

impl fmt::Debug for Interest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ready(self.0).fmt(f)
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ["READABLE", "WRITABLE", "READ_CLOSED", "WRITE_CLOSED", "ERROR", "PRIORITY"];
        let set = (0..).zip(names).filter(|(bit, _)| self.0 & 1 << bit != 0).map(|(_, name)| name);
        let set = set.collect::<Vec<_>>();
        f.write_str(if set.is_empty() { "EMPTY" } else { "" })?;
        f.write_str(&set.join(" | "))
    }
}
