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
    timer: Option<Pin<Box<Sleep>>>,
}

enum Wire {
    Http1(Requests),
    /// In a box, because it is large. It also tells of responses, whatever the limit.
    Http2(Box<Streams>),
}

impl Bodies {
    /// Those of a connection whose version is not known yet.
    pub(super) fn new(limit: Option<Duration>) -> Bodies {
        Bodies { limit, wire: Wire::Http1(Requests::default()), timer: None }
    }

    /// Those of a connection that speaks `version`, before its first byte.
    pub(super) fn speak(&mut self, version: Version, activity: &Activity) {
        if version == Version::Http2 {
            self.wire = Wire::Http2(Box::new(Streams::new(activity.clone())));
        }
    }

    /// The client has sent `bytes`.
    pub(super) fn note_read(&mut self, bytes: &[u8]) {
        match &mut self.wire {
            Wire::Http1(requests) if self.limit.is_some() => requests.read(bytes),
            Wire::Http1(_) => {}
            Wire::Http2(streams) => streams.read(bytes),
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
    /// nothing of it; it may take up to twice as long until that is noticed.
    pub(super) fn poll_owed(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        let Some(limit) = self.limit else { return Poll::Pending };
        loop {
            if !self.wire.owes() {
                self.timer = None;
                return Poll::Pending;
            }
            let Some(timer) = &mut self.timer else {
                self.wire.begin_wait();
                self.timer = Some(Box::pin(sleep(limit)));
                continue;
            };
            if timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            if self.wire.has_stalled() {
                let text = format!("the client has sent nothing of a body for {limit:?}");
                return Poll::Ready(io::Error::new(io::ErrorKind::TimedOut, text));
            }
            self.wire.begin_wait();
            timer.as_mut().reset(Instant::now() + limit);
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
