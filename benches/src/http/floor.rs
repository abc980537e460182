//! The least server: a poll loop for each core, a fixed buffer for each connection, no runtime and no
//! HTTP library. Its time for a request is the time that the machine needs.
//!
//! A separate thread accepts connections, and gives them to the loops in turn. [`Fixed`] answers every
//! request with the same bytes.

use super::wire::Wire;
use mio::{Events, Interest, Poll, Token, Waker};
use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// The token of the waker: no connection has it.
const DEALT: Token = Token(usize::MAX);

/// The most bytes of a request.
const ROOM: usize = 256;

const END: &[u8] = b"\r\n\r\n";

/// Answers with this body, in as many bytes as hyper.
pub(super) fn with_body(body: &[u8]) -> Fixed {
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\ndate: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\n",
        body.len()
    );
    Fixed([head.as_bytes(), body].concat())
}

/// What happens when bytes have come.
pub(super) trait Callback: Clone + Send + 'static {
    /// What is kept of a connection.
    type State: Default;

    /// Reads the available data, and answers it as far as it is whole requests. False at the end.
    fn goes_on(&self, stream: &mut Wire, state: &mut Self::State) -> bool;
}

/// The loops, as the accepting thread sees them: a channel for connections to each, and its waker.
pub(super) struct Loops(Vec<(Sender<Wire>, Waker)>);

impl Loops {
    /// Starts the loops.
    ///
    /// # Errors
    ///
    /// If the system gives no poller.
    pub(super) fn start<C: Callback>(loops: usize, callback: &C) -> io::Result<Self> {
        let start = |_| {
            let poll = Poll::new()?;
            let waker = Waker::new(poll.registry(), DEALT)?;
            let (deal, dealt) = channel();
            let callback = callback.clone();
            thread::spawn(move || {
                Loop::new(poll, dealt, callback).run().expect("polling does not fail");
            });
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
struct Loop<C: Callback> {
    poll: Poll,
    dealt: Receiver<Wire>,
    /// By token.
    connections: Vec<Option<(Wire, C::State)>>,
    free: Vec<usize>,
    callback: C,
}

impl<C: Callback> Loop<C> {
    fn new(poll: Poll, dealt: Receiver<Wire>, callback: C) -> Self {
        Self { poll, dealt, connections: Vec::new(), free: Vec::new(), callback }
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
        for mut stream in self.dealt.try_iter() {
            let index = self.free.pop().unwrap_or_else(|| {
                self.connections.push(None);
                self.connections.len() - 1
            });
            // Data that came before the registration is an event too.
            self.poll.registry().register(&mut stream, Token(index), Interest::READABLE)?;
            self.connections[index] = Some((stream, C::State::default()));
        }
        Ok(())
    }

    fn advance(&mut self, index: usize) {
        let Some((stream, state)) = &mut self.connections[index] else { return };
        if !self.callback.goes_on(stream, state) {
            self.connections[index] = None;
            self.free.push(index);
        }
    }
}

/// Answers with these bytes.
#[derive(Clone)]
pub(super) struct Fixed(pub(super) Vec<u8>);

/// The part of a request that has come.
pub(super) struct Part {
    request: [u8; ROOM],
    length: usize,
}

impl Default for Part {
    fn default() -> Self {
        Self { request: [0; ROOM], length: 0 }
    }
}

impl Callback for Fixed {
    type State = Part;

    fn goes_on(&self, stream: &mut Wire, part: &mut Part) -> bool {
        match stream.read(&mut part.request[part.length..]) {
            // Nothing more comes, or a request is too long.
            Ok(0) => return false,
            Ok(length) => part.length += length,
            Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
        }
        if !part.request[..part.length].ends_with(END) {
            return true;
        }
        part.length = 0;
        // The client waits for the response, so the socket's buffer has room.
        matches!(stream.write(&self.0), Ok(length) if length == self.0.len())
    }
}
