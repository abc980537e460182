//! [`Bodies`]: the limit of the time in which a client sends nothing of a body that it has begun.
//!
//! hyper does not tell what it waits for when it reads, so the bytes of the connection tell it: the framing of HTTP/1 in
//! `http1`, the frames of HTTP/2 in `http2`.

mod frames;
mod http1;
mod http2;

use self::http1::Requests;
use self::http2::Streams;
use super::activity::Activity;
use super::version::Version;
use colored::time::{Duration, Instant, Sleep, sleep};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Measures how long a client has sent nothing of a body. There is a timer only while the server waits for one.
pub(super) struct Bodies {
    limit: Option<Duration>,
    wire: Wire,
    /// In a box, because few connections ever have one.
    wait: Option<Box<Wait>>,
}

struct Wait {
    timer: Sleep,
    /// How many bytes the system had received when the timer was set; none if it does not tell.
    received: Option<u64>,
    /// Whether something of the connection, of whatever kind, has come since.
    came: bool,
}

enum Wire {
    Http1(Requests),
    /// In a box, because it is large. It also tells of responses, whatever the limit.
    Http2(Box<Streams>),
}

impl Bodies {
    /// Those of a connection whose version is not known yet.
    pub(super) fn new(limit: Option<Duration>) -> Bodies {
        Bodies { limit, wire: Wire::Http1(Requests::default()), wait: None }
    }

    /// Those of a connection that speaks `version`, before its first byte.
    pub(super) fn speak(&mut self, version: Version, activity: &Activity) {
        if version == Version::Http2 {
            self.wire = Wire::Http2(Box::new(Streams::new(activity.clone())));
        }
    }

    /// The client has sent `bytes`, of which so many at the beginning are nothing to hyper: empty lines before a request. It
    /// would keep them, and look at all of them again with each read.
    pub(super) fn note_read(&mut self, bytes: &[u8]) -> usize {
        if let Some(wait) = &mut self.wait {
            wait.came |= !bytes.is_empty();
        }
        match &mut self.wire {
            Wire::Http1(requests) => {
                let lines = requests.empty_lines(bytes);
                requests.read(&bytes[lines..]);
                lines
            }
            Wire::Http2(streams) => {
                streams.read(bytes);
                0
            }
        }
    }

    /// The socket has taken `bytes`.
    pub(super) fn note_written(&mut self, bytes: &[u8]) {
        match &mut self.wire {
            Wire::Http1(requests) => requests.note_written(bytes),
            Wire::Http2(streams) => streams.note_written(bytes),
        }
    }

    /// There is nothing to read. An error, if the client has owed the rest of a body for as long as the limit, and has sent
    /// nothing of it; it may take up to twice as long until that is noticed. What the system has `received` and nobody could
    /// read is a part of a record of TLS, so of what comes next.
    pub(super) fn poll_owed(
        &mut self,
        cx: &mut Context<'_>,
        received: impl Fn() -> Option<u64>,
    ) -> Poll<io::Error> {
        let Some(limit) = self.limit else { return Poll::Pending };
        loop {
            if !self.wire.owes() {
                self.wait = None;
                return Poll::Pending;
            }
            let Some(wait) = &mut self.wait else {
                self.wire.begin_wait();
                let wait = Wait { timer: sleep(limit), received: received(), came: false };
                self.wait = Some(Box::new(wait));
                continue;
            };
            if Pin::new(&mut wait.timer).poll(cx).is_pending() {
                return Poll::Pending;
            }
            let now = received();
            let has_part = !wait.came && now != wait.received;
            if self.wire.has_stalled() && !has_part {
                let text = format!("the client has sent nothing of a body for {limit:?}");
                return Poll::Ready(io::Error::new(io::ErrorKind::TimedOut, text));
            }
            self.wire.begin_wait();
            (wait.received, wait.came) = (now, false);
            Pin::new(&mut wait.timer).reset(Instant::now() + limit);
        }
    }
}

impl Wire {
    /// Whether the client could send more of a body that it has begun.
    fn owes(&self) -> bool {
        match self {
            Wire::Http1(requests) => requests.owes(),
            Wire::Http2(streams) => streams.owes(),
        }
    }

    /// Forgets what has come before.
    fn begin_wait(&mut self) {
        match self {
            Wire::Http1(requests) => requests.begin_wait(),
            Wire::Http2(streams) => streams.begin_wait(),
        }
    }

    /// Whether nothing has come since the wait began, for a body that it began with.
    fn has_stalled(&self) -> bool {
        match self {
            Wire::Http1(requests) => requests.has_stalled(),
            Wire::Http2(streams) => streams.has_stalled(),
        }
    }
}
