//! [`Contents`]: the bytes of a file, those on the device, and what is not there yet.

use super::Chance;
use std::mem;

/// A device writes so many bytes whole or not at all.
pub(super) const SECTOR: u64 = 512;

/// The bytes of a file.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// What programs see.
    live: Vec<u8>,
    /// What the device has.
    durable: Vec<u8>,
    /// The changes since the last sync, in their order.
    unsynced: Vec<Change>,
}

/// A change of a file.
#[derive(Debug)]
enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    Resize(usize),
}

impl Change {
    fn apply(&self, to: &mut Vec<u8>) {
        match self {
            Change::Write { offset, bytes } => put(to, *offset, bytes),
            Change::Resize(len) => to.resize(*len, 0),
        }
    }

    /// Keeps a part of a write: the sectors up to one of its inner boundaries. A change within one sector stays whole.
    fn tear(&mut self, happens: Chance<'_>) {
        let Change::Write { offset, bytes } = self else { return };
        let (first, last) = (*offset as u64 / SECTOR, (*offset + bytes.len() - 1) as u64 / SECTOR);
        let boundaries = last - first;
        if boundaries == 0 || !happens(2) {
            return;
        }
        let bits = u64::BITS - (boundaries - 1).leading_zeros();
        let drawn = (0..bits).fold(0, |drawn, bit| drawn | u64::from(happens(2)) << bit);
        let end = (first + 1 + drawn % boundaries) * SECTOR;
        bytes.truncate(end as usize - *offset);
    }
}

/// Writes at an offset; what is between the end and it becomes zeros.
fn put(to: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if to.len() < end {
        to.resize(end, 0);
    }
    to[offset..end].copy_from_slice(bytes);
}

impl Contents {
    pub(super) fn len(&self) -> u64 {
        self.live.len() as u64
    }

    /// Copies what is at the offset, as far as it fits.
    pub(super) fn read(&self, buf: &mut [u8], offset: u64) -> usize {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.live.len());
        let there = &self.live[start..];
        let n = there.len().min(buf.len());
        buf[..n].copy_from_slice(&there[..n]);
        n
    }

    /// Writes some bytes; the caller knows that there is room.
    pub(super) fn write(&mut self, bytes: &[u8], offset: usize) {
        self.change(Change::Write { offset, bytes: bytes.to_vec() });
    }

    /// Cuts the end off, or adds zeros; the caller knows that there is room.
    pub(super) fn resize(&mut self, len: usize) {
        self.change(Change::Resize(len));
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.live);
        self.unsynced.push(change);
    }

    /// Brings all changes to the device.
    pub(super) fn sync(&mut self) {
        for change in mem::take(&mut self.unsynced) {
            change.apply(&mut self.durable);
        }
    }

    /// A sync that fails: some changes get to the device, and the system takes all for written, as Linux does. So the next
    /// sync succeeds, and brings none of them there.
    pub(super) fn fail_sync(&mut self, happens: Chance<'_>) {
        for mut change in mem::take(&mut self.unsynced) {
            if happens(2) {
                change.tear(happens);
                change.apply(&mut self.durable);
            }
        }
    }

    /// Loses what is not on the device, or not all of it: each change is there whole, in part, or, by default, not at all.
    pub(super) fn crash(&mut self, happens: Chance<'_>) {
        self.fail_sync(happens);
        self.live.clone_from(&self.durable);
    }
}

#[cfg(test)]
mod tests {
    use super::Contents;

    fn bytes(contents: &Contents) -> Vec<u8> {
        let mut bytes = vec![0; contents.len() as usize];
        contents.read(&mut bytes, 0);
        bytes
    }

    fn written(offset: usize, len: usize) -> Contents {
        let mut contents = Contents::default();
        contents.write(&[1; 100], 0);
        contents.sync();
        contents.write(&vec![2; len], offset);
        contents
    }

    #[test]
    fn what_is_not_synced_is_lost_by_default() {
        let mut contents = written(50, 1000);
        contents.resize(7);
        assert_eq!(bytes(&contents), [1; 7]);
        contents.crash(&mut |_| false);
        assert_eq!(bytes(&contents), [1; 100]);
    }

    #[test]
    fn a_torn_write_ends_at_a_sector() {
        let mut lengths = Vec::new();
        // Survives, torn, and two bits for one of three boundaries.
        for draw in 0..4_u32 {
            let mut contents = written(50, 2000);
            let mut asked = 0;
            contents.crash(&mut |_| {
                asked += 1;
                asked <= 2 || draw >> (asked - 3) & 1 == 1
            });
            lengths.push(contents.len());
            assert_eq!(asked, 4);
        }
        assert_eq!(lengths, [512, 1024, 1536, 2048]);
    }

    #[test]
    fn a_write_within_a_sector_is_not_torn() {
        let mut contents = written(512, 512);
        contents.crash(&mut |_| true);
        assert_eq!(contents.len(), 1024);
    }

    #[test]
    fn after_a_failed_sync_another_one_brings_nothing() {
        let mut contents = written(0, 10);
        contents.fail_sync(&mut |_| false);
        contents.sync();
        assert_eq!(bytes(&contents)[..10], [2; 10], "programs see it");
        contents.crash(&mut |_| true);
        assert_eq!(bytes(&contents), [1; 100]);
    }
}
