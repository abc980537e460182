//! The map in the metadata of a commit: which offsets above the committed one are done. The format is that of
//! Confluent's Parallel Consumer, so that a group can go from one to the other while it runs.
//!
//! The text is base64 of a byte that names the form, and a body. Numbers are big-endian and signed. Offsets are relative
//! to the committed one.
//!
//! | byte | body |
//! |---|---|
//! | `l`, `o` | the number of offsets, 16 or 32 bits, then a bit for each, the least significant first; 1 is done |
//! | `n`, `e` | lengths, 16 or 32 bits each, of rows that are in turn not done and done |
//! | `a`, `s`, `J`, `p` | the body of `l`, `o`, `n`, `e`, as one frame of zstd: read, and not written |
//!
//! Invariants:
//!
//! * What `encode` writes, `decode` reads as the same ranges.
//! * `decode` claims no offset at or beyond the end of the log, and never the committed offset itself, whatever the text
//!   says. A text that is not exactly of this format is a fault, and claims nothing.

use super::{base64, compressed};
use std::fmt;
use std::ops::Range;

/// So many bytes fit into the 4,096 characters that Kafka allows.
pub(crate) const MOST_BYTES: usize = 3072;

/// Every map of a range of so many offsets fits, as bits.
pub(crate) const MOST_BITS: u64 = (MOST_BYTES as u64 - 5) * 8;

/// Every map of so many ranges fits, as lengths.
pub(crate) const MOST_RANGES: usize = (MOST_BYTES - 1) / 8; // two rows of four bytes each

/// No length of a row is longer.
pub(crate) const MOST_LENGTH: u64 = i32::MAX as u64;

/// Why metadata has no map that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MetadataFault {
    /// The text is not base64.
    NotBase64,
    /// The form has no known name: this byte.
    UnknownForm(u8),
    /// The body is not what its form says.
    Malformed,
}

impl fmt::Display for MetadataFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotBase64 => f.write_str("the metadata is not base64"),
            Self::UnknownForm(form) => write!(f, "the metadata has the unknown form {form:#04x}"),
            Self::Malformed => f.write_str("the map is not what its form says"),
        }
    }
}

impl std::error::Error for MetadataFault {}

/// The metadata for these ranges of relative offsets, which ascend and do not touch. The shortest form is taken.
///
/// Empty if there are no ranges. At most 4,096 characters if the last range ends at or before [`MOST_BITS`], or there are at
/// most [`MOST_RANGES`] with no length above [`MOST_LENGTH`].
pub(crate) fn encode(ranges: &[Range<u64>]) -> Vec<u8> {
    let Some(last) = ranges.last() else { return Vec::new() };
    let lengths = lengths(ranges);
    let longest = lengths.iter().copied().max().unwrap_or(0);
    let width = if longest <= i16::MAX as u64 { 2 } else { 4 };
    let as_lengths = 1 + width * lengths.len();
    let as_bits = (5 + last.end.div_ceil(8)) as usize;
    let bytes = if as_lengths <= as_bits && longest <= MOST_LENGTH {
        encode_lengths(&lengths, width)
    } else {
        encode_bits(ranges, last.end)
    };
    base64::encode(&bytes)
}

/// The lengths of the rows, the first of which is not done.
fn lengths(ranges: &[Range<u64>]) -> Vec<u64> {
    let mut lengths = Vec::with_capacity(2 * ranges.len());
    let mut end = 0;
    for range in ranges {
        lengths.extend([range.start - end, range.end - range.start]);
        end = range.end;
    }
    lengths
}

fn encode_lengths(lengths: &[u64], width: usize) -> Vec<u8> {
    let mut bytes = vec![if width == 2 { b'n' } else { b'e' }];
    for length in lengths {
        bytes.extend_from_slice(&length.to_be_bytes()[8 - width..]);
    }
    bytes
}

fn encode_bits(ranges: &[Range<u64>], end: u64) -> Vec<u8> {
    let mut bytes = if end <= i16::MAX as u64 {
        [&b"l"[..], &(end as i16).to_be_bytes()].concat()
    } else {
        [&b"o"[..], &(end as i32).to_be_bytes()].concat()
    };
    let start = bytes.len();
    bytes.resize(start + end.div_ceil(8) as usize, 0);
    for offset in ranges.iter().cloned().flatten() {
        bytes[start + (offset / 8) as usize] |= 1 << (offset % 8);
    }
    bytes
}

