//! The hash by which a key finds its lane.
//!
//! It folds products of 128 bits, with two secret numbers of each partition, and costs a fifth of the hash of the standard library. Who
//! sends keys does not learn the numbers, so cannot choose keys that meet; and a partition has as many lanes as records in flight at
//! most, so that even then a bound of the consumer bounds what a look-up costs.

use std::hash::{BuildHasher, RandomState};

#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyHasher {
    start: u64,
    factor: u64,
}

impl KeyHasher {
    /// With other secrets than all others.
    pub(crate) fn new() -> KeyHasher {
        let random = RandomState::new();
        let [start, factor] = [1, 2].map(|number: u64| random.hash_one(number));
        // An odd one loses nothing of what it multiplies.
        KeyHasher { start, factor: factor | 1 }
    }

    #[inline]
    pub(crate) fn hash(&self, key: &[u8]) -> u64 {
        let mut hash = self.start;
        let (words, rest) = key.as_chunks::<8>();
        for word in words {
            hash = self.fold(hash ^ u64::from_le_bytes(*word));
        }
        // Twice, so that the last bytes are in all bits; and zeros at the end are not the same as none.
        self.fold(self.fold(hash ^ last_word(rest)) ^ self.start ^ key.len() as u64)
    }

    fn fold(&self, of: u64) -> u64 {
        let product = u128::from(of) * u128::from(self.factor);
        (product as u64) ^ ((product >> 64) as u64)
    }
}

/// Up to seven bytes as a number, in which each counts: by the number of the bytes, the number tells them.
#[inline]
fn last_word(rest: &[u8]) -> u64 {
    if let (Some(first), Some(last)) = (rest.first_chunk::<4>(), rest.last_chunk::<4>()) {
        return u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32;
    }
    match *rest {
        [one] => one.into(),
        [one, two] => u64::from(one) | u64::from(two) << 8,
        [one, two, three] => u64::from(one) | u64::from(two) << 8 | u64::from(three) << 16,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn keys_of_every_length_have_hashes_of_their_own() {
        let hasher = KeyHasher::new();
        let mut hashes = HashSet::new();
        for length in 0..100 {
            for byte in [0, 1, 255] {
                assert!(hashes.insert(hasher.hash(&vec![byte; length])) || length == 0);
            }
        }
        assert_eq!(hasher.hash(b"a key of some length"), hasher.hash(b"a key of some length"));
        assert_ne!(hasher.hash(b"a key"), KeyHasher::new().hash(b"a key"), "other secrets");
    }

    /// As a table uses them: numbered keys fill the buckets, by the lowest bits and by the highest, as chance would.
    #[test]
    fn numbered_keys_are_spread() {
        const KEYS: usize = 1 << 16;
        let hasher = KeyHasher::new();
        for shift in [0, 64 - 12] {
            let mut counts = vec![0_u32; 1 << 12];
            for key in 0..KEYS {
                let hash = hasher.hash(format!("customer-{key}").as_bytes());
                counts[(hash >> shift) as usize % (1 << 12)] += 1;
            }
            // Sixteen on average; chance exceeds 48 once in ten million buckets.
            let most = counts.iter().max().unwrap();
            assert!(*most <= 48, "{most} keys of {KEYS} in a bucket");
        }
    }

    #[test]
    fn each_byte_counts() {
        let hasher = KeyHasher::new();
        for length in 1..40 {
            let key = vec![7_u8; length];
            for at in 0..length {
                for bit in 0..8 {
                    let mut other = key.clone();
                    other[at] ^= 1 << bit;
                    assert_ne!(hasher.hash(&key), hasher.hash(&other), "bit {bit} of byte {at}");
                }
            }
        }
    }
}
