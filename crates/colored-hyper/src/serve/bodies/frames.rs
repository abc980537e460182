//! [`Frames`]: the frames of HTTP/2 in the bytes of one direction (RFC 9113, section 4).

/// The types of frames that matter here, and their flags.
pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const WINDOW_UPDATE: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;
pub(super) const END_STREAM: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;
pub(super) const ACK: u8 = 1;

/// How much of a payload is kept: all of the settings that a server sends.
const KEPT: usize = 128;

/// One direction of a connection.
pub(super) struct Frames {
    head: [u8; 9],
    /// How many bytes of the head have come.
    got: u8,
    /// How many bytes of the payload have not come.
    left: u32,
    /// The beginning of the payload of a short frame that tells something.
    payload: Vec<u8>,
    /// Bytes before the first frame.
    preface: u8,
}

/// Something in these bytes.
pub(super) enum Event<'a> {
    /// So many bytes of the payload of a DATA frame of this stream.
    Data(u32, usize),
    /// The end of a frame.
    Frame(Frame<'a>),
}

pub(super) struct Frame<'a> {
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: u32,
    pub(super) len: u32,
    /// The payload, or its first bytes, of SETTINGS and WINDOW_UPDATE; empty for others.
    pub(super) payload: &'a [u8],
}

impl Frames {
    /// Those behind a preface of so many bytes.
    pub(super) fn after(preface: u8) -> Frames {
        Frames { head: [0; 9], got: 0, left: 0, payload: Vec::new(), preface }
    }

    pub(super) fn take(&mut self, mut bytes: &[u8], mut on: impl FnMut(Event<'_>)) {
        let skipped = usize::from(self.preface).min(bytes.len());
        self.preface -= skipped as u8;
        bytes = &bytes[skipped..];
        while !bytes.is_empty() {
            if usize::from(self.got) < self.head.len() {
                let n = (self.head.len() - usize::from(self.got)).min(bytes.len());
                self.head[usize::from(self.got)..][..n].copy_from_slice(&bytes[..n]);
                self.got += n as u8;
                bytes = &bytes[n..];
                if usize::from(self.got) < self.head.len() {
                    return;
                }
                self.left = self.len();
                self.payload.clear();
            } else {
                let n = bytes.len().min(self.left as usize);
                self.take_payload(&bytes[..n]);
                self.left -= n as u32;
                bytes = &bytes[n..];
                if self.kind() == DATA {
                    on(Event::Data(self.stream(), n));
                }
            }
            if self.left == 0 {
                self.got = 0;
                on(Event::Frame(self.frame()));
            }
        }
    }

    fn take_payload(&mut self, bytes: &[u8]) {
        if matches!(self.kind(), SETTINGS | WINDOW_UPDATE) {
            let n = bytes.len().min(KEPT - self.payload.len());
            self.payload.extend_from_slice(&bytes[..n]);
        }
    }

    fn len(&self) -> u32 {
        u32::from_be_bytes([0, self.head[0], self.head[1], self.head[2]])
    }

    fn kind(&self) -> u8 {
        self.head[3]
    }

    fn stream(&self) -> u32 {
        number(&self.head[5..])
    }

    fn frame(&self) -> Frame<'_> {
        let (kind, flags) = (self.kind(), self.head[4]);
        Frame { kind, flags, stream: self.stream(), len: self.len(), payload: &self.payload }
    }
}

/// The number of 31 bits at the beginning of these bytes, 0 if there are too few.
pub(super) fn number(bytes: &[u8]) -> u32 {
    let four = bytes.first_chunk().copied().unwrap_or_default();
    u32::from_be_bytes(four) & (u32::MAX >> 1)
}
