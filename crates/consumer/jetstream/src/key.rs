//! A key as a token of a subject: letters, digits, `-` and `_` as they are, other bytes as `%` and two digits.

use std::fmt::Write;

/// Begins the token of a record without a key. No encoded key begins so.
const NO_KEY: &str = "%-";

/// The token of a key. The empty key has one, too.
pub(crate) fn encode(key: &[u8]) -> String {
    if key.is_empty() {
        return "%".to_owned();
    }
    let mut token = String::new();
    for byte in key {
        if byte.is_ascii_alphanumeric() || b"-_".contains(byte) {
            token.push(char::from(*byte));
        } else {
            // A string takes everything.
            let _ = write!(token, "%{byte:02x}");
        }
    }
    token
}

/// A token without a key, which goes to a partition by this number.
pub(crate) fn without_key(number: u64) -> String {
    format!("{NO_KEY}{number}")
}

/// The key of a token. A token that nobody has encoded is a key as it is.
pub(crate) fn decode(token: &str) -> Option<Vec<u8>> {
    if token.starts_with(NO_KEY) {
        return None;
    }
    if token == "%" {
        return Some(Vec::new());
    }
    if !token.contains('%') {
        return Some(token.as_bytes().to_vec());
    }
    let mut key = Vec::with_capacity(token.len());
    let mut bytes = token.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            key.push(byte);
            continue;
        }
        let digits =
            [bytes.next(), bytes.next()].map(|byte| char::from(byte.unwrap_or(b'?')).to_digit(16));
        let [Some(high), Some(low)] = digits else { return Some(token.as_bytes().to_vec()) };
        key.push((high << 4 | low) as u8);
    }
    Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_comes_back() {
        for key in [&b""[..], b"customer 7", b"a.b*c>d%e", b"-", b"\0\xff", "ä".as_bytes()] {
            let token = encode(key);
            assert!(
                token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_%".contains(&byte))
            );
            assert_eq!(decode(&token).as_deref(), Some(key), "{token}");
        }
        assert_eq!(decode(&without_key(7)), None);
        assert_eq!(decode("100%").as_deref(), Some(&b"100%"[..]), "nobody has encoded it");
    }
}
