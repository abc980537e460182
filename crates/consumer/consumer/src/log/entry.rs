//! The payload of a frame: one record of a log.
//!
//! Invariant: `decode` reads every byte string without a panic, and returns an entry only if its lengths add up to
//! exactly the payload.

use super::body::Bodies;
use bytes::Bytes;

/// The length that stands for "no key", "no value", or "no value of this header". An empty one has the length 0.
const NOTHING: u32 = u32::MAX;

/// The bytes before the key: offset, time, two lengths, and the number of headers.
const FIXED: usize = 26;

/// A record of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) offset: u64,
    /// Milliseconds since 1970.
    pub(crate) timestamp: i64,
    pub(crate) key: Option<Bytes>,
    pub(crate) value: Option<Bytes>,
    pub(crate) headers: Vec<(String, Option<Bytes>)>,
}

impl Entry {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.offset.to_le_bytes());
        out.extend_from_slice(&self.timestamp.to_le_bytes());
        out.extend_from_slice(&length(&self.key).to_le_bytes());
        out.extend_from_slice(&length(&self.value).to_le_bytes());
        out.extend_from_slice(&(self.headers.len() as u16).to_le_bytes());
        out.extend_from_slice(self.key.as_deref().unwrap_or_default());
        out.extend_from_slice(self.value.as_deref().unwrap_or_default());
        for (name, value) in &self.headers {
            out.extend_from_slice(&(name.len() as u16).to_le_bytes());
            out.extend_from_slice(&length(value).to_le_bytes());
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(value.as_deref().unwrap_or_default());
        }
    }

    #[inline]
    pub(crate) fn decode(payload: &[u8], bodies: &mut Bodies) -> Option<Entry> {
        let (head, rest) = payload.split_first_chunk::<FIXED>()?;
        let long = |at: usize| head[at..at + 8].try_into().expect("eight bytes");
        let number = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four"));
        let (offset, timestamp) = (u64::from_le_bytes(long(0)), i64::from_le_bytes(long(8)));
        let length = |at: usize| Some(number(at) as usize).filter(|of| *of != NOTHING as usize);
        let (key, value) = (length(16), length(20));
        let count = u16::from_le_bytes([head[24], head[25]]);
        let length = key.unwrap_or(0).checked_add(value.unwrap_or(0))?;
        if length > rest.len() || (count == 0 && length < rest.len()) {
            return None;
        }
        let mut body = bodies.copy(rest);
        let key = key.map(|length| body.split_to(length));
        if count == 0 {
            // All that is left.
            let value = value.map(|_| body);
            return Some(Entry { offset, timestamp, key, value, headers: Vec::new() });
        }
        let value = value.map(|length| body.split_to(length));
        let headers = decode_headers(body, count)?;
        Some(Entry { offset, timestamp, key, value, headers })
    }
}

fn length(bytes: &Option<Bytes>) -> u32 {
    bytes.as_ref().map_or(NOTHING, |bytes| bytes.len() as u32)
}

/// A length; `Some(None)` if there is nothing.
fn take_length(rest: &mut &[u8]) -> Option<Option<usize>> {
    let length = u32::from_le_bytes(take(rest)?);
    Some((length != NOTHING).then_some(length as usize))
}

fn decode_headers(mut rest: Bytes, count: u16) -> Option<Vec<(String, Option<Bytes>)>> {
    // Each takes six bytes at least, so a forged count allocates nothing.
    if usize::from(count) * 6 > rest.len() {
        return None;
    }
    let mut headers = Vec::with_capacity(count.into());
    for _ in 0..count {
        let mut head = rest.get(..6)?;
        let name = usize::from(u16::from_le_bytes(take(&mut head)?));
        let value = take_length(&mut head)?;
        let end = 6_usize.checked_add(name)?.checked_add(value.unwrap_or(0))?;
        if end > rest.len() {
            return None;
        }
        let text = String::from_utf8(rest[6..6 + name].to_vec()).ok()?;
        headers.push((text, value.map(|_| rest.slice(6 + name..end))));
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
        let copy = |text: &str| Bytes::copy_from_slice(text.as_bytes());
        let entry = |key: Option<&str>, value: Option<&str>, headers: &[(&str, Option<&str>)]| {
            let header = |(name, value): &(&str, Option<&str>)| (name.to_string(), value.map(copy));
            Entry {
                offset: 1 << 40,
                timestamp: -5,
                key: key.map(copy),
                value: value.map(copy),
                headers: headers.iter().map(header).collect(),
            }
        };
        vec![
            entry(None, None, &[]),
            entry(None, Some(""), &[]),
            entry(Some(""), Some("value"), &[]),
            entry(Some("key"), None, &[("a", None)]),
            entry(Some("key"), Some("value"), &[("a", Some("1")), ("", Some("")), ("b", None)]),
        ]
    }

    #[test]
    fn entries_come_back() {
        for entry in samples() {
            let mut out = Vec::new();
            entry.encode(&mut out);
            assert_eq!(Entry::decode(&out, &mut Bodies::default()), Some(entry));
        }
    }

    /// Every shorter and every changed payload is an error or another entry, and never a panic.
    #[test]
    fn forged_lengths_do_no_harm() {
        for entry in samples() {
            let mut out = Vec::new();
            entry.encode(&mut out);
            let mut bodies = Bodies::default();
            for end in 0..out.len() {
                let read = Entry::decode(&out[..end], &mut bodies);
                assert_eq!(read, None, "{end} of {} bytes", out.len());
            }
            for at in 16..out.len() {
                for byte in [0, 1, 0x7f, 0xff] {
                    let mut forged = out.clone();
                    forged[at] = byte;
                    if let Some(read) = Entry::decode(&forged, &mut bodies) {
                        assert!(read.value.map_or(0, |value| value.len()) <= out.len());
                    }
                }
            }
        }
    }
}
