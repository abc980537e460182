//! Base64 with padding, as RFC 4648 has it, read strictly.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The characters of `bytes`, four for each three that have begun.
pub(super) fn encode(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let sextet = (bits >> (18 - 6 * place)) & 63;
            let is_padding = place > chunk.len();
            text.push(if is_padding { b'=' } else { ALPHABET[sextet as usize] });
        }
    }
    text
}

/// The bytes, if this is what `encode` writes for some bytes.
pub(super) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for chunk in text.chunks(4) {
        let digits = chunk.iter().take_while(|character| **character != b'=').count();
        let mut bits = 0_u32;
        for character in &chunk[..digits] {
            let digit = ALPHABET.iter().position(|other| other == character)?;
            bits = bits << 6 | digit as u32;
        }
        bits <<= 6 * (4 - digits);
        bytes.extend_from_slice(&bits.to_be_bytes()[1..1 + (digits * 3 / 4)]);
    }
    (encode(&bytes) == text).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_and_others_are_refused() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v")] {
            assert_eq!(encode(bytes.as_bytes()), text.as_bytes());
            assert_eq!(decode(text.as_bytes()).as_deref(), Some(bytes.as_bytes()));
        }
        for text in ["Zg=", "Zg", "Zh==", "Z===", "====", "Zg==Zg==", "Zm9v\n", "Zm9\u{e4}"] {
            assert_eq!(decode(text.as_bytes()), None, "{text}");
        }
    }
}
