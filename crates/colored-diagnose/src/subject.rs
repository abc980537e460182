//! [`Subject`]: the runtime, as the diagnosis sees it.

use crate::diagnosis::Diagnosis;
use colored_core::{Leaf, Scheduler};
#[cfg(unix)]
use std::io;
#[cfg(unix)]
use std::os::fd::BorrowedFd;
use std::panic::Location;
use std::time::{Duration, Instant};

/// A runtime that is diagnosed. All functions may be called from any thread, and wait for none.
pub trait Subject: Send + Sync {
    /// Its scheduler.
    fn scheduler(&self) -> &Scheduler;

    /// What is kept about it.
    fn diagnosis(&self) -> &Diagnosis;

    /// How to read what its tasks note when they wait, as of now.
    fn notes(&self) -> Notes;

    /// The blocking calls that have begun and not ended.
    fn calls(&self) -> Vec<Call>;

    /// Its timers.
    fn timers(&self) -> Timers;

    /// How often another thread has woken a worker that slept.
    fn wakes(&self) -> u64;

    /// The workers that are in use at the moment, without spare ones.
    fn active_workers(&self) -> usize;

    /// The user at the other end of a Unix socket.
    ///
    /// # Errors
    ///
    /// If the system does not tell.
    #[cfg(unix)]
    fn user_of_peer(&self, socket: BorrowedFd<'_>) -> io::Result<u32>;
}

/// A blocking call.
#[derive(Clone, Debug)]
pub struct Call {
    /// The name of its class.
    pub class: String,
    /// When it began.
    pub since: Instant,
    /// Where the program made it. None for an operation of a file.
    pub spawned: Option<&'static Location<'static>>,
}

/// Counts of timers.
#[derive(Clone, Copy, Debug)]
pub struct Timers {
    /// Timers that are set.
    pub pending: u64,
    /// Timers that have fired.
    pub fired: u64,
    /// Times that at least one timer was due.
    pub turns: u64,
}

/// How to read what tasks note when they wait.
#[derive(Clone, Copy, Debug)]
pub struct Notes {
    /// What a leaf says at this tick. None if the runtime does not know the leaf.
    pub read: fn(Leaf, u64) -> Option<Told>,
    /// Whether the runtime itself has made the blocking call of this place, for a file.
    pub is_of_files: fn(&Location<'_>) -> bool,
    /// The present of the runtime's clock.
    pub tick: u64,
}

impl Notes {
    /// What a leaf says.
    pub(crate) fn told(&self, leaf: Leaf) -> Option<Told> {
        (self.read)(leaf, self.tick)
    }
}

/// What a leaf says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// The kind.
    pub kind: Kind,
    /// The number of the descriptor, process, signal or lock.
    pub number: Option<u32>,
    /// For a timer: the time until its deadline.
    pub left: Option<Duration>,
}

/// The kinds of waits for something that is no task and no color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A descriptor has nothing to read.
    Readable,
    /// A descriptor has no room to write.
    Writable,
    /// A listener has no connection.
    Accept,
    /// The other side has not answered an attempt to connect.
    Connect,
    /// A timer.
    Timer,
    /// The timer of a timeout, when the task waits for nothing else that is known.
    Timeout,
    /// An operation of a file.
    File,
    /// The end of a child process.
    Child,
    /// A signal.
    Signal,
    /// A lock.
    Lock,
    /// A permit of a semaphore.
    Permit,
    /// A channel has no value.
    Receive,
    /// A channel has no room.
    Send,
    /// Another task's signal.
    Notified,
}

impl Told {
    /// The descriptor that the task waits for, if it is one.
    pub(crate) fn descriptor(self) -> Option<u32> {
        let is_one =
            matches!(self.kind, Kind::Readable | Kind::Writable | Kind::Accept | Kind::Connect);
        self.number.filter(|_| is_one)
    }
}

impl Kind {
    /// The words of a text in front of the number.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Readable => "waits until there is something to read",
            Self::Writable => "waits until there is room to write",
            Self::Timer => "sleeps",
            Self::Timeout => "waits for something of its own, with a timeout",
            Self::File => "waits for an operation of a file",
            Self::Child => "waits for the end of the process",
            Self::Signal => "waits for the signal",
            Self::Accept => "waits for a connection",
            Self::Connect => "waits for the answer to an attempt to connect",
            Self::Permit => "waits for a permit",
            Self::Lock => "waits for a lock",
            Self::Receive => "waits for a value of a channel",
            Self::Send => "waits for room in a channel",
            Self::Notified => "waits for a signal of another task",
        }
    }
}
