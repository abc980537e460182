//! [`Text`]: a text of limited length, in no allocation.

const MOST: usize = 512;

pub(super) struct Text {
    bytes: [u8; MOST],
    len: usize,
}

impl Text {
    pub(super) fn new() -> Self {
        Self { bytes: [0; MOST], len: 0 }
    }

    /// Adds as much of `text` as there is room for.
    pub(super) fn push(&mut self, text: &str) {
        for byte in text.bytes() {
            if let Some(place) = self.bytes.get_mut(self.len) {
                *place = byte;
                self.len += 1;
            }
        }
    }

    pub(super) fn push_number(&mut self, number: u64) {
        if number >= 10 {
            self.push_number(number / 10);
        }
        let digit = b"0123456789"[(number % 10) as usize];
        self.push(str::from_utf8(&[digit]).unwrap_or_default());
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, Text};

    #[test]
    fn numbers_and_texts_are_joined_up_to_the_most() {
        let mut text = Text::new();
        text.push("a ");
        text.push_number(u64::MAX);
        text.push_number(0);
        assert_eq!(text.bytes(), b"a 184467440737095516150");
        (0..MOST).for_each(|_| text.push("b"));
        assert_eq!(text.bytes().len(), MOST);
    }
}
