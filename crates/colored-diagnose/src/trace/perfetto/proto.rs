//! The wire format of protobuf: as much of it as we write.

/// A message that is being written.
#[derive(Default)]
pub(super) struct Message(Vec<u8>);

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const BYTES: u64 = 2;

impl Message {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn raw(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// An integer, a bool or an enum.
    pub(super) fn number(&mut self, field: u64, value: u64) {
        self.raw(field << 3 | VARINT);
        self.raw(value);
    }

    pub(super) fn fixed64(&mut self, field: u64, value: u64) {
        self.raw(field << 3 | FIXED64);
        self.0.extend(value.to_le_bytes());
    }

    pub(super) fn text(&mut self, field: u64, text: &str) {
        self.raw(field << 3 | BYTES);
        self.raw(text.len() as u64);
        self.0.extend(text.as_bytes());
    }

    /// A message in this one.
    pub(super) fn message(&mut self, field: u64, write: impl FnOnce(&mut Self)) {
        self.raw(field << 3 | BYTES);
        let place = self.0.len();
        // Most are short: one byte for the length.
        self.0.push(0);
        write(self);
        let length = self.0.len() - place - 1;
        if length < 0x80 {
            self.0[place] = length as u8;
        } else {
            let mut prefix = Self::default();
            prefix.raw(length as u64);
            self.0.splice(place..=place, prefix.0);
        }
    }
}
