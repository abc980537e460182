//! A frame: a word with the length of a payload and flags, a checksum of the word, a checksum of the payload, and the
//! payload. The checksums depend on the place of the frame and on the salt of its file, so a frame that stands elsewhere, or
//! in the value of a record, is none.
//!
//! Invariant: `read` returns a payload only if `append` wrote exactly these bytes at this place, up to a collision of
//! CRC-32. Each frame has its own place, so that the frames behind a damaged one can be found again.

use crc32fast::Hasher;
use std::sync::LazyLock;

/// The bytes before the payload: three numbers of 32 bits, least significant byte first.
pub(crate) const HEAD: usize = 12;

/// No payload is longer, so a forged length is recognized before anything is read for it.
pub(crate) const MAX_PAYLOAD: usize = 64 << 20;

/// No payload is shorter.
pub(crate) const MIN_PAYLOAD: usize = 8;

/// The frame begins a row: everything before it is confirmed.
pub(crate) const ROW: u32 = 1 << 31;

/// Everything before the frame is on the device.
pub(crate) const SYNCED: u32 = 1 << 30;

/// The frame is no record: its payload is the offset of the next one.
pub(crate) const MARK: u32 = 1 << 29;

/// The mark is the last frame of a segment, and another segment follows.
pub(crate) const END: u32 = 1 << 28;

const FLAGS: u32 = ROW | SYNCED | MARK | END;

/// Where a frame stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    pub(crate) salt: u64,
    /// The place of its first byte in the file.
    pub(crate) at: u64,
}

/// What stands at a place of a file.
#[derive(Debug, PartialEq)]
pub(crate) enum Found<'a> {
    /// A payload with the flags. The frame ends [`HEAD`] bytes and the length of the payload further on.
    Payload(u32, &'a [u8]),
    /// The bytes end before the frame, which has so many bytes.
    Short(usize),
    /// The payload is not what was written; the frame has so many bytes.
    Torn(usize),
    /// No frame begins here.
    Bad,
}

/// Appends a frame whose payload `write` appends.
///
/// Panics if the payload is longer than [`MAX_PAYLOAD`].
pub(crate) fn append(out: &mut Vec<u8>, spot: Spot, flags: u32, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; HEAD]);
    write(out);
    let length = out.len() - start - HEAD;
    let are_allowed = MIN_PAYLOAD..=MAX_PAYLOAD;
    assert!(
        are_allowed.contains(&length),
        "a payload of {length} bytes: {are_allowed:?} are allowed"
    );
    let word = length as u32 | flags;
    let mut sum = Salted::new(spot.salt).sum_of_word(word, spot.at);
    let of_word = sum.clone().finalize();
    sum.update(&out[start + HEAD..]);
    let numbers = [word, of_word, sum.finalize()].map(u32::to_le_bytes).concat();
    out[start..start + HEAD].copy_from_slice(&numbers);
}

/// The frame at the start of `bytes`.
pub(crate) fn read(bytes: &[u8], Spot { salt, at }: Spot) -> Found<'_> {
    Salted::new(salt).read(bytes, at)
}

/// Reads frames of one file, whose salt is in each checksum.
#[derive(Clone, Debug)]
pub(crate) struct Salted(Hasher);

impl Salted {
    /// The way to compute a checksum is chosen once: to choose it costs as much as the checksum of a short record.
    pub(crate) fn new(salt: u64) -> Salted {
        static CHOSEN: LazyLock<Hasher> = LazyLock::new(Hasher::new);
        let mut sum = CHOSEN.clone();
        sum.update(&salt.to_le_bytes());
        Salted(sum)
    }

    /// The frame at the start of `bytes`, which stand at this place.
    #[inline]
    pub(crate) fn read<'a>(&self, bytes: &'a [u8], at: u64) -> Found<'a> {
        let Some((head, rest)) = bytes.split_first_chunk::<HEAD>() else {
            return Found::Short(HEAD);
        };
        let number =
            |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes"));
        let (word, of_word, of_payload) = (number(0), number(4), number(8));
        let length = (word & !FLAGS) as usize;
        let mut sum = self.sum_of_word(word, at);
        if !(MIN_PAYLOAD..=MAX_PAYLOAD).contains(&length) || sum.clone().finalize() != of_word {
            return Found::Bad;
        }
        let Some(payload) = rest.get(..length) else { return Found::Short(HEAD + length) };
        sum.update(payload);
        if sum.finalize() == of_payload {
            Found::Payload(word & FLAGS, payload)
        } else {
            Found::Torn(HEAD + length)
        }
    }

    /// The checksum of the word of a frame, which that of its payload goes on from.
    #[inline]
    fn sum_of_word(&self, word: u32, at: u64) -> Hasher {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&at.to_le_bytes());
        bytes[8..].copy_from_slice(&word.to_le_bytes());
        let mut sum = self.0.clone();
        sum.update(&bytes);
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPOT: Spot = Spot { salt: 5, at: 70 };

    fn framed(payload: &[u8], flags: u32) -> Vec<u8> {
        let mut out = Vec::new();
        append(&mut out, SPOT, flags, |out| out.extend_from_slice(payload));
        out
    }

    #[test]
    fn a_frame_is_read_as_it_was_written() {
        for payload in [&b"8 bytes."[..], b"a longer one", &[7; 1000]] {
            for flags in [0, ROW, ROW | SYNCED | MARK | END] {
                let bytes = framed(payload, flags);
                assert_eq!(read(&bytes, SPOT), Found::Payload(flags, payload));
                assert_eq!(bytes.len(), HEAD + payload.len());
            }
        }
    }

    #[test]
    fn a_frame_of_another_place_or_file_is_none() {
        let bytes = framed(b"some payload", ROW);
        assert_eq!(read(&bytes, Spot { at: 71, ..SPOT }), Found::Bad);
        assert_eq!(read(&bytes, Spot { salt: 6, ..SPOT }), Found::Bad);
    }

    #[test]
    fn a_torn_frame_is_short_and_a_changed_one_is_none() {
        let bytes = framed(b"some payload", 0);
        for end in 0..bytes.len() {
            let expected = if end < HEAD { HEAD } else { bytes.len() };
            assert_eq!(read(&bytes[..end], SPOT), Found::Short(expected), "{end} bytes");
        }
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let expected = if bit / 8 < 8 { Found::Bad } else { Found::Torn(bytes.len()) };
            assert_eq!(read(&changed, SPOT), expected, "bit {bit}");
        }
    }

    #[test]
    fn zeros_and_forged_lengths_are_no_frames() {
        for salt in 0..100 {
            let spot = Spot { salt, at: 0 };
            assert_eq!(read(&[0; 64], spot), Found::Bad);
            assert_eq!(read(&[0xff; 64], spot), Found::Bad);
        }
    }
}
