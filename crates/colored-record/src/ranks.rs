//! Things by how recently they were named: a thing that was named before costs a small number.

/// Most things that are remembered: a rank fits into six bits, with one number left.
pub(crate) const MOST: usize = 62;

/// The things that were named last, the latest one first.
#[derive(Debug)]
pub(crate) struct Ranks<T>(Vec<T>);

impl<T> Default for Ranks<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy + PartialEq> Ranks<T> {
    /// The rank of a thing, which becomes the latest; `None` if it is not remembered.
    #[inline]
    pub(crate) fn name(&mut self, thing: T) -> Option<u8> {
        if self.0.first() == Some(&thing) {
            return Some(0);
        }
        let rank = self.0.iter().position(|known| *known == thing);
        match rank {
            Some(rank) => self.0[..=rank].rotate_right(1),
            None => self.insert(thing),
        }
        rank.map(|rank| rank as u8)
    }

    /// The thing of a rank, which becomes the latest; `None` if there is none.
    pub(crate) fn find(&mut self, rank: u8) -> Option<T> {
        let rank = usize::from(rank);
        let thing = *self.0.get(rank)?;
        self.0[..=rank].rotate_right(1);
        Some(thing)
    }

    /// Remembers a thing as the latest.
    pub(crate) fn insert(&mut self, thing: T) {
        self.0.truncate(MOST - 1);
        self.0.insert(0, thing);
    }
}