/// The ranges of relative offsets that the metadata of a commit calls done. `limit` is how many offsets the log has from the
/// committed one on.
pub(crate) fn decode(metadata: &[u8], limit: u64) -> Result<Vec<Range<u64>>, MetadataFault> {
    // Kafka's client for Python stores a byte more than it was given, a zero.
    let text = metadata.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let metadata = &metadata[..text];
    if metadata.is_empty() {
        return Ok(Vec::new());
    }
    let bytes = base64::decode(metadata).ok_or(MetadataFault::NotBase64)?;
    let (form, body) = bytes.split_first().ok_or(MetadataFault::NotBase64)?;
    let plain = match form {
        b'a' => b'l',
        b's' => b'o',
        b'J' => b'n',
        b'p' => b'e',
        b'l' | b'o' | b'n' | b'e' => *form,
        _ => return Err(MetadataFault::UnknownForm(*form)),
    };
    let ranges = if plain == *form {
        decode_body(plain, body)
    } else {
        compressed::expand(body).and_then(|body| decode_body(plain, &body))
    };
    let clip = |range: Range<u64>| range.start.max(1)..range.end.min(limit);
    let ranges = ranges.ok_or(MetadataFault::Malformed)?.into_iter().map(clip);
    Ok(ranges.filter(|range| range.start < range.end).collect())
}

/// The ranges of a body that is not compressed.
fn decode_body(form: u8, body: &[u8]) -> Option<Vec<Range<u64>>> {
    match form {
        b'l' => decode_bits(number::<2>(body), body.get(2..)),
        b'o' => decode_bits(number::<4>(body), body.get(4..)),
        b'n' => decode_lengths::<2>(body),
        b'e' => decode_lengths::<4>(body),
        _ => None,
    }
}

/// A number that is not negative.
fn number<const N: usize>(bytes: &[u8]) -> Option<u64> {
    let bytes = bytes.get(..N)?;
    let number = bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    (number >> (8 * N - 1) == 0).then_some(number)
}

fn decode_bits(count: Option<u64>, bits: Option<&[u8]>) -> Option<Vec<Range<u64>>> {
    let (count, bits) = (count?, bits?);
    // Java writes one byte more than needed, and others leave out zeros at the end.
    if bits.len() as u64 > count / 8 + 1 {
        return None;
    }
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for offset in 0..bits.len() as u64 * 8 {
        if bits[(offset / 8) as usize] & (1 << (offset % 8)) == 0 {
            continue;
        }
        if offset >= count {
            return None;
        }
        match ranges.last_mut() {
            Some(last) if last.end == offset => last.end += 1,
            _ => ranges.push(offset..offset + 1),
        }
    }
    Some(ranges)
}

fn decode_lengths<const N: usize>(body: &[u8]) -> Option<Vec<Range<u64>>> {
    if !body.len().is_multiple_of(N) {
        return None;
    }
    let (mut ranges, mut end, mut is_done) = (Vec::<Range<u64>>::new(), 0_u64, false);
    for bytes in body.chunks(N) {
        let start = end;
        end += number::<N>(bytes)?;
        if is_done && start < end {
            match ranges.last_mut() {
                // A row of length zero stood between them.
                Some(last) if last.end == start => last.end = end,
                _ => ranges.push(start..end),
            }
        }
        is_done = !is_done;
    }
    Some(ranges)
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "the map has one range")]
mod tests {
    use super::*;

    /// Written by Parallel Consumer 0.5.3.3: committed 100, then 1 not done, 49 done, 2 not, 748 done, 1 not, 99 done.
    #[test]
    fn a_map_of_parallel_consumer_is_read() {
        let ranges = decode(b"bgABADEAAgLsAAEAYw==", u64::MAX).unwrap();
        assert_eq!(ranges, [1..50, 52..800, 801..900]);
        assert_eq!(decode(b"bgABADEAAgLsAAEAYw==\0", u64::MAX), Ok(ranges.clone()));
        assert_eq!(decode(b"\0", u64::MAX), Ok(Vec::new()));
        assert_eq!(encode(&ranges), b"bgABADEAAgLsAAEAYw==");
    }

    /// From x86-64, which is little-endian; the tests run on s390x too.
    #[test]
    fn a_map_has_the_same_text_on_every_machine() {
        let every_second = (1..12).map(|n| 2 * n - 1..2 * n).collect::<Vec<_>>();
        for (text, ranges) in [
            (&b"ZQAAAAEAARFvAAAnEAAAAAM="[..], vec![1..70_000, 80_000..80_003]),
            (b"bAAWqqoq", every_second),
        ] {
            assert_eq!(encode(&ranges), text);
            assert_eq!(decode(text, u64::MAX), Ok(ranges));
        }
    }

