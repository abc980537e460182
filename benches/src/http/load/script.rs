//! What the clients ask for.

use super::super::{BODY, FILE};

/// One kind of client.
#[derive(Clone, Copy, Debug)]
pub struct Script {
    pub(super) request: &'static [u8],
    /// What every answer must be, to the byte.
    pub(super) body: &'static [u8],
    /// Requests on a connection before it is closed and another one opened; `None` for no end.
    pub(super) visit: Option<u32>,
}

impl Script {
    /// Asks for [`BODY`], on one connection for ever.
    pub const HELLO: Self =
        Self { request: b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n", body: BODY, visit: None };

    /// Asks for [`FILE`], so many times on each connection.
    #[must_use]
    pub const fn file(visit: u32) -> Self {
        let request = b"GET /file HTTP/1.1\r\nhost: localhost\r\n\r\n";
        Self { request, body: FILE, visit: Some(visit) }
    }

    /// Requests that are left on the first connection of client `index`: clients are spread over
    /// their visits, so that they do not all come again at once.
    pub(super) fn first_visit(&self, index: usize) -> u32 {
        // Less than the visit, so it fits.
        self.visit.map_or(0, |visit| visit - (index % visit as usize) as u32)
    }
}
