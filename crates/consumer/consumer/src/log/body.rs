//! The bytes of records.

use bytes::{Bytes, BytesMut};

/// So many bytes are allocated for short records: from 1,008 on, an allocation makes glibc's allocator sort all that is free.
const SHARED: usize = 960;

/// Longer records have an allocation of their own.
const SHORT: usize = SHARED / 4;

/// Copies the bytes of records. Short ones that are copied one after the other share an allocation, so a record that is kept keeps
/// the bytes of a few others, and no more than [`SHARED`].
#[derive(Debug)]
pub(crate) struct Bodies {
    shared: BytesMut,
    /// So many bytes may still be copied, and no more are allocated for them: what few records do not fill would be kept by them.
    pub(crate) most: usize,
}

impl Default for Bodies {
    fn default() -> Bodies {
        Bodies { shared: BytesMut::new(), most: SHARED }
    }
}

impl Bodies {
    #[inline]
    pub(crate) fn copy(&mut self, bytes: &[u8]) -> Bytes {
        if !(1..=SHORT).contains(&bytes.len()) {
            return Bytes::copy_from_slice(bytes);
        }
        if self.shared.capacity() < bytes.len() {
            self.shared = BytesMut::with_capacity(SHARED.min(self.most).max(bytes.len()));
        }
        self.shared.extend_from_slice(bytes);
        self.shared.split().freeze()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_every_length_is_the_same_and_can_be_split() {
        let (mut bodies, mut all) = (Bodies::default(), Vec::new());
        for length in 0..300 {
            let bytes: Vec<u8> = (0..length).map(|at| at as u8).collect();
            let mut rest = bodies.copy(&bytes);
            assert_eq!(rest, bytes);
            let first = rest.split_to(length / 3);
            all.push((bytes, [first, rest]));
        }
        assert!(all.iter().all(|(bytes, parts)| parts.concat() == *bytes));
    }

    #[test]
    fn short_records_share_an_allocation_of_a_bounded_size() {
        let mut bodies = Bodies::default();
        let places: Vec<_> = (0..90).map(|_| bodies.copy(&[7; 100])).collect();
        let neighbours = |pair: &&[Bytes]| pair[0].as_ptr_range().end == pair[1].as_ptr();
        assert!(places.windows(2).filter(neighbours).count() >= 90 - 90 / (SHARED / 100));
        let own = bodies.copy(&[7; SHORT + 1]);
        assert!(own.is_unique() && !places[0].is_unique());
    }
}
