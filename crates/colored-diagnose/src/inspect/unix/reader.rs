//! [`Reader`]: a connection, its request and its reply.

use super::paced::Kind;
use super::request::{LONGEST, Request, too_long};
use crate::json::object;
use crate::subject::Subject;
use crate::wall;
use mio::net::UnixStream;
use std::io::{ErrorKind, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a reader may take nothing of its reply.
const STALLED: Duration = Duration::from_secs(5);

/// How long a reader may ask nothing.
const SILENT: Duration = Duration::from_secs(60);

/// A connection. It has one request or one reply at a time, so a reader that asks without reading waits by itself.
pub(super) struct Reader {
    stream: UnixStream,
    /// What has come of the next requests.
    input: Vec<u8>,
    /// What is left of the reply.
    output: Vec<u8>,
    state: State,
    /// Since when nothing has come or gone.
    since: Instant,
    recording: Option<Recording>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Wants(Kind),
    /// The reply is the last one.
    Ends,
    Closed,
}

impl Reader {
    pub(super) fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            input: Vec::new(),
            output: Vec::new(),
            state: State::Open,
            since: wall::now(),
            recording: None,
        }
    }

    /// A connection that gets an error and is closed, as far as the system takes the text at once.
    pub(super) fn refuse(mut stream: UnixStream, error: &str) {
        let _ = stream.write(&line(object(|all| all.field("error", error))));
    }

    pub(super) fn wants(&self, kind: Kind) -> bool {
        self.state == State::Wants(kind)
    }

    /// The text that it has waited for.
    pub(super) fn tell(&mut self, text: &str) {
        self.state = State::Open;
        self.output = line(text.to_owned());
        self.since = wall::now();
    }

    /// How much longer the reader may do nothing; none while the server is to do something.
    pub(super) fn patience(&self) -> Option<Duration> {
        let limit = match self.state {
            State::Wants(_) => return None,
            _ if self.output.is_empty() => SILENT,
            _ => STALLED,
        };
        Some(limit.saturating_sub(wall::since(self.since)))
    }

    /// Whether it is there, and does something.
    pub(super) fn is_open(&self) -> bool {
        self.state != State::Closed && self.patience() != Some(Duration::ZERO)
    }

    /// Sends and reads what the system takes and has, until the reader waits for a text that takes time, or for the system.
    pub(super) fn serve(&mut self, subject: &Arc<dyn Subject>) {
        while self.send() {
            match self.state {
                State::Open => {}
                State::Ends => return self.state = State::Closed,
                State::Wants(_) | State::Closed => return,
            }
            if let Some(end) = self.input.iter().position(|byte| *byte == b'\n') {
                let request = Request::parse(&self.input[..end]);
                self.input.drain(..=end);
                self.answer(request, subject);
            } else if self.input.len() > LONGEST {
                self.fail(&too_long());
                self.state = State::Ends;
            } else if !self.read() {
                return;
            }
        }
    }

    fn answer(&mut self, request: Result<Request, String>, subject: &Arc<dyn Subject>) {
        match request {
            Err(error) => self.fail(&error),
            Ok(Request::Snapshot) => self.state = State::Wants(Kind::Snapshot),
            Ok(Request::Dump) => self.state = State::Wants(Kind::Dump),
            Ok(Request::Trace) => self.state = State::Wants(Kind::Trace),
            Ok(Request::Level(measures)) => {
                match (measures, &self.recording) {
                    (true, None) => self.recording = Some(Recording::begin(subject)),
                    (false, Some(_)) => self.recording = None,
                    _ => {}
                }
                let level = subject.scheduler().level() as u64;
                self.output = line(object(|all| all.field("level", level)));
            }
        }
    }

    fn fail(&mut self, error: &str) {
        self.output = line(object(|all| all.field("error", error)));
    }

    /// Sends the rest of the reply. True if nothing is left of it.
    fn send(&mut self) -> bool {
        while !self.output.is_empty() {
            match self.stream.write(&self.output) {
                Ok(sent @ 1..) => {
                    self.output.drain(..sent);
                    self.since = wall::now();
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
                Ok(0) | Err(_) => {
                    self.state = State::Closed;
                    return false;
                }
            }
        }
        // A large reply does not keep its memory.
        self.output = Vec::new();
        true
    }

    /// Reads some bytes, not many more than a request has. False if there are none yet, or the reader has gone.
    fn read(&mut self) -> bool {
        let mut bytes = [0; LONGEST];
        loop {
            match self.stream.read(&mut bytes) {
                Ok(read @ 1..) => {
                    self.input.extend_from_slice(&bytes[..read]);
                    self.since = wall::now();
                    return true;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
                Ok(0) | Err(_) => {
                    self.state = State::Closed;
                    return false;
                }
            }
        }
    }
}

fn line(mut text: String) -> Vec<u8> {
    text.push('\n');
    text.into_bytes()
}

/// The runtime measures waits while this lives.
struct Recording(Arc<dyn Subject>);

impl Recording {
    fn begin(subject: &Arc<dyn Subject>) -> Self {
        subject.diagnosis().levels.raise(subject.scheduler());
        Self(Arc::clone(subject))
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.0.diagnosis().levels.restore(self.0.scheduler());
    }
}
