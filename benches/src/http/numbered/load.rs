//! The clients: a closed loop over thousands of connections, on the calling thread.
//!
//! Every connection has one request under way at any time. The next one follows the response. A response with
//! the number of another request, or more bytes than one response has, ends the run; so does a response that never comes.

use super::exchange::{RESPONSE, request, response};
use crate::placement::Placement;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

/// Connections opened at once: fewer than any listener's backlog.
const BATCH: usize = 100;

/// Connections from one address: an address has some 28,000 ports for them, which other programs use too.
pub const OF_ADDRESS: usize = 8_000;

/// How long a response may take once the load has ended. Then the request counts as lost.
const PATIENCE: Duration = Duration::from_secs(60);

/// The longest sleep, so that the loop sees the end of its time.
const SLEEP: Duration = Duration::from_millis(20);

/// Open connections to one server.
pub struct Load {
    server: SocketAddr,
    poll: Poll,
    events: Events,
    connections: Vec<Connection>,
    /// The number of the next request.
    next: u64,
}

struct Connection {
    stream: TcpStream,
    number: u64,
    begin: Instant,
    /// Bytes of the response that have come, if a request is under way.
    waits: Option<usize>,
}

/// What a load has shown.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// From each request to its response, in order of length. The requests that were sent in time count, also if their responses came later.
    pub delays: Vec<Duration>,
    /// Responses a second, without those that came after the time.
    pub rate: f64,
}

impl Outcome {
    /// The delay that the part `share` of all responses did not exceed.
    ///
    /// # Panics
    ///
    /// If there was no response.
    #[must_use]
    pub fn delay(&self, share: f64) -> Duration {
        let last = self.delays.len() - 1;
        self.delays[((self.delays.len() as f64 * share) as usize).min(last)]
    }

    /// The mean and the standard deviation, in seconds.
    #[must_use]
    pub fn mean_and_deviation(&self) -> (f64, f64) {
        let count = self.delays.len() as f64;
        let seconds = || self.delays.iter().map(Duration::as_secs_f64);
        let mean = seconds().sum::<f64>() / count;
        let variance = seconds().map(|delay| (delay - mean).powi(2)).sum::<f64>() / count;
        (mean, variance.sqrt())
    }

    /// The part of the requests that took longer.
    #[must_use]
    pub fn over(&self, limit: Duration) -> f64 {
        let within = self.delays.partition_point(|&delay| delay <= limit);
        (self.delays.len() - within) as f64 / self.delays.len() as f64
    }
}

impl Load {
    /// Clients of this server; there are none yet.
    ///
    /// # Errors
    ///
    /// If the system gives no poller.
    pub fn new(server: SocketAddr) -> io::Result<Self> {
        let poll = Poll::new()?;
        Ok(Self {
            server,
            poll,
            events: Events::with_capacity(1_024),
            connections: Vec::new(),
            next: 0,
        })
    }

    /// Opens connections until there are `count`. Each sends one request, so that all are accepted.
    ///
    /// # Errors
    ///
    /// If a connection cannot be opened, or a response is wrong or does not come.
    pub fn open(&mut self, count: usize) -> io::Result<()> {
        for first in (self.connections.len()..count).step_by(BATCH) {
            for index in first..count.min(first + BATCH) {
                let opened = Connection::open(self.server, index, &self.poll)
                    .map_err(|error| of(index, &error))?;
                self.connections.push(opened);
            }
            self.drive(first, Duration::ZERO)?;
        }
        Ok(())
    }

    /// Keeps every connection busy for `time`, then waits for the last responses.
    ///
    /// Every connection sends at least one request. The calling thread keeps to one core meanwhile.
    ///
    /// # Errors
    ///
    /// If a response is wrong, is lost or comes twice, a connection is closed, or the threads of this process cannot be placed.
    pub fn run(&mut self, time: Duration) -> io::Result<Outcome> {
        let _placed = Placement::Apart.hold()?;
        let outcome = self.drive(0, time)?;
        let mut byte = [0];
        for (index, connection) in self.connections.iter_mut().enumerate() {
            match connection.stream.read(&mut byte) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                other => {
                    let text = format!("after the last response: {other:?}");
                    return Err(of(index, &io::Error::other(text)));
                }
            }
        }
        Ok(outcome)
    }

    /// Drives the connections from `first` on; the earlier connections stay idle.
    fn drive(&mut self, first: usize, time: Duration) -> io::Result<Outcome> {
        let start = Instant::now();
        let mut delays = Vec::new();
        let mut in_time = 0;
        let mut waiting = self.connections.len() - first;
        for connection in &mut self.connections[first..] {
            connection.send(&mut self.next)?;
        }
        while waiting > 0 {
            match self.poll.poll(&mut self.events, Some(SLEEP)) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                other => other?,
            }
            if start.elapsed() > time + PATIENCE {
                return Err(io::Error::other(format!("{waiting} requests got no response")));
            }
            for event in &self.events {
                let index = event.token().0;
                let connection = &mut self.connections[index];
                if !connection.receive().map_err(|error| of(index, &error))? {
                    continue;
                }
                delays.push(connection.begin.elapsed());
                if start.elapsed() < time {
                    in_time += 1;
                    connection.send(&mut self.next)?;
                } else {
                    waiting -= 1;
                }
            }
        }
        delays.sort_unstable();
        Ok(Outcome { delays, rate: f64::from(in_time) / time.as_secs_f64() })
    }
}

