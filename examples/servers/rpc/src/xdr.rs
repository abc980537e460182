//! XDR (RFC 4506) by `nfs3_types`, with bounded allocations.

use crate::error::RpcError;
use nfs3_types::xdr_codec::{Error, Pack, Unpack};
use std::io::{self, Read};

/// A word may exceed the bytes behind it by so much before it is suspected to be a wrong length. It is more than any
/// discriminant of an enum in use.
const SLACK: usize = 1 << 16;

/// The bytes of a value.
///
/// # Errors
///
/// [`RpcError::NotEncoded`], if the value cannot be encoded.
pub fn encode<T: Pack>(value: &T) -> Result<Vec<u8>, RpcError> {
    let mut bytes = Vec::new();
    append(&mut bytes, value)?;
    Ok(bytes)
}

/// Appends the bytes of a value.
pub(crate) fn append<T: Pack>(bytes: &mut Vec<u8>, value: &T) -> Result<(), RpcError> {
    bytes.reserve(value.packed_size());
    value.pack(bytes).map_err(|_| RpcError::NotEncoded)?;
    Ok(())
}

/// The value that is encoded by exactly these bytes.
///
/// `nfs3_types` allocates what a length on the wire names, before it looks for the bytes. Here it allocates at most four
/// times the bytes that are there, and 256 KiB: a word that is larger than the rest of the bytes, by more than 64 KiB, is
/// replaced at first by a number that is only a little larger. If it is a length, then the decoder fails. If the decoder
/// succeeds, no such word is a length, and a second pass decodes the true words.
///
/// So discriminants of enums must be less than 65,536.
///
/// # Errors
///
/// If the bytes are too few, too many, or no such value.
pub fn decode<T: Unpack>(bytes: &[u8]) -> Result<T, Error> {
    let mut guard = Guard { rest: bytes, has_replaced: false };
    let (value, _) = T::unpack(&mut guard)?;
    if !guard.rest.is_empty() {
        return Err(Error::InvalidLength(bytes.len()));
    }
    if !guard.has_replaced {
        return Ok(value);
    }
    let mut rest = bytes;
    let (value, _) = T::unpack(&mut rest)?;
    Ok(value)
}

/// Reads bytes, and replaces words that may be wrong lengths.
struct Guard<'a> {
    rest: &'a [u8],
    has_replaced: bool,
}

impl Read for Guard<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.rest.read(buf)
    }

    fn read_exact(&mut self, buf: &mut [u8]) -> io::Result<()> {
        self.rest.read_exact(buf)?;
        if let Ok(word) = <&mut [u8; 4]>::try_from(buf) {
            let most = self.rest.len() + SLACK;
            if u32::from_be_bytes(*word) as usize > most {
                let replacement = u32::try_from(most + 1).unwrap_or(u32::MAX);
                *word = replacement.to_be_bytes();
                self.has_replaced = true;
            }
        }
        Ok(())
    }
}

/// The words of a header.
pub(crate) struct Words<'a>(pub(crate) &'a [u8]);

impl<'a> Words<'a> {
    pub(crate) fn word(&mut self) -> Option<u32> {
        let (word, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*word))
    }

    /// Bytes with their length before them and zeros behind them.
    pub(crate) fn opaque(&mut self) -> Option<&'a [u8]> {
        let length = self.word()? as usize;
        let bytes = self.0.get(..length)?;
        self.0 = self.0.get(length.next_multiple_of(4)..)?;
        Some(bytes)
    }
}

/// Appends a word.
pub(crate) fn append_word(bytes: &mut Vec<u8>, word: u32) {
    bytes.extend_from_slice(&word.to_be_bytes());
}

/// Appends bytes, with their length before them and zeros behind them.
pub(crate) fn append_opaque(bytes: &mut Vec<u8>, opaque: &[u8]) {
    append_word(bytes, u32::try_from(opaque.len()).expect("credentials are short"));
    bytes.extend_from_slice(opaque);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}
