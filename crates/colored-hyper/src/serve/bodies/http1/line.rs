//! Where lines and pieces of known length end.

/// Where the first line ends. Every request pays for this, so it looks at eight bytes at a time: in the difference with
/// eight newlines, a zero byte borrows from its highest bit, and the lowest such bit is exact.
pub(super) fn line_end(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    let (words, rest) = bytes.as_chunks::<8>();
    for (n, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word) ^ (ONES * b'\n' as u64);
        let found = word.wrapping_sub(ONES) & !word & (ONES << 7);
        if found != 0 {
            return Some(8 * n + found.trailing_zeros() as usize / 8);
        }
    }
    rest.iter().position(|&b| b == b'\n').map(|n| 8 * words.len() + n)
}

/// What is left of `left` bytes behind `bytes`, and which of these come after.
pub(super) fn skip(left: u64, bytes: &[u8]) -> (u64, &[u8]) {
    let n = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
    (left - n as u64, &bytes[n..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_newline_is_found_among_all_bytes() {
        for len in 0..40 {
            for other in [0, b'\n' - 1, b'\n' + 1, b'\n' | 0x80, 0xff] {
                let mut bytes = vec![other; len];
                assert_eq!(line_end(&bytes), None);
                for at in (0..len).rev() {
                    bytes[at] = b'\n';
                    assert_eq!(line_end(&bytes), Some(at));
                }
            }
        }
    }
}