impl Connection {
    /// Connects from the address that belongs to `index`.
    fn open(server: SocketAddr, index: usize, poll: &Poll) -> io::Result<Self> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
        if index >= OF_ADDRESS {
            // There are fewer than 254 addresses of as many connections.
            let own = Ipv4Addr::new(127, 0, 0, 1 + (index / OF_ADDRESS) as u8);
            socket.bind(&SocketAddr::from((own, 0)).into())?;
        }
        socket.connect(&server.into())?;
        // Closing resets the connection: waiting states of closed connections would use up the ports.
        socket.set_linger(Some(Duration::ZERO))?;
        socket.set_tcp_nodelay(true)?;
        socket.set_nonblocking(true)?;
        let mut stream = TcpStream::from_std(socket.into());
        poll.registry().register(&mut stream, Token(index), Interest::READABLE)?;
        Ok(Self { stream, number: 0, begin: Instant::now(), waits: None })
    }

    /// Sends a request. The socket's buffer is empty, so it goes out whole.
    fn send(&mut self, next: &mut u64) -> io::Result<()> {
        (self.number, self.begin, self.waits) = (*next, Instant::now(), Some(0));
        *next += 1;
        self.stream.write_all(request(self.number).as_bytes())
    }

    /// Reads until the response is whole, or no byte is left; the latter is the next event then. True if it is whole.
    fn receive(&mut self) -> io::Result<bool> {
        // One byte more than can come.
        let mut bytes = [0; RESPONSE + 1];
        loop {
            let length = match self.stream.read(&mut bytes) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            };
            let (got, expected) = (&bytes[..length], response(self.number));
            let Some(received) = self.waits else {
                return Err(io::Error::other("a response to no request"));
            };
            if !expected[received..].starts_with(got) {
                let got = String::from_utf8_lossy(got);
                return Err(io::Error::other(format!("{got:?} to request {:x}", self.number)));
            }
            if received + length == RESPONSE {
                self.waits = None;
                return Ok(true);
            }
            self.waits = Some(received + length);
        }
    }
}

/// The error with the number of its connection.
fn of(index: usize, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("connection {index}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread;

    /// What the clients say of a server that answers one request with `answer`.
    fn error_of(answer: impl FnOnce(u64) -> Vec<u8> + Send + 'static) -> String {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let mut load = Load::new(listener.local_addr().expect("bound")).expect("a poller");
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("the client comes");
            let mut bytes = [0; 256];
            assert_ne!(stream.read(&mut bytes).expect("the request comes"), 0);
            stream.write_all(&answer(0)).expect("the client waits");
        });
        let error = load.open(1).and_then(|()| load.run(Duration::ZERO).map(drop)).unwrap_err();
        drop(load);
        server.join().expect("it does not panic");
        error.to_string()
    }

    #[test]
    fn a_wrong_or_second_response_ends_the_run() {
        let other = error_of(|number| response(number + 1).to_vec());
        assert!(other.contains("to request 0"), "{other}");
        let twice = error_of(|number| [response(number), response(number)].concat());
        assert!(twice.contains("to request 0"), "{twice}");
        let none = error_of(|number| response(number)[..9].to_vec());
        assert!(none.contains("connection 0: "), "{none}");
    }

    #[test]
    fn figures_are_those_of_the_delays() {
        let delays = [1, 1, 1, 5].map(Duration::from_secs).to_vec();
        let outcome = Outcome { delays, rate: 1.0 };
        assert_eq!(outcome.mean_and_deviation(), (2.0, 3.0_f64.sqrt()));
        assert_eq!(outcome.delay(0.5), Duration::from_secs(1));
        assert_eq!(outcome.delay(0.99), Duration::from_secs(5));
        assert_eq!(outcome.over(Duration::from_secs(4)), 0.25);
    }
}
