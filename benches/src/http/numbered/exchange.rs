//! Requests in, responses out, without a socket.

use httparse::{EMPTY_HEADER, Request, Status};

/// Bytes of a number: hexadecimal digits.
const DIGITS: usize = 16;
/// Bytes of the part of a response that is always the same.
const HEAD: usize = 39;
/// Bytes of a response.
pub(super) const RESPONSE: usize = HEAD + DIGITS;
/// The most bytes of a request, and its most headers.
const ROOM: usize = 256;
const HEADERS: usize = 8;

const NOTHING: [u8; RESPONSE] = *b"HTTP/1.1 200 OK\r\ncontent-length: 16\r\n\r\n0000000000000000";

/// The request with this number.
pub(super) fn request(number: u64) -> String {
    format!("GET /{number:016x} HTTP/1.1\r\nhost: localhost\r\n\r\n")
}

/// The response to the request with this number.
pub(super) fn response(number: u64) -> [u8; RESPONSE] {
    let mut response = NOTHING;
    response[HEAD..].copy_from_slice(format!("{number:016x}").as_bytes());
    response
}

/// The bytes of one connection that are under way.
#[derive(Debug)]
pub(super) struct Exchange {
    request: [u8; ROOM],
    length: usize,
    response: [u8; RESPONSE],
}

/// These bytes are no request, or a longer one than the server takes, or its path is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unknown;

impl Default for Exchange {
    fn default() -> Self {
        Self { request: [0; ROOM], length: 0, response: NOTHING }
    }
}

impl Exchange {
    /// Where the next bytes go. It is never empty, if [`Exchange::respond`] has returned no error.
    pub(super) fn room(&mut self) -> &mut [u8] {
        &mut self.request[self.length..]
    }

    /// Takes so many bytes, which stand in the room.
    pub(super) fn take(&mut self, length: usize) {
        self.length += length;
    }

    /// The response to the first request, which is forgotten; `None` if it is not whole.
    ///
    /// # Errors
    ///
    /// If the connection must be closed.
    pub(super) fn respond(&mut self) -> Result<Option<&[u8]>, Unknown> {
        let bytes = &self.request[..self.length];
        let mut headers = [EMPTY_HEADER; HEADERS];
        let mut request = Request::new(&mut headers);
        let end = match request.parse(bytes) {
            Ok(Status::Complete(end)) => end,
            Ok(Status::Partial) if self.length < ROOM => return Ok(None),
            _ => return Err(Unknown),
        };
        let digits = request.path.and_then(|path| path.strip_prefix('/')).ok_or(Unknown)?;
        if digits.len() != DIGITS {
            return Err(Unknown);
        }
        self.response[HEAD..].copy_from_slice(digits.as_bytes());
        self.request.copy_within(end..self.length, 0);
        self.length -= end;
        Ok(Some(&self.response))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(exchange: &mut Exchange, bytes: &[u8]) {
        exchange.room()[..bytes.len()].copy_from_slice(bytes);
        exchange.take(bytes.len());
    }

    #[test]
    fn requests_in_pieces_and_behind_each_other_have_their_own_numbers() {
        let all = request(7) + &request(u64::MAX);
        for cut in 1..all.len() {
            let mut exchange = Exchange::default();
            let mut responses = Vec::new();
            for piece in [&all[..cut], &all[cut..]] {
                push(&mut exchange, piece.as_bytes());
                while let Some(response) = exchange.respond().expect("they are requests") {
                    responses.push(response.to_vec());
                }
            }
            assert_eq!(responses, [response(7), response(u64::MAX)], "{cut}");
        }
    }

    #[test]
    fn what_is_no_request_of_ours_ends_the_connection() {
        let texts = ["no request\r\n\r\n", "GET /1 HTTP/1.1\r\n\r\n", &"x".repeat(ROOM)];
        for text in texts {
            let mut exchange = Exchange::default();
            push(&mut exchange, text.as_bytes());
            assert_eq!(exchange.respond(), Err(Unknown), "{text}");
        }
    }
}
