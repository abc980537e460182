//! [`Buffer`]: the bytes of a deferred operation.

/// Devices take the bytes of direct operations from and to such addresses, and in such lengths.
pub(super) const ALIGNMENT: usize = 4096;

/// The bytes of a deferred operation, at an address that the file takes.
#[derive(Debug)]
pub(super) struct Buffer {
    room: Vec<u8>,
    /// Where the bytes begin; they go to the end of `room`.
    start: usize,
}

impl Buffer {
    /// A buffer of `len` zeros. A file that bypasses the page cache takes only an aligned address.
    pub(super) fn zeros(len: usize, is_direct: bool) -> Self {
        if !is_direct {
            return Self { room: vec![0; len], start: 0 };
        }
        let mut room = vec![0; len + ALIGNMENT];
        let start = room.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        room.truncate(start + len);
        Self { room, start }
    }

    /// A copy of bytes.
    pub(super) fn copy_of(bytes: &[u8], is_direct: bool) -> Self {
        if !is_direct {
            return Self { room: bytes.to_vec(), start: 0 };
        }
        let mut copy = Self::zeros(bytes.len(), is_direct);
        copy.bytes_mut().copy_from_slice(bytes);
        copy
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.room[self.start..]
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.room[self.start..]
    }

    /// The first `len` bytes.
    pub(super) fn into_first(mut self, len: usize) -> Vec<u8> {
        self.room.truncate(self.start + len);
        self.room.drain(..self.start);
        self.room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_direct_operations_are_aligned() {
        for len in [0, 1, 512, 4096, 100_000] {
            let bytes: Vec<_> = (0..len).map(|i| i as u8).collect();
            for is_direct in [false, true] {
                let mut buffer = Buffer::copy_of(&bytes, is_direct);
                assert_eq!(buffer.bytes(), bytes);
                assert!(!is_direct || buffer.bytes().as_ptr().addr().is_multiple_of(ALIGNMENT));
                assert_eq!(buffer.bytes_mut().len(), len);
                assert_eq!(Buffer::zeros(len, is_direct).bytes(), vec![0; len]);
                assert_eq!(buffer.into_first(len / 2), bytes[..len / 2]);
            }
        }
    }
}
