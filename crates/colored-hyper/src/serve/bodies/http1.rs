//! [`Requests`]: where the bodies of HTTP/1 requests end (RFC 9112, sections 6 and 7).
//!
//! hyper reads the socket for a body, and also while the handler works, to notice that the client has gone. Both look the
//! same from the socket, and the `Incoming` that the handler polls tells nobody but the handler. So the framing tells
//! which of the two it is: one byte after the other, and nothing of it is kept, however long a line is.
//!
//! What this takes for a request and hyper refuses ends the connection anyway.

mod coding;
mod line;

use self::coding::Coding;
use self::line::{line_end, skip};

/// The requests of one connection.
#[derive(Default)]
pub(super) struct Requests {
    at: At,
    head: Head,
    /// Whether something has come since the wait began.
    came: bool,
}

/// Which bytes come next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum At {
    /// A request, maybe behind empty lines.
    #[default]
    Request,
    /// A method of which so many bytes are those of [`CONNECT`].
    Method(u8),
    /// A field, or the end of the head.
    Field,
    /// The rest of a name, of which so many bytes are those of `NAMES[n]` for each bit `n`.
    Name { len: u8, may_be: u8 },
    /// The value of `content-length`.
    Length,
    /// The value of `transfer-encoding`: the last of its codings so far.
    Coding(Coding),
    /// The rest of a line of the head.
    HeadLine,
    /// The bytes that are left of a body of known length.
    Data(u64),
    /// The first digit of the size of a chunk.
    Size,
    /// The other digits.
    Digits(u64),
    /// The rest of the line with this size.
    SizeLine(u64),
    /// The bytes that are left of a chunk.
    Chunk(u64),
    /// The end of the line behind a chunk.
    ChunkEnd,
    /// A field behind the last chunk, or the end of the body.
    Trailer,
    /// The rest of such a field.
    TrailerLine,
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

const CONNECT: &[u8] = b"CONNECT ";
const NAMES: [&[u8]; 3] = [b"content-length", b"transfer-encoding", b"upgrade"];

impl Requests {
    pub(super) fn owes(&self) -> bool {
        use At::{Chunk, ChunkEnd, Data, Digits, Size, SizeLine, Trailer, TrailerLine};
        matches!(
            self.at,
            Data(_) | Size | Digits(_) | SizeLine(_) | Chunk(_) | ChunkEnd | Trailer | TrailerLine
        )
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

    /// How many bytes at the beginning are of empty lines before a request. What follows a request for another protocol may
    /// be of that one.
    pub(super) fn empty_lines(&self, bytes: &[u8]) -> usize {
        let Head { asks_for_upgrade, is_connect, .. } = self.head;
        if self.at != At::Request || asks_for_upgrade || is_connect {
            return 0;
        }
        bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count()
    }

    pub(super) fn read(&mut self, mut bytes: &[u8]) {
        self.came |= !bytes.is_empty();
        while let [byte, rest @ ..] = bytes {
            bytes = match self.at {
                At::Unknown => return,
                At::Data(left) => {
                    let (left, rest) = skip(left, bytes);
                    self.at = if left == 0 { At::Request } else { At::Data(left) };
                    rest
                }
                At::Chunk(left) => {
                    let (left, rest) = skip(left, bytes);
                    self.at = if left == 0 { At::ChunkEnd } else { At::Chunk(left) };
                    rest
                }
                At::HeadLine | At::SizeLine(_) | At::ChunkEnd | At::TrailerLine => {
                    let Some(end) = line_end(bytes) else { return };
                    self.end_line();
                    &bytes[end + 1..]
                }
                _ => {
                    self.take(*byte);
                    rest
                }
            };
        }
    }

    /// A byte that may say something.
    fn take(&mut self, byte: u8) {
        self.at = match (self.at, byte) {
            (At::Request, b'\r' | b'\n') => At::Request,
            (At::Request, _) => {
                self.head = Head::default();
                return self.take_method(0, byte);
            }
            (At::Method(len), _) => return self.take_method(len, byte),
            (At::Field, b'\n') => self.head.body(),
            (At::Field | At::Trailer, b'\r') => self.at,
            (At::Field, _) => self.take_name(0, 0b111, byte),
            (At::Name { len, may_be }, _) => self.take_name(len, may_be, byte),
            (At::Length, b'\n') => At::Field,
            (At::Length, _) => {
                self.head.take_length(byte);
                At::Length
            }
            (At::Coding(coding), b'\n') => {
                self.head.is_chunked = coding == Coding::Chunked;
                At::Field
            }
            (At::Coding(coding), _) => At::Coding(coding.and(byte)),
            (At::Size, _) => digit(byte).map_or(At::Unknown, At::Digits),
            (At::Digits(size), _) => more_digits(size, byte),
            (At::Trailer, b'\n') => At::Request,
            (At::Trailer, _) => At::TrailerLine,
            (at, _) => at,
        };
        if let (At::SizeLine(_), b'\n') = (self.at, byte) {
            self.end_line();
        }
    }

    fn take_method(&mut self, len: u8, byte: u8) {
        self.at = match CONNECT.get(usize::from(len)) {
            _ if byte == b'\n' => At::Field,
            Some(expected) if byte == *expected => At::Method(len + 1),
            _ => At::HeadLine,
        };
        if self.at == At::Method(CONNECT.len() as u8) {
            self.head.is_connect = true;
            self.at = At::HeadLine;
        }
    }

    fn take_name(&mut self, len: u8, may_be: u8, byte: u8) -> At {
        let at = usize::from(len);
        let is = |n: usize| may_be & 1 << n != 0;
        match byte {
            b'\n' => At::Field,
            b':' => match (0..NAMES.len()).find(|&n| is(n) && NAMES[n].len() == at) {
                Some(0) => {
                    self.head.length = 0;
                    At::Length
                }
                Some(1) => At::Coding(Coding::Begins(0)),
                Some(_) => {
                    self.head.asks_for_upgrade = true;
                    At::HeadLine
                }
                None => At::HeadLine,
            },
            _ => {
                let goes_on =
                    |n: &usize| is(*n) && NAMES[*n].get(at) == Some(&byte.to_ascii_lowercase());
                match (0..NAMES.len()).filter(goes_on).fold(0, |bits, n| bits | 1 << n) {
                    0 => At::HeadLine,
                    may_be => At::Name { len: len + 1, may_be },
                }
            }
        }
    }

    /// The line of which nothing more was wanted has ended.
    fn end_line(&mut self) {
        self.at = match self.at {
            At::SizeLine(0) => At::Trailer,
            At::SizeLine(size) => At::Chunk(size),
            At::ChunkEnd => At::Size,
            At::TrailerLine => At::Trailer,
            _ => At::Field,
        };
    }
}

impl Head {
    fn take_length(&mut self, byte: u8) {
        if byte.is_ascii_digit() {
            // hyper refuses a longer number.
            self.length = self.length.saturating_mul(10).saturating_add(u64::from(byte - b'0'));
        }
    }

