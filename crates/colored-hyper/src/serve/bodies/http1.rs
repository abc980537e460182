//! [`Requests`]: where the bodies of HTTP/1 requests end (RFC 9112, sections 6 and 7).
//!
//! This follows the framing only. What it takes for a request and hyper refuses ends the connection anyway.

/// The requests of one connection.
#[derive(Default)]
pub(super) struct Requests {
    at: At,
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    head: Head,
    /// Whether something has come since the wait began.
    came: bool,
}

/// Which bytes come next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum At {
    #[default]
    RequestLine,
    Fields,
    /// The bytes that are left of a body of known length.
    Data(u64),
    /// The line with the size of a chunk.
    Size,
    /// The bytes that are left of a chunk.
    Chunk(u64),
    /// The end of the line behind a chunk.
    ChunkEnd,
    Trailers,
    /// Another protocol, or what is none.
    Unknown,
}

/// What the fields of the present request say.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
    length: u64,
    is_chunked: bool,
    asks_for_upgrade: bool,
    is_connect: bool,
}

impl Requests {
    pub(super) fn owes(&self) -> bool {
        !matches!(self.at, At::RequestLine | At::Fields | At::Unknown)
    }

    pub(super) fn begin_wait(&mut self) {
        self.came = false;
    }

    pub(super) fn has_stalled(&self) -> bool {
        self.owes() && !self.came
    }

    /// Another protocol begins with the answer to a request for it.
    pub(super) fn note_written(&mut self, bytes: &[u8]) {
        let Head { asks_for_upgrade, is_connect, .. } = self.head;
        let is_upgraded = asks_for_upgrade && bytes.starts_with(b"HTTP/1.1 101");
        if is_upgraded || is_connect && bytes.starts_with(b"HTTP/1.1 2") {
            self.at = At::Unknown;
        }
    }

    pub(super) fn read(&mut self, mut bytes: &[u8]) {
        self.came |= !bytes.is_empty();
        while !bytes.is_empty() {
            match self.at {
                At::Unknown => return,
                At::Data(left) => {
                    let (left, rest) = skip(left, bytes);
                    self.at = if left == 0 { At::RequestLine } else { At::Data(left) };
                    bytes = rest;
                }
                At::Chunk(left) => {
                    let (left, rest) = skip(left, bytes);
                    self.at = if left == 0 { At::ChunkEnd } else { At::Chunk(left) };
                    bytes = rest;
                }
                _ => {
                    if self.at == At::Fields && self.line.is_empty() {
                        bytes = skip_fields(bytes);
                    }
                    let Some(end) = line_end(bytes) else {
                        self.line.extend_from_slice(bytes);
                        return;
                    };
                    if self.line.is_empty() {
                        self.take_line(&bytes[..end]);
                    } else {
                        let mut line = std::mem::take(&mut self.line);
                        line.extend_from_slice(&bytes[..end]);
                        self.take_line(&line);
                    }
                    bytes = &bytes[end + 1..];
                }
            }
        }
    }

    /// A line without its end.
    fn take_line(&mut self, line: &[u8]) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        self.at = match (self.at, line.is_empty()) {
            (At::RequestLine, true) => At::RequestLine,
            (At::RequestLine, false) => {
                let is_connect = line.starts_with(b"CONNECT ");
                self.head = Head { is_connect, ..Head::default() };
                At::Fields
            }
            (At::Fields, false) => {
                self.head.take_field(line);
                At::Fields
            }
            (At::Fields, true) => self.head.body(),
            (At::ChunkEnd, _) => At::Size,
            (At::Size, _) => match chunk_size(line) {
                Some(0) => At::Trailers,
                Some(size) => At::Chunk(size),
                None => At::Unknown,
            },
            (At::Trailers, true) => At::RequestLine,
            (at, _) => at,
        };
    }
}

impl Head {
    fn take_field(&mut self, line: &[u8]) {
        let Some(colon) = line.iter().position(|&b| b == b':') else { return };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"content-length") {
            self.length = std::str::from_utf8(value).ok().and_then(|n| n.parse().ok()).unwrap_or(0);
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            let last = value.rsplit(|&b| b == b',').next().unwrap_or(value).trim_ascii();
            self.is_chunked = last.eq_ignore_ascii_case(b"chunked");
        } else if name.eq_ignore_ascii_case(b"upgrade") {
            self.asks_for_upgrade = true;
        }
    }

    /// What follows the head.
    fn body(&self) -> At {
        match self {
            Head { is_chunked: true, .. } => At::Size,
            Head { length: 0, .. } => At::RequestLine,
            Head { length, .. } => At::Data(*length),
        }
    }
}

