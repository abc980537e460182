//! The payload of a frame: one record of a log.
//!
//! Invariant: `decode` reads every byte string without a panic, and returns an entry only if its lengths add up to
//! exactly the payload.

use super::body;
use bytes::Bytes;

/// The length that stands for "no key".
const NO_KEY: u32 = u32::MAX;

/// A record of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) offset: u64,
    /// Milliseconds since 1970.
    pub(crate) timestamp: i64,
    pub(crate) key: Option<Bytes>,
    pub(crate) value: Bytes,
    pub(crate) headers: Vec<(String, Bytes)>,
}

impl Entry {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let key = self.key.as_deref();
        out.extend_from_slice(&self.offset.to_le_bytes());
        out.extend_from_slice(&self.timestamp.to_le_bytes());
        out.extend_from_slice(&key.map_or(NO_KEY, |key| key.len() as u32).to_le_bytes());
        out.extend_from_slice(&(self.value.len() as u32).to_le_bytes());
        out.extend_from_slice(&(self.headers.len() as u16).to_le_bytes());
        out.extend_from_slice(key.unwrap_or_default());
        out.extend_from_slice(&self.value);
        for (name, value) in &self.headers {
            out.extend_from_slice(&(name.len() as u16).to_le_bytes());
            out.extend_from_slice(&(value.len() as u32).to_le_bytes());
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(value);
        }
    }

    pub(crate) fn decode(payload: &[u8]) -> Option<Entry> {
        let mut rest = payload;
        let offset = u64::from_le_bytes(take(&mut rest)?);
        let timestamp = i64::from_le_bytes(take(&mut rest)?);
        let key_length = u32::from_le_bytes(take(&mut rest)?);
        let value_length = u32::from_le_bytes(take(&mut rest)?) as usize;
        let headers = u16::from_le_bytes(take(&mut rest)?);
        let has_key = key_length != NO_KEY;
        let key_length = if has_key { key_length as usize } else { 0 };
        if key_length.checked_add(value_length)? > rest.len() {
            return None;
        }
        let mut body = body::copy(rest);
        let key = has_key.then(|| body.split_to(key_length));
        let value = body.split_to(value_length);
        let headers = decode_headers(body, headers)?;
        Some(Entry { offset, timestamp, key, value, headers })
    }
}

fn decode_headers(mut rest: Bytes, count: u16) -> Option<Vec<(String, Bytes)>> {
    // Each takes six bytes at least, so a forged count allocates nothing.
    if usize::from(count) * 6 > rest.len() {
        return None;
    }
    let mut headers = Vec::with_capacity(count.into());
    for _ in 0..count {
        let mut head = rest.get(..6)?;
        let name = usize::from(u16::from_le_bytes(take(&mut head)?));
        let value = u32::from_le_bytes(take(&mut head)?) as usize;
        let end = 6_usize.checked_add(name)?.checked_add(value)?;
        if end > rest.len() {
            return None;
        }
        let text = String::from_utf8(rest[6..6 + name].to_vec()).ok()?;
        headers.push((text, rest.slice(6 + name..end)));
        rest = rest.slice(end..);
    }
    rest.is_empty().then_some(headers)
}

/// The next bytes, which it removes.
fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Vec<Entry> {
        let entry = |key: Option<&str>, value: &str, headers: &[(&str, &str)]| Entry {
            offset: 1 << 40,
            timestamp: -5,
            key: key.map(|key| Bytes::copy_from_slice(key.as_bytes())),
            value: Bytes::copy_from_slice(value.as_bytes()),
            headers: headers
                .iter()
                .map(|(name, value)| (name.to_string(), Bytes::copy_from_slice(value.as_bytes())))
                .collect(),
        };
        vec![
            entry(None, "", &[]),
            entry(Some(""), "value", &[]),
            entry(Some("key"), "value", &[("a", "1"), ("", "")]),
        ]
    }

    #[test]
    fn entries_come_back() {
        for entry in samples() {
            let mut out = Vec::new();
            entry.encode(&mut out);
            assert_eq!(Entry::decode(&out), Some(entry));
        }
    }

    /// Every shorter and every changed payload is an error or another entry, and never a panic.
    #[test]
    fn forged_lengths_do_no_harm() {
        for entry in samples() {
            let mut out = Vec::new();
            entry.encode(&mut out);
            for end in 0..out.len() {
                assert_eq!(Entry::decode(&out[..end]), None, "{end} of {} bytes", out.len());
            }
            for at in 16..out.len() {
                for byte in [0, 1, 0x7f, 0xff] {
                    let mut forged = out.clone();
                    forged[at] = byte;
                    if let Some(read) = Entry::decode(&forged) {
                        assert!(read.value.len() <= out.len());
                    }
                }
            }
        }
    }
}
