//! [`Error`]: why a value was not stored or read.

use crate::id::Id;
use colored::time::Duration;
use std::fmt;
use std::io;
use std::net::SocketAddrV4;
use std::path::PathBuf;

/// Why something was not stored or read.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// No node that answers knows the owner of a key.
    Lost,
    /// A node could not join: none of these processes leads to a member of the ring.
    NoRing(Vec<SocketAddrV4>),
    /// No asked node has a value for the key that belongs to it. All of them have answered.
    NotFound(Id),
    /// Nodes that should have the value of the key do not answer, or have left the ring.
    Unreachable(Id),
    /// The values could not be stored at so many processes.
    TooFewCopies {
        /// How many have it.
        copies: usize,
        /// How many should.
        wanted: usize,
    },
    /// All attempts have failed, for as long as [`Settings::patience`](crate::Settings::patience) says.
    GaveUp {
        /// How long it was tried.
        tried: Duration,
        /// Why the last attempt failed.
        why: Box<Error>,
    },
    /// There is another record of this key, with this sequence number or a higher one.
    OutOfDate,
    /// A value has too many bytes, or a name, or there are too many levels.
    TooLarge(&'static str),
    /// A signed tree has not the form that it should have.
    Malformed(&'static str),
    /// The path leads nowhere, or to a file in place of a directory, or the reverse.
    NoSuchPath(String),
    /// A file is neither a regular file nor a directory.
    NoFile(PathBuf),
    /// The disk or the network of this machine.
    Io(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost => f.write_str("no node that answers knows the owner of the key"),
            Self::NoRing(asked) => write!(f, "no process leads into the ring, of {asked:?}"),
            Self::NotFound(key) => write!(f, "no asked node has the value of the key {key}"),
            Self::Unreachable(key) => {
                write!(f, "nodes that should have the value of the key {key} do not answer")
            }
            Self::GaveUp { tried, why } => {
                write!(f, "{why}; tried for {:.1} s", tried.as_secs_f64())
            }
            Self::TooFewCopies { copies, wanted } => {
                write!(f, "{copies} processes keep the value, and {wanted} should")
            }
            Self::OutOfDate => f.write_str("there is a newer record of this key"),
            Self::TooLarge(what) => write!(f, "too large: {what}"),
            Self::Malformed(what) => write!(f, "the signed tree is malformed: {what}"),
            Self::NoSuchPath(path) => write!(f, "no such path: {path:?}"),
            Self::NoFile(path) => {
                write!(f, "{} is neither a regular file nor a directory", path.display())
            }
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