    /// Written by the program `zstd` 1.5 through a pipe, at level 3, without a checksum. Every fifth of 4,000 and every seventh of
    /// 40,000 offsets is not done; 300 times, one offset is not done and 9 or 70,000 are.
    #[test]
    fn compressed_maps_are_read_in_all_forms() {
        let every = |step: u64, end: u64| -> Vec<Range<u64>> {
            (0..end).step_by(step as usize).map(|at| at + 1..(at + step).min(end)).collect()
        };
        let maps: [(&[u8], Vec<Range<u64>>); 4] = [
            (b"YSi1L/0AWH0AAEAPoN577733AAEA7FCLEQ==", every(5, 4000)),
            (b"cyi1L/0AWKUAAGAAAJxAfr/f7/f7/QABAH6jvngB", every(7, 40_000)),
            (b"Sii1L/0AWF0AACAAAQAJAQCp/Dsi", every(10, 3000)),
            (b"cCi1L/0AWH0AAEAAAAABAAERcAEAVZlfuA==", every(70_001, 300 * 70_001)),
        ];
        for (text, ranges) in maps {
            assert_eq!(decode(text, u64::MAX).unwrap(), ranges);
            let damaged = &base64::decode(text).unwrap()[..12];
            let fault = decode(&base64::encode(damaged), u64::MAX);
            assert_eq!(fault, Err(MetadataFault::Malformed));
        }
    }

    #[test]
    fn maps_come_back_in_all_forms() {
        let every_second = |count: u64| (0..count).map(|n| 2 * n + 1..2 * n + 2).collect();
        let maps: [(u8, Vec<Range<u64>>); 6] = [
            (b'n', vec![1..2]),
            (b'n', vec![1..2, 100..32_000]),
            (b'e', vec![1..100_000, 200_000..i32::MAX as u64]),
            (b'l', every_second(100)),
            (b'l', every_second(12_000)),
            (b'o', [every_second(12_000), vec![24_100..24_536]].concat()),
        ];
        for (form, ranges) in maps {
            let text = encode(&ranges);
            assert!(text.len() <= 4096, "{}", text.len());
            assert_eq!(decode(&text, u64::MAX).unwrap(), ranges);
            if ranges.last().unwrap().end <= i16::MAX as u64 || form == b'e' {
                assert_eq!(
                    base64::decode(&text).unwrap()[0],
                    if form == b'o' { b'l' } else { form }
                );
            }
        }
    }

    #[test]
    fn random_maps_come_back_and_fit() {
        for seed in 0..500 {
            let mut chance = fastrand::Rng::with_seed(seed);
            let (mut ranges, mut end) = (Vec::new(), 0);
            let (is_dense, count) = (chance.bool(), chance.usize(1..=MOST_RANGES));
            for _ in 0..count {
                let most = if is_dense { 20 } else { 1_000_000 };
                let start = end + chance.u64(1..=most);
                end = start + chance.u64(1..=most);
                ranges.push(start..end);
            }
            let text = encode(&ranges);
            assert!(text.len() <= 4096, "seed {seed}: {}", text.len());
            assert_eq!(decode(&text, u64::MAX).unwrap(), ranges, "seed {seed}");
            let limit = chance.u64(..end + 2);
            assert!(decode(&text, limit).unwrap().iter().all(|range| range.end <= limit));
        }
    }

    #[test]
    fn foreign_metadata_is_a_fault() {
        let text = |bytes: &[u8]| base64::encode(bytes);
        let faults = [
            (b"consumer-1".to_vec(), MetadataFault::NotBase64),
            (vec![0xff, 0xfe], MetadataFault::NotBase64),
            (text(&[1, 2, 3]), MetadataFault::UnknownForm(1)),
            (text(b"L\0\0"), MetadataFault::UnknownForm(b'L')),
            (text(b"p\x28\xb5\x2f\xfd"), MetadataFault::Malformed),
            (text(b"l"), MetadataFault::Malformed),
            (text(b"l\0\x08\xff\xff\xff"), MetadataFault::Malformed),
            (text(b"l\xff\xff\0"), MetadataFault::Malformed),
            (text(b"l\0\x03\xff"), MetadataFault::Malformed),
            (text(b"n\0"), MetadataFault::Malformed),
            (text(b"n\xff\xff"), MetadataFault::Malformed),
            (text(b"e\0\0\0"), MetadataFault::Malformed),
        ];
        for (metadata, fault) in faults {
            assert_eq!(decode(&metadata, u64::MAX), Err(fault), "{metadata:?}");
        }
    }

    /// Two billion records are not skipped because a byte says so.
    #[test]
    fn a_claim_ends_at_the_end_of_the_log_and_never_has_the_committed_offset() {
        let forged = base64::encode(b"e\0\0\0\0\x7f\xff\xff\xff\0\0\0\0\x7f\xff\xff\xff");
        assert_eq!(decode(&forged, 10).unwrap(), [1..10]);
        assert_eq!(decode(&forged, 1).unwrap(), []);
        assert_eq!(decode(&forged, 0).unwrap(), []);
        let bits = base64::encode(b"l\0\x08\xff");
        assert_eq!(decode(&bits, 100).unwrap(), [1..8]);
    }
}