    /// What follows the head.
    fn body(&self) -> At {
        match self {
            Head { is_chunked: true, .. } => At::Size,
            Head { length: 0, .. } => At::Request,
            Head { length, .. } => At::Data(*length),
        }
    }
}

fn digit(byte: u8) -> Option<u64> {
    char::from(byte).to_digit(16).map(u64::from)
}

/// Behind the first digits of the size of a chunk. hyper refuses a size that is too large.
fn more_digits(size: u64, byte: u8) -> At {
    match digit(byte) {
        None => At::SizeLine(size),
        Some(_) if size >> 60 != 0 => At::Unknown,
        Some(digit) => At::Digits(size << 4 | digit),
    }
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
        let chunks = "PUT / HTTP/1.1\nTransfer-encoding: chunk, gzip , \tChunked \nuser: transfer-encoding: x\n\n\
            a;x=y\r\n0123456789\r\n0002 \t \r\n\r\n\r\n0\r\nlast: b\r\n\r\n";
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

    /// The codings whose last one is `chunked`, and the others.
    #[test]
    fn only_the_last_coding_counts() {
        for (value, is_chunked) in [
            ("chunked", true),
            (" gzip,CHUNKED\t", true),
            ("chunked, gzip", false),
            ("chunked,", false),
            ("chunkedx", false),
            ("xchunked", false),
            ("chun ked", false),
            ("chunked x", false),
        ] {
            let text = format!("PUT / HTTP/1.1\r\ntransfer-encoding:{value}\r\n\r\n");
            assert_eq!(!owing(&text, 1).is_empty(), is_chunked, "{value}");
        }
    }

    /// A size may be as long as the client likes, and the numbers do not overflow.
    #[test]
    fn long_numbers_are_followed() {
        let begin = "PUT / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n";
        let (zeros, spaces) = ("0".repeat(500), " ".repeat(500));
        let zeros = format!("{begin}{zeros}1{spaces}\r\nx\r\n0\r\n\r\n");
        assert_eq!(owing(&zeros, 100).len(), zeros.len() - begin.len());
        assert_eq!(owing(&format!("{begin}{}", "f".repeat(17)), 1).len(), 17);
        let length = format!("PUT / HTTP/1.1\r\ncontent-length: {}\r\n\r\n", "9".repeat(30));
        assert_eq!(owing(&length, 1), [length.len()]);
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
