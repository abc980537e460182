//! The requests of the clients.

use super::super::{BODY, FILE};
use std::time::Duration;

/// Time between two interrupts of a network card, about as drivers set it.
const MODERATION: Duration = Duration::from_micros(250);

/// One kind of client.
#[derive(Clone, Copy, Debug)]
pub struct Script {
    pub(super) request: &'static [u8],
    /// The expected body of every answer, to the byte.
    pub(super) body: &'static [u8],
    /// Requests on a connection before it is closed and another is opened; `None` for no end.
    pub(super) visit: Option<u32>,
    /// Time between two looks for answers; `None` to sleep until one comes.
    pub(super) look: Option<Duration>,
}

impl Script {
    /// Asks for [`BODY`], on one connection for ever.
    pub const HELLO: Self = Self {
        request: b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n",
        body: BODY,
        visit: None,
        look: None,
    };

    /// Asks for [`FILE`], `visit` times on each connection.
    #[must_use]
    pub const fn file(visit: u32) -> Self {
        let request = b"GET /file HTTP/1.1\r\nhost: localhost\r\n\r\n";
        Self { request, body: FILE, visit: Some(visit), look: None }
    }

    /// The same requests from clients that no answer wakes: they look now and then.
    ///
    /// A sender pays for waking a thread on the same machine. A client on another machine is woken by its
    /// network card, for all data since the last interrupt.
    #[must_use]
    pub const fn looking(self) -> Self {
        Self { look: Some(MODERATION), ..self }
    }

    /// Whether its clients look for answers, instead of being woken by them.
    #[must_use]
    pub const fn is_looking(&self) -> bool {
        self.look.is_some()
    }

    /// Requests that are left on the first connection of client `index`: clients are spread over
    /// their visits, so that they do not all come again at once.
    pub(super) fn first_visit(&self, index: usize) -> u32 {
        // The result is less than the visit, so it fits.
        self.visit.map_or(0, |visit| visit - (index % visit as usize) as u32)
    }
}
