//! [`Value`]: what the ring stores, with a proof in itself that it belongs to its key.

use crate::id::Id;
use crate::wire::MAX_VALUE;
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

/// Public key, sequence number and signature, in front of a record's content.
const RECORD_HEADER: usize = 32 + 8 + 64;

/// The bytes of a record's content, at most.
pub const MAX_RECORD: usize = MAX_VALUE - RECORD_HEADER;

/// What is signed and what is hashed begins with this, so that a record is never taken for something else.
const RECORD: &[u8] = b"chord record 1";

/// A value with its key. A value that came by the network was checked: only then is there one.
///
/// * A *block* never changes. Its key is the SHA-256 of its bytes.
/// * A *record* changes: a new one has a higher sequence number. Its key is the SHA-256 of a public key, and its bytes are
///   that key, the number, a signature by Ed25519 and the content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    key: Id,
    sequence: u64,
    bytes: Vec<u8>,
}

/// The owner of a pair of keys of Ed25519, who signs the records of one key.
pub struct Signer(Ed25519KeyPair);

impl Signer {
    /// The signer with this secret.
    ///
    /// # Panics
    ///
    /// Never: each 32 bytes are a secret.
    #[must_use]
    pub fn from_secret(secret: &[u8; 32]) -> Self {
        Self(Ed25519KeyPair::from_seed_unchecked(secret).expect("each 32 bytes are a secret"))
    }

    /// A secret of the system's random numbers.
    ///
    /// # Panics
    ///
    /// If the system has none.
    #[must_use]
    pub fn new_secret() -> [u8; 32] {
        let mut secret = [0; 32];
        SystemRandom::new().fill(&mut secret).expect("the system has random numbers");
        secret
    }

    /// The key of the records of this signer.
    #[must_use]
    pub fn key(&self) -> Id {
        record_key(self.0.public_key().as_ref())
    }
}

/// The bytes are too many for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl Value {
    /// A block of these bytes.
    ///
    /// # Errors
    ///
    /// If there are more than [`MAX_VALUE`].
    pub fn block(bytes: Vec<u8>) -> Result<Self, TooLong> {
        if bytes.len() > MAX_VALUE {
            return Err(TooLong);
        }
        Ok(Self { key: Id::hash(&[&bytes]), sequence: 0, bytes })
    }

    /// A record with this content, signed by the key.
    ///
    /// # Errors
    ///
    /// If there are more than [`MAX_RECORD`] bytes.
    pub fn record(signer: &Signer, sequence: u64, content: &[u8]) -> Result<Self, TooLong> {
        if content.len() > MAX_RECORD {
            return Err(TooLong);
        }
        let public = signer.0.public_key().as_ref();
        let signature = signer.0.sign(&signed(sequence, content));
        let parts = [public, &sequence.to_be_bytes(), signature.as_ref(), content];
        let key = record_key(public);
        Ok(Self { key, sequence, bytes: parts.concat() })
    }

    /// The value of these bytes, if they belong to the key.
    #[must_use]
    pub fn verify(key: Id, bytes: Vec<u8>) -> Option<Self> {
        if bytes.len() > MAX_VALUE {
            return None;
        }
        if Id::hash(&[&bytes]) == key {
            return Some(Self { key, sequence: 0, bytes });
        }
        let (public, rest) = bytes.split_at_checked(32)?;
        let (sequence, rest) = rest.split_first_chunk::<8>()?;
        let (signature, content) = rest.split_at_checked(64)?;
        let sequence = u64::from_be_bytes(*sequence);
        if record_key(public) != key {
            return None;
        }
        let verifier = UnparsedPublicKey::new(&ED25519, public);
        verifier.verify(&signed(sequence, content), signature).ok()?;
        Some(Self { key, sequence, bytes })
    }

    /// A value that nobody has checked: a mistake, which the tests must find.
    pub(crate) fn unverified(key: Id, bytes: Vec<u8>) -> Self {
        Self { key, sequence: 0, bytes }
    }

    /// The value with one bit flipped, which others must notice.
    pub(crate) fn altered(&self) -> Self {
        let mut altered = self.clone();
        flip_a_bit(&mut altered.bytes, self.key);
        altered
    }

    /// Where the value is on the ring.
    #[must_use]
    pub fn key(&self) -> Id {
        self.key
    }

    /// The sequence number of a record, and 0 for a block.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The bytes of the block, or of the whole record.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The content of a record.
    #[must_use]
    pub fn content(&self) -> &[u8] {
        self.bytes.get(RECORD_HEADER..).unwrap_or_default()
    }
}

/// What an attacker does to a value, in tests.
pub(crate) fn flip_a_bit(bytes: &mut [u8], key: Id) {
    let place = usize::from(key.to_bytes()[0]) % bytes.len().max(1);
    bytes.iter_mut().skip(place).take(1).for_each(|byte| *byte ^= 1);
}

fn record_key(public: &[u8]) -> Id {
    Id::hash(&[RECORD, public])
}

fn signed(sequence: u64, content: &[u8]) -> Vec<u8> {
    [RECORD, &sequence.to_be_bytes(), content].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signer(secret: u8) -> Signer {
        Signer::from_secret(&[secret; 32])
    }

    #[test]
    fn each_flipped_bit_is_refused() {
        let block = Value::block(b"some bytes".to_vec()).unwrap();
        let record = Value::record(&signer(1), 7, b"content").unwrap();
        for value in [block, record] {
            assert_eq!(Value::verify(value.key(), value.bytes().to_vec()), Some(value.clone()));
            for bit in 0..value.bytes().len() * 8 {
                let mut altered = value.bytes().to_vec();
                altered[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(Value::verify(value.key(), altered), None, "bit {bit}");
            }
            for length in 0..value.bytes().len() {
                let cut = value.bytes()[..length].to_vec();
                assert_eq!(Value::verify(value.key(), cut), None, "{length} bytes");
            }
        }
    }

    #[test]
    fn a_record_of_another_signer_is_refused() {
        let (own, other) = (signer(1), signer(2));
        let forged = Value::record(&other, 8, b"forged").unwrap();
        let key = own.key();
        assert_eq!(Value::verify(key, forged.bytes().to_vec()), None);
        let public = own.0.public_key().as_ref();
        let replaced = [public, &forged.bytes()[32..]].concat();
        assert_eq!(Value::verify(key, replaced), None);
    }

    #[test]
    fn values_have_a_largest_size() {
        assert_eq!(Value::block(vec![0; MAX_VALUE + 1]), Err(TooLong));
        assert_eq!(Value::record(&signer(1), 1, &[0; MAX_RECORD + 1]), Err(TooLong));
        let largest = Value::record(&signer(1), 1, &[0; MAX_RECORD]).unwrap();
        assert_eq!(largest.bytes().len(), MAX_VALUE);
        let too_long = vec![0; MAX_VALUE + 1];
        assert_eq!(Value::verify(Id::hash(&[&too_long]), too_long), None);
    }
}
