//! The least server: a poll loop for each core, a fixed buffer for each connection, no runtime and no
//! HTTP library. Its time for a request is the time that the machine needs.
//!
//! The server answers every request with the same bytes. A separate thread accepts connections, and
//! gives them to the loops in turn.

use super::wire::Wire;
use mio::{Events, Interest, Poll, Registry, Token, Waker};
use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// The token of the waker: no connection has it.
const DEALT: Token = Token(usize::MAX);

/// The most bytes of a request.
const ROOM: usize = 256;

const END: &[u8] = b"\r\n\r\n";

/// A response with this body, of the same length as hyper's.
pub(super) fn response(body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\ndate: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// The loops, as the accepting thread sees them: a channel for connections to each, and its waker.
pub(super) struct Loops(Vec<(Sender<Wire>, Waker)>);

impl Loops {
    /// Starts the loops, which answer with `response`.
    ///
    /// # Errors
    ///
    /// If the system gives no poller.
    pub(super) fn start(loops: usize, response: &[u8]) -> io::Result<Self> {
        let start = |_| {
            let poll = Poll::new()?;
            let waker = Waker::new(poll.registry(), DEALT)?;
            let (deal, dealt) = channel();
            let own = Loop::new(poll, dealt, response.to_vec());
            thread::spawn(move || own.run().expect("polling does not fail"));
            Ok((deal, waker))
        };
        (0..loops).map(start).collect::<io::Result<_>>().map(Self)
    }

    /// Serves for ever the connections that `accept` returns.
    ///
    /// # Errors
    ///
    /// If `accept` fails, or a loop cannot be woken.
    pub(super) fn serve(self, mut accept: impl FnMut() -> io::Result<Wire>) -> io::Result<()> {
        for (deal, waker) in self.0.iter().cycle() {
            deal.send(accept()?).expect("loops do not end");
            waker.wake()?;
        }
        Ok(())
    }
}

/// One thread's connections.
struct Loop {
    poll: Poll,
    dealt: Receiver<Wire>,
    /// By token.
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    response: Vec<u8>,
}

struct Connection {
    stream: Wire,
    /// The part of a request that has come.
    request: [u8; ROOM],
    length: usize,
}

impl Loop {
    fn new(poll: Poll, dealt: Receiver<Wire>, response: Vec<u8>) -> Self {
        Self { poll, dealt, connections: Vec::new(), free: Vec::new(), response }
    }

    fn run(mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(1_024);
        loop {
            match self.poll.poll(&mut events, None) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            }
            for event in &events {
                match event.token() {
                    DEALT => self.take_dealt()?,
                    Token(index) => self.advance(index),
                }
            }
        }
    }

    fn take_dealt(&mut self) -> io::Result<()> {
        for stream in self.dealt.try_iter() {
            let index = self.free.pop().unwrap_or_else(|| {
                self.connections.push(None);
                self.connections.len() - 1
            });
            let opened = Connection::open(stream, self.poll.registry(), Token(index))?;
            self.connections[index] = Some(opened);
        }
        Ok(())
    }

    fn advance(&mut self, index: usize) {
        let Some(connection) = &mut self.connections[index] else { return };
        if !connection.goes_on(&self.response) {
            self.connections[index] = None;
            self.free.push(index);
        }
    }
}

impl Connection {
    fn open(mut stream: Wire, registry: &Registry, token: Token) -> io::Result<Self> {
        // Data that came before the registration is an event too.
        registry.register(&mut stream, token, Interest::READABLE)?;
        Ok(Self { stream, request: [0; ROOM], length: 0 })
    }

    /// Reads the available data, and answers it if it is a whole request. False at the end.
    fn goes_on(&mut self, response: &[u8]) -> bool {
        match self.stream.read(&mut self.request[self.length..]) {
            // Nothing more comes, or a request is too long.
            Ok(0) => return false,
            Ok(length) => self.length += length,
            Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
        }
        if !self.request[..self.length].ends_with(END) {
            return true;
        }
        self.length = 0;
        // The client waits for the response, so the socket's buffer has room.
        matches!(self.stream.write(response), Ok(length) if length == response.len())
    }
}
