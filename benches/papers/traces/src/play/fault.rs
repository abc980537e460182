//! What can be wrong with a request.

use std::fmt;
use std::io;

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The server did not accept a connection.
    Connect,
    /// The server did not read or write for longer than the time-out.
    Timeout,
    /// The connection broke or ended before the response did.
    Broken,
    /// The response is not HTTP/1.1 with a `content-length`.
    Malformed,
    /// The status is not 200.
    Status,
    /// The length is not the size of the file.
    Length,
    /// The body is not the content of the file.
    Content,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::Connect,
        Self::Timeout,
        Self::Broken,
        Self::Malformed,
        Self::Status,
        Self::Length,
        Self::Content,
    ];

    /// The name of the kind in a report.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Timeout => "timeout",
            Self::Broken => "broken",
            Self::Malformed => "malformed",
            Self::Status => "status",
            Self::Length => "length",
            Self::Content => "content",
        }
    }
}

/// What was wrong with a request.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) kind: FaultKind,
    text: String,
}

impl Fault {
    pub(super) fn new(kind: FaultKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    /// The fault of a broken connection.
    pub(super) fn of_io(error: &io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => FaultKind::Timeout,
            _ => FaultKind::Broken,
        };
        Self::new(kind, error.to_string())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.text)
    }
}
