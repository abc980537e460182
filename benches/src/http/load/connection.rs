//! One keep-alive connection with one request under way at any time.

use super::Script;
use super::response::{Parsed, parse};
use crate::http::wire::{Address, Wire};
use mio::{Interest, Registry, Token};
use std::io::{self, Read, Write};

/// The struct is small: thousands of connections should not push the server out of the cache.
pub(super) struct Connection {
    stream: Wire,
    pub(super) state: State,
    /// Responses until the connection is closed; unused where the script has no end.
    left: u32,
    /// The start of a response that came in pieces; mostly empty.
    partial: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Idle,
    Waiting,
    /// The last response has come: the connection must be opened anew.
    Spent,
    Broken,
}

impl Connection {
    /// Connects, and asks `registry` for events under `index`.
    pub(super) fn open(
        server: &Address,
        registry: &Registry,
        index: usize,
        visit: u32,
    ) -> io::Result<Self> {
        let mut stream = Wire::connect(server)?;
        registry.register(&mut stream, Token(index), Interest::READABLE)?;
        Ok(Self { stream, state: State::Idle, left: visit, partial: Vec::new() })
    }

    /// Sends a request. The socket's buffer is empty, so it goes out whole or not at all.
    pub(super) fn send(&mut self, script: &Script) {
        if self.state != State::Broken {
            let sent = self.stream.write(script.request);
            let whole = matches!(sent, Ok(length) if length == script.request.len());
            self.state = if whole { State::Waiting } else { State::Broken };
        }
    }

    /// Reads the available data. True if that was the rest of a right response; otherwise the
    /// connection may still be waiting, or have broken.
    pub(super) fn receive(&mut self, buffer: &mut [u8], script: &Script) -> bool {
        if self.state != State::Waiting {
            return false;
        }
        let parsed = match self.stream.read(buffer) {
            Ok(0) => Parsed::Wrong,
            Ok(length) => self.take(&buffer[..length], script.body),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
            Err(_) => Parsed::Wrong,
        };
        match parsed {
            Parsed::Partial => {}
            Parsed::Wrong => self.state = State::Broken,
            Parsed::Whole => self.state = self.after_response(script),
        }
        parsed == Parsed::Whole
    }

    fn after_response(&mut self, script: &Script) -> State {
        if script.visit.is_none() {
            return State::Idle;
        }
        self.left -= 1;
        if self.left == 0 { State::Spent } else { State::Idle }
    }

    fn take(&mut self, bytes: &[u8], body: &[u8]) -> Parsed {
        if self.partial.is_empty() {
            let parsed = parse(bytes, body);
            if parsed == Parsed::Partial {
                self.partial.extend_from_slice(bytes);
            }
            return parsed;
        }
        self.partial.extend_from_slice(bytes);
        let parsed = parse(&self.partial, body);
        if parsed != Parsed::Partial {
            self.partial.clear();
        }
        parsed
    }
}
