//! The protocol, as far as `redis-benchmark` uses it: commands are arrays of strings, or a line of words.

use bytes::{Buf, Bytes, BytesMut};

/// More than a command of `redis-benchmark` has: a client cannot make the server reserve memory by a number alone.
const MOST_WORDS: usize = 1_024;
const MOST_BYTES: usize = 1 << 20;

/// A command: its words, the name first.
pub(crate) type Command = Vec<Bytes>;

/// Takes the next command out of `buffer`; `None` if it is not complete yet.
///
/// # Errors
///
/// If the bytes are no command, or a larger one than this server takes.
pub(crate) fn next(buffer: &mut BytesMut) -> Result<Option<Command>, &'static str> {
    let Some(first) = buffer.first() else { return Ok(None) };
    if *first != b'*' {
        let Some(end) = line_end(buffer) else { return Ok(None) };
        let line = buffer.split_to(end + 2).freeze();
        let words = line[..end].split(|byte| *byte == b' ').filter(|word| !word.is_empty());
        return Ok(Some(words.map(|word| line.slice_ref(word)).collect()));
    }
    let Some((mut at, words)) = number(buffer, 1)? else { return Ok(None) };
    if words > MOST_WORDS {
        return Err("ERR a command has at most 1024 words");
    }
    let mut places = Vec::with_capacity(words);
    for _ in 0..words {
        match buffer.get(at) {
            None => return Ok(None),
            Some(b'$') => {}
            Some(_) => return Err("ERR a word begins with '$'"),
        }
        let Some((begin, length)) = number(buffer, at + 1)? else { return Ok(None) };
        if length > MOST_BYTES {
            return Err("ERR a word has at most 1 MiB");
        }
        at = begin + length + 2;
        if buffer.len() < at {
            return Ok(None);
        }
        places.push(begin..begin + length);
    }
    let command = buffer.split_to(at).freeze();
    Ok(Some(places.into_iter().map(|place| command.slice(place)).collect()))
}

fn line_end(bytes: &[u8]) -> Option<usize> {
    bytes.windows(2).position(|pair| pair == b"\r\n")
}

/// The number of the line that begins at `at`, and where the next line begins.
fn number(buffer: &[u8], at: usize) -> Result<Option<(usize, usize)>, &'static str> {
    let rest = buffer.get(at..).unwrap_or_default();
    let Some(end) = line_end(&rest[..rest.len().min(32)]) else {
        return if rest.len() < 32 { Ok(None) } else { Err("ERR a number is too long") };
    };
    let text = std::str::from_utf8(&rest[..end]).map_err(|_| "ERR not a number")?;
    let number = text.parse().map_err(|_| "ERR not a number")?;
    Ok(Some((at + end + 2, number)))
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Ok,
    Pong,
    Nothing,
    Value(Bytes),
    Number(i64),
    Error(&'static str),
    /// An array without elements: what `redis-benchmark` gets for its question about the configuration.
    Empty,
}

impl Answer {
    /// Appends the answer.
    pub(crate) fn write(&self, out: &mut BytesMut) {
        match self {
            Self::Ok => out.extend_from_slice(b"+OK\r\n"),
            Self::Pong => out.extend_from_slice(b"+PONG\r\n"),
            Self::Nothing => out.extend_from_slice(b"$-1\r\n"),
            Self::Empty => out.extend_from_slice(b"*0\r\n"),
            Self::Value(bytes) => {
                out.extend_from_slice(format!("${}\r\n", bytes.len()).as_bytes());
                out.extend_from_slice(bytes.chunk());
                out.extend_from_slice(b"\r\n");
            }
            Self::Number(number) => out.extend_from_slice(format!(":{number}\r\n").as_bytes()),
            Self::Error(text) => out.extend_from_slice(format!("-{text}\r\n").as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, next};
    use bytes::BytesMut;

    #[test]
    fn a_command_is_taken_when_its_last_byte_has_come() {
        let whole = b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$2\r\n\r\n\r\n";
        for length in 0..whole.len() {
            let mut buffer = BytesMut::from(&whole[..length]);
            assert_eq!(next(&mut buffer), Ok(None), "{length} bytes");
            assert_eq!(buffer.len(), length);
        }
        let mut buffer = BytesMut::from(&[&whole[..], b"PING  a\r\n"].concat()[..]);
        assert_eq!(next(&mut buffer).unwrap().unwrap(), ["SET", "a", "\r\n"]);
        assert_eq!(next(&mut buffer).unwrap().unwrap(), ["PING", "a"]);
        assert!(buffer.is_empty());
    }

    #[test]
    fn what_is_no_command_is_refused() {
        for bytes in ["*x\r\n", "*-1\r\n", "*9999999\r\n", "*1\r\n$99999999\r\n", "*1\r\n+OK\r\n"] {
            assert!(next(&mut BytesMut::from(bytes)).is_err(), "{bytes:?}");
        }
        assert!(next(&mut BytesMut::from(&[b'*', b'1', b'1'].repeat(20)[..])).is_err());
    }

    #[test]
    fn answers_have_the_form_of_the_protocol() {
        let mut out = BytesMut::new();
        for answer in [Answer::Ok, Answer::Nothing, Answer::Value("ab".into()), Answer::Number(-3)]
        {
            answer.write(&mut out);
        }
        assert_eq!(out, "+OK\r\n$-1\r\n$2\r\nab\r\n:-3\r\n");
    }
}
