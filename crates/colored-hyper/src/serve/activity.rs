//! [`Activity`]: what the parts of one connection tell each other.
//!
//! The socket notes what passes through it, the service notes its requests, and the task of the connection asks whether
//! there is anything left to wait for.

use super::flow::Flow;
use crate::executor::unread::{Connection, Look};
use colored::time::{Duration, Instant};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

/// The activity of a connection. Every operation is a hint about time, so none orders anything else.
#[derive(Clone)]
pub(super) struct Activity(Arc<Shared>);

struct Shared {
    begun: Instant,
    /// When the last request has begun: so many milliseconds after the connection.
    request: AtomicU64,
    /// Requests of HTTP/2 whose handler or response runs.
    running: AtomicUsize,
    /// Responses of HTTP/2 that have begun on the wire, and not ended.
    responses: AtomicUsize,
    /// Whether a response has gone on since this was asked.
    moved: AtomicBool,
    /// Whether the server sent the last bytes.
    answered: AtomicBool,
    /// Whether a stream of HTTP/2 has become a connection of its own.
    tunnel: AtomicBool,
    /// Of HTTP/2.
    flow: OnceLock<Box<Flow>>,
}

impl Activity {
    /// That of a connection which begins now.
    pub(super) fn new() -> Activity {
        Activity(Arc::new(Shared {
            begun: Instant::now(),
            request: AtomicU64::new(0),
            running: AtomicUsize::new(0),
            responses: AtomicUsize::new(0),
            moved: AtomicBool::new(false),
            answered: AtomicBool::new(false),
            tunnel: AtomicBool::new(false),
            flow: OnceLock::new(),
        }))
    }

    /// When the last request has begun; before the first, when the connection has.
    pub(super) fn last_request(&self) -> Instant {
        // Ordering: only the time itself is shared.
        self.0.begun + Duration::from_millis(self.0.request.load(Ordering::Relaxed))
    }

    /// A request begins; it runs until the value is dropped.
    pub(super) fn begin_request(&self) -> Running {
        let request = self.0.begun.elapsed().as_millis();
        // Ordering: see `last_request`.
        self.0.request.store(u64::try_from(request).unwrap_or(u64::MAX), Ordering::Relaxed);
        // Ordering: a count of its own, which `is_busy` reads.
        self.0.running.fetch_add(1, Ordering::Relaxed);
        Running(self.clone())
    }

    /// Whether a request runs, or a tunnel may, which is a response that has not ended.
    pub(super) fn is_busy(&self) -> bool {
        // Ordering: a count of its own.
        let running = self.0.running.load(Ordering::Relaxed) > 0;
        // Ordering: a flag of its own, which is set once.
        running || self.0.tunnel.load(Ordering::Relaxed) && self.has_responses()
    }

    /// A response begins on the wire, or ends.
    pub(super) fn note_response(&self, begins: bool) {
        if begins {
            // Ordering: a count of its own, which `has_responses` reads.
            self.0.responses.fetch_add(1, Ordering::Relaxed);
        } else {
            // Ordering: as above.
            self.0.responses.fetch_sub(1, Ordering::Relaxed);
        }
        self.note_progress();
    }

    /// Whether the client has more of a response to take.
    pub(super) fn has_responses(&self) -> bool {
        self.responses() > 0
    }

    pub(super) fn responses(&self) -> usize {
        // Ordering: a count of its own.
        self.0.responses.load(Ordering::Relaxed)
    }

    /// The connection speaks HTTP/2.
    pub(super) fn begin_flow(&self) {
        self.0.flow.get_or_init(Box::default);
    }

    /// None over HTTP/1.
    pub(super) fn flow(&self) -> Option<&Flow> {
        self.0.flow.get().map(|flow| &**flow)
    }

    /// For a stream that waits for its client.
    pub(super) fn connection(&self) -> Arc<dyn Connection> {
        self.0.clone()
    }

    /// A response goes on.
    pub(super) fn note_progress(&self) {
        // Ordering: a flag of its own.
        self.0.moved.store(true, Ordering::Relaxed);
    }

    /// Whether a response has gone on since the last call.
    pub(super) fn take_progress(&self) -> bool {
        // Ordering: a flag of its own.
        self.0.moved.swap(false, Ordering::Relaxed)
    }

    pub(super) fn was_answered(&self) -> bool {
        // Ordering: the task of the connection reads what it wrote.
        self.0.answered.load(Ordering::Relaxed)
    }

    pub(super) fn set_answered(&self, answered: bool) {
        // Ordering: see `was_answered`.
        self.0.answered.store(answered, Ordering::Relaxed);
    }

    /// A stream becomes a connection of its own.
    pub(super) fn note_tunnel(&self) {
        // Ordering: see `is_busy`.
        self.0.tunnel.store(true, Ordering::Relaxed);
    }
}

impl Connection for Shared {
    fn poll_look(&self, cx: &mut Context<'_>, asked: &mut Option<u64>) -> Poll<Look> {
        match self.flow.get() {
            Some(flow) => flow.poll_look(cx, asked),
            None => Poll::Ready(Look::default()),
        }
    }
}

/// A request of HTTP/2 that runs.
pub(super) struct Running(Activity);

impl Running {
    pub(super) fn activity(&self) -> &Activity {
        &self.0
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Ordering: see `Activity::is_busy`.
        self.0.0.running.fetch_sub(1, Ordering::Relaxed);
        self.0.note_progress();
    }
}
