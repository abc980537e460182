//! Slices that are written as one.

use super::open_file::INLINE;
use std::borrow::Cow;
use std::io::IoSlice;

/// The bytes of the slices, one after the other, at most as many as an attempt moves: one write then moves all of them.
/// A slice that is alone, or as long as that, is not copied.
pub(super) fn joined<'a>(bufs: &'a [IoSlice<'_>]) -> Cow<'a, [u8]> {
    let mut filled = bufs.iter().filter(|buf| !buf.is_empty());
    let first = filled.next().map_or(&[][..], |buf| buf);
    if first.len() >= INLINE || filled.clone().next().is_none() {
        return Cow::Borrowed(first);
    }
    let len = bufs.iter().fold(0, |len: usize, buf| len.saturating_add(buf.len())).min(INLINE);
    let mut whole = Vec::with_capacity(len);
    whole.extend_from_slice(first);
    for buf in filled {
        let room = len - whole.len();
        whole.extend_from_slice(&buf[..buf.len().min(room)]);
    }
    Cow::Owned(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(lengths: &[usize]) -> (usize, bool) {
        let bytes: Vec<_> = lengths.iter().map(|len| vec![7; *len]).collect();
        let bufs: Vec<_> = bytes.iter().map(|bytes| IoSlice::new(bytes)).collect();
        let joined = joined(&bufs);
        assert!(bytes.concat().starts_with(&joined));
        (joined.len(), matches!(joined, Cow::Owned(_)))
    }

    #[test]
    fn several_short_slices_are_copied_and_a_long_or_single_one_is_not() {
        assert_eq!(lengths(&[]), (0, false));
        assert_eq!(lengths(&[0, 0]), (0, false));
        assert_eq!(lengths(&[0, 5, 0]), (5, false));
        assert_eq!(lengths(&[0, 5, 0, 6]), (11, true));
        assert_eq!(lengths(&[INLINE, 6]), (INLINE, false));
        assert_eq!(lengths(&[INLINE + 1]), (INLINE + 1, false));
        assert_eq!(lengths(&[INLINE - 1, 6, 6]), (INLINE, true));
    }
}
