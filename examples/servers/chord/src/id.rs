//! Places on the ring: numbers of 256 bits, by SHA-256.

use ring::digest;
use rpc::nfs3_types::xdr_codec::{self, Pack, Unpack};
use std::fmt;
use std::io::{Read, Write};
use std::str::FromStr;

/// A place on the ring: of a node, or of a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id {
    high: u128,
    low: u128,
}

impl Id {
    /// The SHA-256 of the parts, one behind the other.
    #[must_use]
    pub fn hash(parts: &[&[u8]]) -> Self {
        let mut context = digest::Context::new(&digest::SHA256);
        for part in parts {
            context.update(part);
        }
        let digest = context.finish();
        Self::from_bytes(digest.as_ref().try_into().expect("SHA-256 has 32 bytes"))
    }

    /// The number with these bytes, the highest first.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        let (high, low) = bytes.split_at(16);
        let number = |half: &[u8]| u128::from_be_bytes(half.try_into().expect("it is a half"));
        Self { high: number(high), low: number(low) }
    }

    /// The bytes, the highest first.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&self.high.to_be_bytes());
        bytes[16..].copy_from_slice(&self.low.to_be_bytes());
        bytes
    }

    /// The place at 2 to the power of `exponent` behind this one.
    ///
    /// # Panics
    ///
    /// If `exponent` is 256 or more.
    #[must_use]
    pub fn plus_power(self, exponent: u32) -> Self {
        assert!(exponent < 256, "the exponent is {exponent}, and the allowed ones are 0 to 255");
        if exponent >= 128 {
            return Self { high: self.high.wrapping_add(1 << (exponent - 128)), low: self.low };
        }
        let (low, has_carry) = self.low.overflowing_add(1 << exponent);
        Self { high: self.high.wrapping_add(u128::from(has_carry)), low }
    }

    /// How far `other` is behind this place, clockwise. Zero for the place itself.
    #[must_use]
    pub fn distance_to(self, other: Self) -> Self {
        let (low, has_borrow) = other.low.overflowing_sub(self.low);
        let high = other.high.wrapping_sub(self.high).wrapping_sub(u128::from(has_borrow));
        Self { high, low }
    }

    /// Whether this place is behind `after`, and not behind `until`, clockwise. If the two are equal, that is the
    /// whole ring.
    #[must_use]
    pub fn is_within(self, after: Self, until: Self) -> bool {
        if after < until { after < self && self <= until } else { self > after || self <= until }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}{:032x}", self.high, self.low)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}..", self.high >> 96)
    }
}

impl FromStr for Id {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let error = || format!("{text:?} is no key: a key has 64 hexadecimal digits");
        if text.len() != 64 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(error());
        }
        let half = |half: &str| u128::from_str_radix(half, 16).map_err(|_| error());
        Ok(Self { high: half(&text[..32])?, low: half(&text[32..])? })
    }
}

impl Pack for Id {
    fn packed_size(&self) -> usize {
        32
    }

    fn pack(&self, out: &mut impl Write) -> xdr_codec::Result<usize> {
        self.to_bytes().pack(out)
    }
}

impl Unpack for Id {
    fn unpack(input: &mut impl Read) -> xdr_codec::Result<(Self, usize)> {
        let (bytes, size) = Unpack::unpack(input)?;
        Ok((Self::from_bytes(bytes), size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(high: u128, low: u128) -> Id {
        Id { high, low }
    }

    #[test]
    fn distances_carry_and_wrap() {
        let (start, max) = (id(0, u128::MAX), id(u128::MAX, u128::MAX));
        assert_eq!(start.plus_power(0), id(1, 0));
        assert_eq!(max.plus_power(0), id(0, 0));
        assert_eq!(id(u128::MAX, 5).plus_power(128), id(0, 5));
        assert_eq!(max.distance_to(id(0, 0)), id(0, 1));
        assert_eq!(id(1, 0).distance_to(id(0, u128::MAX)), max);
        for exponent in [0, 1, 127, 128, 200, 255] {
            let distance = start.distance_to(start.plus_power(exponent));
            assert_eq!(distance, id(0, 0).plus_power(exponent));
        }
    }

    #[test]
    fn intervals_wrap_and_end_with_their_end() {
        let [a, b, c] = [id(0, 1), id(0, 2), id(9, 0)];
        assert!(b.is_within(a, c) && c.is_within(a, c) && !a.is_within(a, c));
        assert!(!b.is_within(c, a) && a.is_within(c, a) && !c.is_within(c, a));
        assert!([a, b, c].into_iter().all(|place| place.is_within(b, b)));
    }

    #[test]
    fn a_key_is_read_as_it_is_shown() {
        let key = Id::hash(&[b"abc"]);
        let shown = key.to_string();
        assert!(shown.starts_with("ba7816bf"), "the SHA-256 of abc is known: {shown}");
        assert_eq!(shown.parse(), Ok(key));
        for wrong in ["", "ba", &"g".repeat(64), &format!("+{}", &shown[1..]), &"é".repeat(32)] {
            assert!(wrong.parse::<Id>().is_err(), "{wrong}");
        }
    }
}
