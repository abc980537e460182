//! [`Coding`]: whether the last coding of a body is `chunked`.

const CHUNKED: &[u8] = b"chunked";

/// How much of [`CHUNKED`] a coding has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Begins(u8),
    Chunked,
    Other,
}

impl Coding {
    /// The coding of which one more byte has come.
    pub(super) fn and(self, byte: u8) -> Coding {
        match (self, byte) {
            (_, b',') | (Coding::Begins(0), b' ' | b'\t') => Coding::Begins(0),
            (Coding::Chunked, b' ' | b'\t' | b'\r') => Coding::Chunked,
            (Coding::Begins(len), _) if byte.to_ascii_lowercase() == CHUNKED[usize::from(len)] => {
                match usize::from(len) + 1 == CHUNKED.len() {
                    true => Coding::Chunked,
                    false => Coding::Begins(len + 1),
                }
            }
            _ => Coding::Other,
        }
    }
}
