//! The content of a file: bytes that depend on its number and on the offset alone.
//!
//! So a client can check a body without the file, and a body of another file or from another offset does not pass.

const WORD: u64 = 8;

/// Eight bytes of the content, at an offset of eight times `index`.
const fn word(file: u32, index: u64) -> [u8; WORD as usize] {
    // Sizes are at most 2⁴⁰, so different files and offsets have different keys. The steps below can be undone one by
    // one, so different keys have different words.
    let key = (file as u64) << 37 ^ index;
    let mixed = key.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ mixed >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93).to_le_bytes()
}

/// Writes the content of `file` from `offset` on into `bytes`.
pub fn fill(file: u32, offset: u64, bytes: &mut [u8]) {
    let (first, from) = first(offset, bytes.len());
    let (start, words) = bytes.split_at_mut(first);
    start.copy_from_slice(&word(file, offset / WORD)[from..from + first]);
    for (index, bytes) in (offset.div_ceil(WORD)..).zip(words.chunks_mut(WORD as usize)) {
        bytes.copy_from_slice(&word(file, index)[..bytes.len()]);
    }
}

/// Whether `bytes` are the content of `file` from `offset` on.
#[must_use]
pub fn matches(file: u32, offset: u64, bytes: &[u8]) -> bool {
    let (first, from) = first(offset, bytes.len());
    let (start, words) = bytes.split_at(first);
    let mut pairs = (offset.div_ceil(WORD)..).zip(words.chunks(WORD as usize));
    *start == word(file, offset / WORD)[from..from + first]
        && pairs.all(|(index, bytes)| *bytes == word(file, index)[..bytes.len()])
}

/// How many of the first bytes belong to a word that begins before `offset`, and where in that word they begin.
fn first(offset: u64, length: usize) -> (usize, usize) {
    let from = (offset % WORD) as usize;
    ((offset.div_ceil(WORD) * WORD - offset).min(length as u64) as usize, from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_range_is_a_part_of_the_same_content() {
        let mut whole = [0; 100];
        fill(7, 0, &mut whole);
        for from in 0..100 {
            for to in from..100 {
                let mut part = vec![0; to - from];
                fill(7, from as u64, &mut part);
                assert_eq!(part, whole[from..to]);
                assert!(matches(7, from as u64, &part));
            }
        }
    }

    #[test]
    fn other_files_other_offsets_and_changed_bytes_do_not_match() {
        let mut bytes = [0; 64];
        fill(7, 8, &mut bytes);
        assert!(!matches(8, 8, &bytes) && !matches(7, 0, &bytes) && !matches(7, 9, &bytes));
        for at in 0..bytes.len() {
            bytes[at] ^= 1;
            assert!(!matches(7, 8, &bytes), "{at}");
            bytes[at] ^= 1;
        }
    }
}
