//! [`End`]: one end of a stream.

use colored_machine::{Ready, Tasks};
use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;

/// What goes from one end to the other.
pub(super) enum Segment {
    /// The first one: it asks a listener.
    Ask,
    /// The listener has taken the connection.
    Taken,
    Data(Vec<u8>),
    /// The sender writes no more.
    End,
    /// The connection is broken.
    Reset,
    /// The receiver of data has room again.
    Room,
}

impl Segment {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Segment::Ask => "a connect",
            Segment::Taken => "the answer to a connect",
            Segment::Data(_) => "data",
            Segment::End => "the end of a stream",
            Segment::Reset => "a reset",
            Segment::Room => "news of room",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Not answered yet.
    Connecting,
    Open,
    /// No socket has it any more.
    Closed,
}

/// Who an end is, and who the other one.
#[derive(Clone, Debug)]
pub(super) enum Names {
    Inet {
        local: SocketAddr,
        remote: SocketAddr,
    },
    #[cfg(unix)]
    Unix {
        local: Option<std::os::unix::net::SocketAddr>,
        remote: Option<std::os::unix::net::SocketAddr>,
    },
}

/// One end of a stream: its state, and the direction towards it.
pub(super) struct End {
    pub(super) host: usize,
    /// The boots of the host when the socket was made.
    pub(super) boots: u64,
    pub(super) names: Names,
    /// The other end.
    pub(super) peer: usize,
    pub(super) phase: Phase,
    pub(super) tasks: Option<Arc<dyn Tasks>>,
    /// To be reported by the next operation.
    pub(super) error: Option<ErrorKind>,
    /// The socket writes no more.
    pub(super) has_ended_writing: bool,
    /// What has arrived.
    arrived: VecDeque<Vec<u8>>,
    /// Bytes of the first piece that have been read.
    read: usize,
    /// Bytes that can be read.
    pub(super) available: usize,
    /// No more will arrive.
    pub(super) is_at_end: bool,
    /// The socket reads no more.
    pub(super) has_ended_reading: bool,
    /// Bytes on their way to this end.
    pub(super) on_the_way: usize,
    /// Bytes that have been read, of which the sender has not heard.
    pub(super) unheard: usize,
    /// The most bytes on the way, and unread.
    capacity: usize,
    /// What arrived while this end was out of reach. The sender repeats it.
    pub(super) held: VecDeque<Segment>,
    /// How often something began to be held.
    pub(super) times_held: u64,
    /// When the last segment to this end is due.
    pub(super) last_due: u64,
    /// The other end has said that it writes no more.
    pub(super) has_heard_end: bool,
    /// This one has said so first.
    pub(super) has_ended_first: bool,
    /// Its socket, or its listener, permits others to reuse its address.
    pub(super) reuses: bool,
    /// Until when its address is kept after it was closed before the other end: TIME_WAIT.
    pub(super) lingers_until: u64,
}

/// How many bytes a direction of a stream holds.
const CAPACITY: usize = 64 << 10;
const SMALL_CAPACITY: usize = 256;

impl End {
    pub(super) fn new(host: usize, boots: u64, names: Names, peer: usize, is_small: bool) -> End {
        End {
            host,
            boots,
            names,
            peer,
            phase: Phase::Connecting,
            tasks: None,
            error: None,
            has_ended_writing: false,
            arrived: VecDeque::new(),
            read: 0,
            available: 0,
            is_at_end: false,
            has_ended_reading: false,
            on_the_way: 0,
            unheard: 0,
            capacity: if is_small { SMALL_CAPACITY } else { CAPACITY },
            held: VecDeque::new(),
            times_held: 0,
            last_due: 0,
            has_heard_end: false,
            has_ended_first: false,
            reuses: false,
            lingers_until: 0,
        }
    }

    /// How many bytes may be sent to this end.
    pub(super) fn room(&self) -> usize {
        self.capacity.saturating_sub(self.available + self.on_the_way + self.unheard)
    }

    /// Data has arrived.
    pub(super) fn take_in(&mut self, data: Vec<u8>) {
        self.on_the_way -= data.len();
        if self.phase == Phase::Open {
            self.available += data.len();
            self.arrived.push_back(data);
        }
    }

    /// Hands the first of the bytes that can be read to `put`, in pieces. They stay.
    pub(super) fn copy(&self, mut bytes: usize, put: &mut dyn FnMut(&[u8])) {
        let mut skip = self.read;
        for piece in &self.arrived {
            let part = (piece.len() - skip).min(bytes);
            if part == 0 {
                break;
            }
            put(&piece[skip..skip + part]);
            bytes -= part;
            skip = 0;
        }
    }

    /// Takes away so many bytes that have been read.
    pub(super) fn consume(&mut self, bytes: usize) {
        self.available -= bytes;
        self.read += bytes;
        while let Some(first) = self.arrived.front()
            && self.read >= first.len()
        {
            self.read -= first.len();
            self.arrived.pop_front();
        }
    }

    /// The connection is broken.
    pub(super) fn reset(&mut self) {
        let is_over = self.is_over();
        self.error = match self.phase {
            Phase::Connecting => Some(ErrorKind::ConnectionRefused),
            // Of one that is over already, Linux has forgotten the address.
            _ if is_over && !self.is_unix() => self.error,
            _ if self.has_heard_end && !self.is_unix() => Some(ErrorKind::BrokenPipe),
            _ => Some(ErrorKind::ConnectionReset),
        };
        self.has_ended_first = false;
        self.fail();
    }

    /// No more is read or written.
    pub(super) fn fail(&mut self) {
        self.is_at_end = true;
        self.has_ended_writing = true;
        if self.phase == Phase::Connecting {
            self.phase = Phase::Open;
        }
    }

    /// Whether both directions have ended.
    pub(super) fn is_over(&self) -> bool {
        self.phase == Phase::Open && self.is_at_end && self.has_ended_writing
    }

    /// Whether both directions have been shut down here, or the connection is broken: of TCP.
    pub(super) fn refuses_data(&self) -> bool {
        let is_shut_down = self.has_ended_reading && self.has_ended_writing;
        !self.is_unix() && (is_shut_down || self.is_over())
    }

    pub(super) fn is_unix(&self) -> bool {
        !matches!(self.names, Names::Inet { .. })
    }

    /// The socket is dropped.
    pub(super) fn close(&mut self) {
        self.phase = Phase::Closed;
        self.tasks = None;
        self.has_ended_writing = true;
        self.arrived.clear();
        self.available = 0;
    }

    /// What a selector would tell of it, but for room.
    pub(super) fn ready(&self) -> Ready {
        let when = |is: bool, ready| if is { ready } else { Ready::EMPTY };
        when(self.available > 0 || self.is_at_end, Ready::READABLE)
            | when(self.is_at_end, Ready::READ_CLOSED)
            | when(self.is_at_end && self.has_ended_writing, Ready::WRITE_CLOSED)
            | when(self.error.is_some(), Ready::ERROR | Ready::WRITABLE)
    }
}
