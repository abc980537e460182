//! Numbers as bytes, the bytes of events, and the checksum.

/// The two upper bits say what it is; the others are a rank, or say more.
pub(crate) const AGAIN: u8 = 0x00;
pub(crate) const AGAIN_OUTSIDE: u8 = 0x40;
pub(crate) const PUSH: u8 = 0x80;
pub(crate) const OTHER: u8 = 0xc0;
pub(crate) const CLASS: u8 = 0xc0;
pub(crate) const RANK: u8 = 0x3f;

/// In place of a rank: the thing stands behind this byte.
pub(crate) const UNKNOWN: u8 = 0x3f;

/// The turn before comes again with its events, so many times as the number behind says.
pub(crate) const REPEAT: u8 = OTHER;
/// A checksum of the turns so far stands behind this byte.
pub(crate) const SUM: u8 = OTHER | 1;
/// A rank, and perhaps a source, stand behind this byte.
pub(crate) const FROM: u8 = OTHER | 2;
/// The first number of [`Value`](crate::Value)s.
pub(crate) const VALUE: u8 = OTHER | 4;
/// The first number of [`Mark`](crate::Mark)s: an even one says no, the next one yes.
pub(crate) const MARK: u8 = OTHER | 16;

/// A checksum comes after so many turns.
pub(crate) const SUM_AFTER: u32 = 256;

pub(crate) fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// A number, and how many bytes it takes.
pub(crate) fn number(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut number = 0;
    for (at, byte) in bytes.iter().enumerate().take(10) {
        number |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((number, at + 1));
        }
    }
    None
}

/// A signed difference as a small number.
pub(crate) fn fold(difference: i64) -> u64 {
    ((difference << 1) ^ (difference >> 63)).cast_unsigned()
}

pub(crate) fn unfold(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -((number & 1).cast_signed())
}

/// FNV-1a with 64 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum(u64);

impl Sum {
    pub(crate) const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    #[inline]
    pub(crate) fn add(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }

    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut sum = Self::new();
        bytes.iter().for_each(|byte| sum.add(*byte));
        sum
    }

    /// 32 bits that depend on all.
    pub(crate) fn get(self) -> u32 {
        (self.0 ^ (self.0 >> 32)) as u32
    }
}