/// Where the first line ends. Every request pays for this, so it looks at eight bytes at a time: in the difference with
/// eight newlines, a zero byte borrows from its highest bit, and the lowest such bit is exact.
fn line_end(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    let (words, rest) = bytes.as_chunks::<8>();
    for (n, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word) ^ (ONES * b'\n' as u64);
        let found = word.wrapping_sub(ONES) & !word & (ONES << 7);
        if found != 0 {
            return Some(8 * n + found.trailing_zeros() as usize / 8);
        }
    }
    rest.iter().position(|&b| b == b'\n').map(|n| 8 * words.len() + n)
}

/// What follows the fields that say nothing here, up to the end of the head or of `bytes`.
fn skip_fields(mut bytes: &[u8]) -> &[u8] {
    while let [first, second, _, fourth, ..] = bytes
        && !matches!(
            (first | 0x20, second | 0x20, fourth | 0x20),
            // `content-length`, `transfer-encoding`, `upgrade`; an empty line may begin what follows.
            (b'c', _, b't') | (b't', b'r', _) | (b'u', b'p', _)
        )
        && !matches!(first, b'\r' | b'\n')
        && let Some(end) = line_end(bytes)
    {
        bytes = &bytes[end + 1..];
    }
    bytes
}

/// What is left of `left` bytes behind `bytes`, and which of these come after.
fn skip(left: u64, bytes: &[u8]) -> (u64, &[u8]) {
    let n = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
    (left - n as u64, &bytes[n..])
}

/// The size before an extension, in hexadecimal digits.
fn chunk_size(line: &[u8]) -> Option<u64> {
    let digits = line.split(|&b| b == b';').next().unwrap_or(line).trim_ascii();
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After how many of its bytes a client owes more of a body: each text, cut after each byte and read in pieces of `n`.
    fn owing(text: &str, n: usize) -> Vec<usize> {
        let ends = 0..=text.len();
        ends.filter(|&end| {
            let mut requests = Requests::default();
            text.as_bytes()[..end].chunks(n).for_each(|piece| requests.read(piece));
            requests.owes()
        })
        .collect()
    }

    #[test]
    fn a_body_is_owed_from_the_end_of_the_head_to_its_own() {
        let get = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
        let post = "\r\nPOST / HTTP/1.1\r\nhost: a\r\nConTent-Length: 5\r\n\r\n12\r\n5";
        let chunks = "PUT / HTTP/1.1\nTransfer-encoding: gzip, Chunked\n\n\
            a;x=y\r\n0123456789\r\n2\r\n\r\n\r\n0\r\nlast: b\r\n\r\n";
        for n in [1, 2, 7, 1000] {
            assert!(owing(get, n).is_empty());
            let text = format!("{get}{post}{get}{chunks}{get}");
            let (first, second) = (get.len() + post.len(), 2 * get.len() + post.len());
            let head = chunks.find("\n\n").unwrap() + 2;
            let mut expected: Vec<_> = (first - 5..first).collect();
            expected.extend(second + head..second + chunks.len());
            assert_eq!(owing(&text, n), expected, "in pieces of {n}");
        }
    }

    #[test]
    fn the_first_newline_is_found_among_all_bytes() {
        for len in 0..40 {
            for other in [0, b'\n' - 1, b'\n' + 1, b'\n' | 0x80, 0xff] {
                let mut bytes = vec![other; len];
                assert_eq!(line_end(&bytes), None);
                for at in (0..len).rev() {
                    bytes[at] = b'\n';
                    assert_eq!(line_end(&bytes), Some(at));
                }
            }
        }
    }

    #[test]
    fn another_protocol_owes_nothing() {
        let upgrade = b"GET / HTTP/1.1\r\nupgrade: x\r\n\r\n";
        let post = b"POST / HTTP/1.1\r\ncontent-length: 5\r\n\r\n";
        let connect = b"CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n";
        for (ask, answer, owes) in [
            (&upgrade[..], "HTTP/1.1 101 Switching Protocols\r\n", false),
            (upgrade, "HTTP/1.1 200 OK\r\n", true),
            (connect, "HTTP/1.1 200 OK\r\n", false),
            (connect, "HTTP/1.1 403 Forbidden\r\n", true),
            (b"GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\n", true),
        ] {
            let mut requests = Requests::default();
            requests.read(ask);
            requests.note_written(answer.as_bytes());
            requests.read(post);
            assert_eq!(requests.owes(), owes, "{answer}");
        }
    }
}
