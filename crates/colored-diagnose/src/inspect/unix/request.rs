//! [`Request`]: what a reader may ask.

/// The longest line, without its end.
pub(super) const LONGEST: usize = 64;

/// What the errors name.
const ALLOWED: &str =
    "allowed are `snapshot`, `dump`, `trace`, `level 0` and `level 1`, each followed by a line end";

/// A line of a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// The state of the runtime.
    Snapshot,
    /// The tasks, and what each waits for.
    Dump,
    /// The timeline, in a file.
    Trace,
    /// Whether waits are to be measured.
    Level(bool),
}

impl Request {
    /// Reads a line, without its end.
    pub(super) fn parse(line: &[u8]) -> Result<Self, String> {
        match line.trim_ascii() {
            b"snapshot" => Ok(Self::Snapshot),
            b"dump" => Ok(Self::Dump),
            b"trace" => Ok(Self::Trace),
            b"level 0" => Ok(Self::Level(false)),
            b"level 1" => Ok(Self::Level(true)),
            other => Err(format!("the request is {:?}: {ALLOWED}", String::from_utf8_lossy(other))),
        }
    }
}

/// The error of a line that does not end.
pub(super) fn too_long() -> String {
    format!("the request is longer than {LONGEST} bytes: {ALLOWED}")
}

#[cfg(test)]
mod tests {
    use super::Request;

    #[test]
    fn a_request_is_a_word_and_perhaps_a_number() {
        assert_eq!(Request::parse(b"snapshot"), Ok(Request::Snapshot));
        assert_eq!(Request::parse(b" snapshot\r"), Ok(Request::Snapshot));
        assert_eq!(Request::parse(b"dump"), Ok(Request::Dump));
        assert_eq!(Request::parse(b"trace"), Ok(Request::Trace));
        assert_eq!(Request::parse(b"level 0"), Ok(Request::Level(false)));
        assert_eq!(Request::parse(b"level 1"), Ok(Request::Level(true)));
        for wrong in [&b""[..], b"level", b"level 2", b"level 1 1", b"snapshots", b"\xff\0"] {
            let error = Request::parse(wrong).unwrap_err();
            assert!(error.starts_with("the request is \""), "{error}");
            assert!(
                error.contains("allowed are `snapshot`, `dump`, `trace`, `level 0` and `level 1`"),
                "{error}"
            );
        }
    }
}
