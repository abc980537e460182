//! Maps that Parallel Consumer has compressed by zstd.

use ruzstd::decoding::StreamingDecoder;
use std::io::Read;

/// No map of a group that keeps to the bounds of Parallel Consumer is longer when it is expanded. A guess: 20 times what fits
/// into a commit. A forged map of 3 kB could take 100 MB.
const MOST_BYTES: usize = 64 << 10;

/// The most that an encoder may let a decoder remember. Its usual level asks for 2 MiB, and the format recommends that
/// decoders support 8 MiB.
const MOST_WINDOW: u64 = 8 << 20;

/// The content of one frame of zstd. None if it is damaged, goes on behind its end, or is too long.
pub(crate) fn expand(frame: &[u8]) -> Option<Vec<u8>> {
    let decoder = StreamingDecoder::new_with_max_window_size(frame, MOST_WINDOW).ok()?;
    let mut limited = decoder.take(MOST_BYTES as u64 + 1);
    let mut bytes = Vec::new();
    limited.read_to_end(&mut bytes).ok()?;
    let decoder = limited.into_inner();
    let announced = decoder.decoder.content_size();
    let is_whole = decoder.get_ref().is_empty() && bytes.len() <= MOST_BYTES;
    (is_whole && (announced == 0 || announced == bytes.len() as u64)).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{MOST_BYTES, expand};
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    fn compress(bytes: &[u8]) -> Vec<u8> {
        compress_to_vec(bytes, CompressionLevel::Fastest)
    }

    #[test]
    fn a_frame_is_expanded_up_to_the_bound() {
        let longest = vec![7; MOST_BYTES];
        for bytes in [&b""[..], b"map", &longest] {
            assert_eq!(expand(&compress(bytes)).as_deref(), Some(bytes));
        }
        assert_eq!(expand(&compress(&[7; MOST_BYTES + 1])), None);
    }

    /// 500 blocks of 128 KiB, four bytes each.
    #[test]
    fn a_small_frame_that_expands_without_end_is_refused() {
        // A window of 2 MiB.
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
        for block in 0..500_u32 {
            // The last one, of one repeated byte, and the size.
            let header = u32::from(block == 499) | 1 << 1 | (128 << 10) << 3;
            frame.extend_from_slice(&header.to_le_bytes()[..3]);
            frame.push(0);
        }
        assert!(frame.len() < 3072);
        assert_eq!(expand(&frame), None);
    }

    #[test]
    fn what_is_no_frame_is_refused() {
        let frame = compress(b"a map of some offsets");
        for end in 0..frame.len() {
            assert_eq!(expand(&frame[..end]), None, "{end}");
        }
        assert_eq!(expand(&[&frame[..], b"x"].concat()), None);
        assert_eq!(expand(&[&frame[..], &frame[..]].concat()), None);
        // A window of 2^41 bytes.
        assert_eq!(expand(&[0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 1, 0, 0]), None);
    }

    #[test]
    fn random_damage_is_refused_or_stays_within_the_bound() {
        for seed in 0..2000 {
            let mut chance = fastrand::Rng::with_seed(seed);
            let length = chance.usize(..2000);
            let bytes: Vec<u8> = (0..length).map(|_| chance.u8(..4)).collect();
            let mut frame = compress(&bytes);
            for _ in 0..chance.usize(1..4) {
                let at = chance.usize(..frame.len());
                frame[at] = chance.u8(..);
            }
            if let Some(bytes) = expand(&frame) {
                assert!(bytes.len() <= MOST_BYTES, "seed {seed}");
            }
        }
    }
}
