//! The paper's three classes of files, by size.

/// A class of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Files of at most 8 KB.
    Small,
    /// Files of more than 8 KB, at most 256 KB.
    Medium,
    /// Files of more than 256 KB.
    Large,
}

impl Class {
    /// All classes, the smallest sizes first. Arrays with one entry for each class have this order.
    pub const ALL: [Self; 3] = [Self::Small, Self::Medium, Self::Large];

    /// The class of a file of `size` bytes.
    #[must_use]
    pub const fn of(size: u64) -> Self {
        match size {
            0..=0x2000 => Self::Small,
            0x2001..=0x4_0000 => Self::Medium,
            _ => Self::Large,
        }
    }

    /// The index of the class in [`Class::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The sizes in the class, in words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Small => "at most 8 KB",
            Self::Medium => "8 to 256 KB",
            Self::Large => "more than 256 KB",
        }
    }

    /// The smallest and the largest size that the generator gives to a file of the class.
    ///
    /// The ends at 8 KB and 256 KB are the paper's. The others are guesses: 128 bytes, and 16 MiB.
    #[must_use]
    pub const fn bounds(self) -> (u64, u64) {
        match self {
            Self::Small => (128, 0x2000),
            Self::Medium => (0x2001, 0x4_0000),
            Self::Large => (0x4_0001, 0x100_0000),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Class;

    #[test]
    fn the_bounds_of_a_class_are_in_it_and_leave_no_gap() {
        for class in Class::ALL {
            let (least, most) = class.bounds();
            assert_eq!([Class::of(least), Class::of(most)], [class; 2]);
            assert_eq!(Class::ALL[class.index()], class);
        }
        assert_eq!(Class::Small.bounds().1 + 1, Class::Medium.bounds().0);
        assert_eq!(Class::Medium.bounds().1 + 1, Class::Large.bounds().0);
    }
}
