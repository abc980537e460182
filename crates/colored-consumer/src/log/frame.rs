//! A frame: the length of a payload, a checksum over the length and the payload, and the payload. The highest bit of the
//! length marks the frame.
//!
//! Invariant: `read` returns a payload only if `append` wrote exactly these bytes at this place, up to a collision of
//! CRC-32. A file of zeros has no frame, since the checksum of a length of zero is not zero.

/// The bytes before the payload: two numbers of 32 bits, least significant byte first.
pub(crate) const HEAD: usize = 8;

/// No payload is longer, so a forged length is recognized before anything is read for it.
pub(crate) const MAX_PAYLOAD: usize = 64 << 20;

/// Set in the length of a marked frame.
const MARK: u32 = 1 << 31;

/// What stands at a place of a file.
#[derive(Debug, PartialEq)]
pub(crate) enum Found<'a> {
    /// A payload. The frame ends `HEAD` bytes and the length of the payload further on.
    Payload(&'a [u8]),
    /// The bytes end before the frame, which has so many bytes if its length is true.
    Short(usize),
    /// No frame begins here.
    Bad,
}

/// Appends a frame whose payload `write` appends.
///
/// Panics if the payload is longer than [`MAX_PAYLOAD`].
pub(crate) fn append(out: &mut Vec<u8>, is_marked: bool, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; HEAD]);
    write(out);
    let length = out.len() - start - HEAD;
    assert!(length <= MAX_PAYLOAD, "a payload of {length} bytes, and {MAX_PAYLOAD} are allowed");
    let mark = if is_marked { MARK } else { 0 };
    let length = (length as u32 | mark).to_le_bytes();
    let sum = checksum(length, &out[start + HEAD..]);
    out[start..start + 4].copy_from_slice(&length);
    out[start + 4..start + HEAD].copy_from_slice(&sum.to_le_bytes());
}

/// The frame at the start of `bytes`.
pub(crate) fn read(bytes: &[u8]) -> Found<'_> {
    let (Some(length), Some(sum)) = (number(bytes, 0), number(bytes, 4)) else {
        return Found::Short(HEAD);
    };
    let payload = (length & !MARK) as usize;
    if payload > MAX_PAYLOAD {
        return Found::Bad;
    }
    match bytes.get(HEAD..HEAD + payload) {
        None => Found::Short(HEAD + payload),
        Some(payload) if checksum(length.to_le_bytes(), payload) == sum => Found::Payload(payload),
        Some(_) => Found::Bad,
    }
}

/// Whether the frame at the start of `bytes`, which [`read`] has accepted, is marked.
pub(crate) fn is_marked(bytes: &[u8]) -> bool {
    number(bytes, 0).is_some_and(|length| length & MARK != 0)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(bytes.try_into().expect("four bytes")))
}

fn checksum(length: [u8; 4], payload: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&length);
    sum.update(payload);
    sum.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(payload: &[u8]) -> Vec<u8> {
        framed(payload, false)
    }

    fn framed(payload: &[u8], is_marked: bool) -> Vec<u8> {
        let mut out = Vec::new();
        append(&mut out, is_marked, |out| out.extend_from_slice(payload));
        out
    }

    #[test]
    fn a_frame_is_read_as_it_was_written() {
        for payload in [&b""[..], b"a", &[7; 1000]] {
            for marked in [false, true] {
                let bytes = framed(payload, marked);
                assert_eq!(read(&bytes), Found::Payload(payload));
                assert_eq!(bytes.len(), HEAD + payload.len());
                assert_eq!(is_marked(&bytes), marked);
            }
        }
    }

    #[test]
    fn a_torn_frame_is_short_and_a_changed_one_is_bad() {
        let bytes = frame(b"some payload");
        for end in 0..bytes.len() {
            let expected = if end < HEAD { HEAD } else { bytes.len() };
            assert_eq!(read(&bytes[..end]), Found::Short(expected), "{end} bytes");
        }
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(!matches!(read(&changed), Found::Payload(_)), "bit {bit}");
        }
    }

    #[test]
    fn zeros_and_forged_lengths_are_no_frames() {
        assert_eq!(read(&[0; 64]), Found::Bad);
        assert_eq!(read(&[0xff; 64]), Found::Bad);
    }
}
