//! The head of a segment: what a file of frames begins with.
//!
//! It stands there twice, since nothing of the file can be read without its salt. It is on the device before the first record.

use super::frame::{self, Found, HEAD, Spot};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::Path;

/// What the payload begins with, and the number of the format.
const MAGIC: &[u8; 16] = b"colored segment2";

/// The same of the format before, whose place was another one.
const OLD: &[u8; 16] = b"colored segment1";

/// The bytes of one of the two.
const ONE: usize = HEAD + 56;

/// The bytes of both.
pub(crate) const SEGMENT_HEAD: u64 = 2 * ONE as u64;

/// What a segment says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentHead {
    /// The offset of its first record.
    pub(crate) base: u64,
    /// The segment before it ends at this offset: at `base`, unless records were lost between both.
    pub(crate) after: u64,
    /// A number of this file.
    pub(crate) salt: u64,
    /// A number of the log.
    pub(crate) identity: u128,
}

impl SegmentHead {
    /// The head of a new file of a log.
    pub(crate) fn new(base: u64, after: u64, identity: u128) -> SegmentHead {
        SegmentHead { base, after, salt: random(), identity }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let SegmentHead { base, after, salt, identity } = self;
        let mut out = Vec::new();
        for at in [0, ONE as u64] {
            frame::append(&mut out, Spot { salt: 0, at }, 0, |out| {
                out.extend_from_slice(MAGIC);
                for number in [base, after, salt] {
                    out.extend_from_slice(&number.to_le_bytes());
                }
                out.extend_from_slice(&identity.to_le_bytes());
            });
        }
        out
    }

    /// The head at the begin of a file. `None` if there is none.
    ///
    /// # Errors
    ///
    /// If the file has another format.
    pub(crate) fn decode(bytes: &[u8], path: &Path) -> io::Result<Option<SegmentHead>> {
        if bytes.get(8..24).is_some_and(|magic| magic == OLD) {
            let text = format!(
                "{} has the format 1 of colored-consumer, and this version reads the format 2",
                path.display()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        let read = |at: usize| match frame::read(bytes.get(at..)?, Spot { salt: 0, at: at as u64 })
        {
            Found::Payload(_, payload) => SegmentHead::decode_payload(payload),
            _ => None,
        };
        Ok(read(0).or_else(|| read(ONE)))
    }

    fn decode_payload(payload: &[u8]) -> Option<SegmentHead> {
        let rest = payload.strip_prefix(MAGIC)?;
        let (numbers, identity) = rest.split_at_checked(24)?;
        let number = |at: usize| {
            u64::from_le_bytes(numbers[8 * at..8 * at + 8].try_into().expect("eight bytes"))
        };
        let identity = u128::from_le_bytes(identity.try_into().ok()?);
        Some(SegmentHead { base: number(0), after: number(1), salt: number(2), identity })
    }
}

/// A number that nobody can guess. Nothing depends on which it is, so that a simulation may differ in it.
fn random() -> u64 {
    RandomState::new().hash_one(0_u64)
}

/// The number of a new log.
pub(crate) fn new_identity() -> u128 {
    u128::from(random()) << 64 | u128::from(random())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_comes_back_whichever_byte_is_bad() {
        let head = SegmentHead::new(7, 5, new_identity());
        let bytes = head.encode();
        assert_eq!(bytes.len() as u64, SEGMENT_HEAD);
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(SegmentHead::decode(&changed, Path::new("s")).unwrap(), Some(head));
        }
        for end in 0..ONE {
            assert_eq!(SegmentHead::decode(&bytes[..end], Path::new("s")).unwrap(), None);
        }
    }

    #[test]
    fn another_format_is_refused_by_its_number() {
        let bytes = [&[24, 0, 0, 0, 1, 2, 3, 4], &OLD[..], &[0; 8]].concat();
        let error = SegmentHead::decode(&bytes, Path::new("s")).unwrap_err().to_string();
        assert!(error.contains("format 1"), "{error}");
    }
}
