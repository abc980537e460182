//! The bytes of a record.

use bytes::Bytes;

/// A copy, by one allocation if it is short. Each record has its own, so a record that is kept keeps nothing else.
///
/// An allocation that holds up to 104 bytes beside their number of references is one of those that glibc has at hand.
pub(crate) fn copy(bytes: &[u8]) -> Bytes {
    match bytes.len() {
        0 => Bytes::new(),
        1..=24 => short::<24>(bytes),
        25..=40 => short::<40>(bytes),
        41..=56 => short::<56>(bytes),
        57..=72 => short::<72>(bytes),
        73..=88 => short::<88>(bytes),
        89..=104 => short::<104>(bytes),
        105..=120 => short::<120>(bytes),
        121..=152 => short::<152>(bytes),
        153..=184 => short::<184>(bytes),
        185..=248 => short::<248>(bytes),
        _ => Bytes::copy_from_slice(bytes),
    }
}

/// [`Bytes`] of another kind need a second allocation when they are split.
fn short<const N: usize>(from: &[u8]) -> Bytes {
    let mut bytes = [0; N];
    bytes[..from.len()].copy_from_slice(from);
    let mut bytes = Bytes::from_owner(bytes);
    bytes.truncate(from.len());
    bytes
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
