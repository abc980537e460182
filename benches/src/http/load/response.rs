//! Checks that a response is the requested one.

/// The kind of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parsed {
    /// The beginning of a response.
    Partial,
    /// Exactly one response, with status 200 and the expected body.
    Whole,
    /// Anything else.
    Wrong,
}

const STATUS: &[u8] = b"HTTP/1.1 200 ";
const LENGTH: &[u8] = b"content-length:";
const END: &[u8] = b"\r\n\r\n";

/// Checks one response against the `body` it must have.
pub(super) fn parse(bytes: &[u8], body: &[u8]) -> Parsed {
    let known = bytes.len().min(STATUS.len());
    if bytes[..known] != STATUS[..known] {
        return Parsed::Wrong;
    }
    let Some(end) = bytes.windows(END.len()).position(|window| window == END) else {
        return Parsed::Partial;
    };
    let got = &bytes[end + END.len()..];
    if content_length(&bytes[..end]) != Some(body.len()) || !body.starts_with(got) {
        return Parsed::Wrong;
    }
    if got.len() < body.len() { Parsed::Partial } else { Parsed::Whole }
}

fn content_length(head: &[u8]) -> Option<usize> {
    head.split(|&byte| byte == b'\n').find_map(|line| {
        let (name, value) = line.split_at_checked(LENGTH.len())?;
        if !name.eq_ignore_ascii_case(LENGTH) {
            return None;
        }
        str::from_utf8(value).ok()?.trim().parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\ndate: now\r\n\r\nhi";

    #[test]
    fn every_prefix_is_partial_and_the_whole_is_whole() {
        for length in 0..RESPONSE.len() {
            assert_eq!(parse(&RESPONSE[..length], b"hi"), Parsed::Partial, "{length}");
        }
        assert_eq!(parse(RESPONSE, b"hi"), Parsed::Whole);
    }

    #[test]
    fn what_differs_is_wrong() {
        assert_eq!(parse(b"HTTP/1.1 500 no", b"hi"), Parsed::Wrong);
        assert_eq!(parse(RESPONSE, b"ho"), Parsed::Wrong);
        assert_eq!(parse(RESPONSE, b"hi!"), Parsed::Wrong);
        assert_eq!(parse(&[RESPONSE, b"!"].concat(), b"hi"), Parsed::Wrong);
        assert_eq!(parse(b"HTTP/1.1 200 OK\r\n\r\n", b""), Parsed::Wrong);
    }
}
