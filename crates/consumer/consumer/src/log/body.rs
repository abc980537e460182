//! The bytes of a record.

use bytes::Bytes;

/// Bytes beside their number of references. [`Bytes`] of another kind need a second allocation when they are split.
struct Short<const N: usize> {
    length: u8,
    bytes: [u8; N],
}

impl<const N: usize> AsRef<[u8]> for Short<N> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// A copy, by one allocation if it is short. Each record has its own, so a record that is kept keeps nothing else.
pub(crate) fn copy(bytes: &[u8]) -> Bytes {
    match bytes.len() {
        0 => Bytes::new(),
        1..32 => short::<31>(bytes),
        32..48 => short::<47>(bytes),
        48..64 => short::<63>(bytes),
        64..80 => short::<79>(bytes),
        80..96 => short::<95>(bytes),
        96..112 => short::<111>(bytes),
        112..128 => short::<127>(bytes),
        128..160 => short::<159>(bytes),
        160..192 => short::<191>(bytes),
        192..256 => short::<255>(bytes),
        _ => Bytes::copy_from_slice(bytes),
    }
}

fn short<const N: usize>(from: &[u8]) -> Bytes {
    let mut bytes = [0; N];
    bytes[..from.len()].copy_from_slice(from);
    Bytes::from_owner(Short { length: from.len() as u8, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_every_length_is_the_same_and_can_be_split() {
        for length in 0..300 {
            let bytes: Vec<u8> = (0..length).map(|at| at as u8).collect();
            let mut rest = copy(&bytes);
            assert_eq!(rest, bytes);
            let first = rest.split_to(length / 3);
            assert_eq!([first, rest].concat(), bytes);
        }
    }
}
