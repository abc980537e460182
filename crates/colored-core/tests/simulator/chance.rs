//! One seeded generator, from which every choice of a run comes.

use std::cell::Cell;

/// SplitMix64 by Steele, Lea and Flood (2014): one addition and three mixing steps a draw.
#[derive(Debug)]
pub(crate) struct Chance(Cell<u64>);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        let chance = Self(Cell::new(seed));
        // Neighbouring seeds have nothing in common after two draws.
        chance.0.set(chance.draw() ^ seed.rotate_left(32));
        chance
    }

    pub(crate) fn draw(&self) -> u64 {
        let state = self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0.set(state);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not zero.
    pub(crate) fn below(&self, bound: u32) -> u32 {
        (((self.draw() >> 32) * u64::from(bound)) >> 32) as u32
    }

    /// An index into a list of this length, which is not zero.
    pub(crate) fn index(&self, len: usize) -> usize {
        self.below(u32::try_from(len).expect("a short list")) as usize
    }

    /// A number from `low` up to and without `high`.
    pub(crate) fn between(&self, low: u32, high: u32) -> u32 {
        low + self.below(high - low)
    }

    /// True `times` times in a thousand.
    pub(crate) fn permille(&self, times: u32) -> bool {
        self.below(1000) < times
    }

    /// True once in `times`.
    pub(crate) fn one_in(&self, times: u32) -> bool {
        self.below(times) == 0
    }

    /// A number below `bound`, of which small ones are likely: every power of two is as likely as the next one.
    pub(crate) fn skewed(&self, bound: u32) -> u32 {
        let bits = bound.next_power_of_two().trailing_zeros();
        let top = 1 << self.below(bits + 1);
        self.below(top).min(bound - 1)
    }

    pub(crate) fn of<T: Copy>(&self, choices: &[T]) -> T {
        choices[self.index(choices.len())]
    }
}
