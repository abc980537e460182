//! A lane's place in the registry of the lanes that no table has.

use std::num::NonZeroU32;

/// A place in the registry. Half a word, and with [`SectionKey`](super::SectionKey) a whole one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Track(NonZeroU32);

impl Track {
    /// The place with this index; none if it is 2³² - 1 or more.
    pub(crate) fn at(index: usize) -> Option<Self> {
        let index = u32::try_from(index).ok()?;
        index.checked_add(1).and_then(NonZeroU32::new).map(Self)
    }

    pub(crate) fn index(self) -> usize {
        // It fits, since it was made from such an index.
        self.0.get() as usize - 1
    }
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::Track;

    #[test]
    fn an_index_comes_back_or_has_no_place() {
        for index in [0, 1, 0xffff_fffe] {
            assert_eq!(Track::at(index).map(Track::index), Some(index));
        }
        assert_eq!(Track::at(0xffff_ffff), None);
        #[cfg(target_pointer_width = "64")]
        assert_eq!(Track::at(0x1_0000_0000), None);
    }
}
