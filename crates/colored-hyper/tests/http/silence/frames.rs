//! Frames of HTTP/2, for clients that go wrong.

pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const WINDOW_UPDATE: u8 = 8;

/// The fields of `GET /` and of `POST /`, as HPACK writes them.
pub(crate) const GET: &[u8] = b"\x82\x86\x84\x41\x01a";
pub(crate) const POST: &[u8] = b"\x83\x86\x84\x41\x01a";

/// The type, the flags, the stream and the payload.
pub(crate) type Frame = (u8, u8, u32, Vec<u8>);

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// The frames that are complete are taken from the beginning of `bytes`.
pub(crate) fn take(bytes: &mut Vec<u8>) -> Vec<Frame> {
    let mut frames = Vec::new();
    while let Some(head) = bytes.first_chunk::<9>().copied() {
        let end = 9 + u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        if bytes.len() < end {
            break;
        }
        let payload = bytes.drain(..end).skip(9).collect();
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        frames.push((head[3], head[4], stream, payload));
    }
    frames
}
