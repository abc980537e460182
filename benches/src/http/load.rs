//! The load generator: closed-loop keep-alive HTTP/1.1 clients, all on the calling thread.
//!
//! Every connection has one request under way at any time. Every response is checked: status,
//! length, and body to the byte.

mod response;

use super::BODY;
use crate::placement::Placement;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use response::{Parsed, parse};
use socket2::SockRef;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// Connections opened at once: fewer than any listener's backlog.
const BATCH: usize = 100;

/// How long a response may take once the load has ended, before it counts as an error.
const GRACE: Duration = Duration::from_secs(5);

/// When a load ends.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// No request starts after this time.
    pub time: Duration,
    /// Nor after this many responses.
    pub requests: u64,
}

impl Limit {
    /// A limit of time alone.
    #[must_use]
    pub const fn time(time: Duration) -> Self {
        Self { time, requests: u64::MAX }
    }
}

/// What a load came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Responses that were right.
    pub requests: u64,
    /// Responses that were wrong or never came, and connections that broke.
    pub errors: u64,
    /// From the first request to the last response.
    pub wall: Duration,
    /// Right responses per second up to the limit, without those that came after it.
    pub rate: f64,
}

/// Open connections to one server.
pub struct Load {
    poll: Poll,
    events: Events,
    connections: Vec<Connection>,
    buffer: Box<[u8]>,
}

/// Kept small: thousands of them should not push the server out of the cache.
struct Connection {
    stream: TcpStream,
    state: State,
    /// The start of a response that came in pieces; mostly empty.
    partial: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Waiting,
    Broken,
}

impl Load {
    /// Opens `count` connections, and sends one request on each so that all are accepted. They
    /// come in batches, so that the server's backlog does not overflow.
    ///
    /// # Errors
    ///
    /// If a connection cannot be opened, or a first response is wrong or does not come.
    pub fn connect(server: SocketAddr, count: usize) -> io::Result<Self> {
        let mut load = Self {
            poll: Poll::new()?,
            events: Events::with_capacity(1_024),
            connections: Vec::with_capacity(count),
            buffer: vec![0; 4_096].into(),
        };
        for first in (0..count).step_by(BATCH) {
            for index in first..count.min(first + BATCH) {
                load.open(server, index)?;
            }
            let tally = load.drive(first, Limit { time: GRACE, requests: 0 })?;
            if tally.errors > 0 {
                return Err(io::Error::other(format!("after {first} connections: {tally:?}")));
            }
        }
        Ok(load)
    }

    fn open(&mut self, server: SocketAddr, index: usize) -> io::Result<()> {
        let stream = std::net::TcpStream::connect(server)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        // Closing resets the connection. Waiting states of thousands of closed connections
        // would use up the ports of the machine.
        SockRef::from(&stream).set_linger(Some(Duration::ZERO))?;
        let mut stream = TcpStream::from_std(stream);
        self.poll.registry().register(&mut stream, Token(index), Interest::READABLE)?;
        self.connections.push(Connection { stream, state: State::Idle, partial: Vec::new() });
        Ok(())
    }

    /// Keeps every connection busy up to the limit, then waits for the last responses.
    ///
    /// The calling thread keeps to one core meanwhile. With 512 connections, two servers of one
    /// kind then came within 2 % of each other in CPU time per request, in the median over
    /// paired rounds; beside a client that wandered, within 6 %.
    ///
    /// Every connection sends one request at least. One that breaks is out for good, and
    /// counts as one error in each later run.
    ///
    /// # Errors
    ///
    /// If polling fails, or the threads of this process cannot be placed.
    pub fn run(&mut self, limit: Limit) -> io::Result<Tally> {
        let _placed = Placement::Apart.hold()?;
        self.drive(0, limit)
    }

    /// Drives the connections from `first` on; those before it stay idle.
    fn drive(&mut self, first: usize, limit: Limit) -> io::Result<Tally> {
        let start = Instant::now();
        let mut tally = Tally::default();
        let mut waiting = 0;
        let mut in_time = 0_u64;
        for connection in &mut self.connections[first..] {
            connection.send();
            waiting += usize::from(connection.state == State::Waiting);
        }
        while waiting > 0 {
            match self.poll.poll(&mut self.events, Some(Duration::from_millis(100))) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            }
            let passed = start.elapsed();
            if passed > limit.time + GRACE {
                self.give_up();
                break;
            }
            for event in &self.events {
                let connection = &mut self.connections[event.token().0];
                let more = passed < limit.time && tally.requests < limit.requests;
                if connection.advance(&mut self.buffer, &mut tally.requests, more) {
                    waiting -= 1;
                }
                if more {
                    in_time = tally.requests;
                }
            }
        }
        let broken = self.connections.iter().filter(|one| one.state == State::Broken);
        tally.errors = broken.count() as u64;
        tally.wall = start.elapsed();
        tally.rate = in_time as f64 / tally.wall.min(limit.time).as_secs_f64();
        Ok(tally)
    }

    fn give_up(&mut self) {
        for connection in &mut self.connections {
            if connection.state == State::Waiting {
                connection.state = State::Broken;
            }
        }
    }
}

impl Connection {
    /// Sends a request. The socket's buffer is empty, so it goes out whole or not at all.
    fn send(&mut self) {
        if self.state != State::Broken {
            let sent = self.stream.write(REQUEST);
            let whole = matches!(sent, Ok(length) if length == REQUEST.len());
            self.state = if whole { State::Waiting } else { State::Broken };
        }
    }

    /// Takes what has come, and sends the next request if there shall be `more`. True if it
    /// waits no longer.
    fn advance(&mut self, buffer: &mut [u8], responses: &mut u64, more: bool) -> bool {
        if self.state != State::Waiting {
            return false;
        }
        let parsed = match self.stream.read(buffer) {
            Ok(0) => Parsed::Wrong,
            Ok(length) => self.take(&buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
            Err(_) => Parsed::Wrong,
        };
        match parsed {
            Parsed::Partial => return false,
            Parsed::Wrong => self.state = State::Broken,
            Parsed::Whole => {
                *responses += 1;
                self.state = State::Idle;
                if more {
                    self.send();
                }
            }
        }
        self.state != State::Waiting
    }

    fn take(&mut self, bytes: &[u8]) -> Parsed {
        if self.partial.is_empty() {
            let parsed = parse(bytes, BODY);
            if parsed == Parsed::Partial {
                self.partial.extend_from_slice(bytes);
            }
            return parsed;
        }
        self.partial.extend_from_slice(bytes);
        let parsed = parse(&self.partial, BODY);
        if parsed != Parsed::Partial {
            self.partial.clear();
        }
        parsed
    }
}
