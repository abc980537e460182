//! The head of a response: [`Head`].

use super::fault::{Fault, FaultKind};

/// The longest head in bytes, with the empty line.
pub(super) const MAX_HEAD: usize = 16 * 1024;

/// What the player needs of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) status: u16,
    /// The length of the body, if the head has one.
    pub(super) length: Option<u64>,
    /// Whether the server closes the connection after the body.
    pub(super) closes: bool,
    /// The bytes of the head itself.
    pub(super) bytes: usize,
}

/// Parses the head at the start of `bytes`. None if it is not complete yet.
pub(super) fn parse(bytes: &[u8]) -> Result<Option<Head>, Fault> {
    let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
        return match bytes.len() {
            0..MAX_HEAD => Ok(None),
            _ => Err(malformed(format!("a longer head; allowed are {MAX_HEAD} bytes"))),
        };
    };
    let text = str::from_utf8(&bytes[..end]);
    let text = text.map_err(|_| malformed("a head that is not UTF-8".to_owned()))?;
    let mut lines = text.split("\r\n");
    let (status, is_1_1) = status(lines.next().unwrap_or_default())?;
    let mut head = Head { status, length: None, closes: !is_1_1, bytes: end + 4 };
    for line in lines {
        let Some((name, value)) = line.split_once(':') else {
            return Err(malformed(format!("the line `{}`; allowed is `name: value`", short(line))));
        };
        head.header(name, value.trim())?;
    }
    Ok(Some(head))
}

/// The status, and whether the version is 1.1 in place of 1.0.
fn status(line: &str) -> Result<(u16, bool), Fault> {
    let wrong = || malformed(format!("the line `{}`; allowed is `HTTP/1.1 200 ...`", short(line)));
    let mut words = line.split(' ');
    let is_1_1 = match words.next() {
        Some("HTTP/1.1") => true,
        Some("HTTP/1.0") => false,
        _ => return Err(wrong()),
    };
    let status = words.next().filter(|word| word.len() == 3).and_then(|word| word.parse().ok());
    Ok((status.ok_or_else(wrong)?, is_1_1))
}

impl Head {
    fn header(&mut self, name: &str, value: &str) -> Result<(), Fault> {
        if name.eq_ignore_ascii_case("content-length") {
            let length = value.parse().ok().filter(|_| value.bytes().all(|b| b.is_ascii_digit()));
            if length.is_none() || self.length.is_some_and(|other| Some(other) != length) {
                return Err(malformed(format!(
                    "content-length `{}`; allowed is one number",
                    short(value)
                )));
            }
            self.length = length;
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(malformed("a transfer-encoding; allowed is a content-length".to_owned()));
        } else if name.eq_ignore_ascii_case("connection") {
            for option in value.split(',').map(str::trim) {
                self.closes |= option.eq_ignore_ascii_case("close");
                self.closes &= !option.eq_ignore_ascii_case("keep-alive");
            }
        }
        Ok(())
    }
}

fn malformed(text: String) -> Fault {
    Fault::new(FaultKind::Malformed, text)
}

fn short(text: &str) -> String {
    text.chars().take(40).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Result<Option<Head>, String> {
        parse(text.as_bytes()).map_err(|fault| fault.to_string())
    }

    #[test]
    fn a_head_has_status_length_and_the_end_of_the_connection() {
        let usual = Head { status: 200, length: Some(12), closes: false, bytes: 39 };
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nbody";
        assert_eq!(head(text), Ok(Some(usual)));
        for end in 0..usual.bytes {
            assert_eq!(head(&text[..end]), Ok(None));
        }
        let closes = |text| head(text).map(|head| head.map(|head| head.closes));
        assert_eq!(closes("HTTP/1.1 404 No\r\nConnection: x, Close\r\n\r\n"), Ok(Some(true)));
        assert_eq!(closes("HTTP/1.0 200 OK\r\n\r\n"), Ok(Some(true)));
        assert_eq!(closes("HTTP/1.0 200 OK\r\nconnection: keep-alive\r\n\r\n"), Ok(Some(false)));
    }

    #[test]
    fn a_malformed_head_is_refused_with_what_is_allowed() {
        for (text, fault) in [
            ("SSH-2.0\r\n\r\n", "the line `SSH-2.0`; allowed is `HTTP/1.1 200 ...`"),
            ("HTTP/1.1 2000\r\n\r\n", "the line `HTTP/1.1 2000`; allowed is `HTTP/1.1 200 ...`"),
            ("HTTP/1.1 200\r\nx\r\n\r\n", "the line `x`; allowed is `name: value`"),
            (
                "HTTP/1.1 200\r\nContent-Length: +5\r\n\r\n",
                "content-length `+5`; allowed is one number",
            ),
            (
                "HTTP/1.1 200\r\nContent-Length: 5\r\ncontent-length: 6\r\n\r\n",
                "content-length `6`; allowed is one number",
            ),
            (
                "HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n",
                "a transfer-encoding; allowed is a content-length",
            ),
        ] {
            assert_eq!(head(text), Err(format!("malformed: {fault}")));
        }
        assert!(head(&"x".repeat(MAX_HEAD)).is_err());
    }
}
