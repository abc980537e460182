//! A small seeded generator for the order in which victims are tried.

/// xorshift64* by Marsaglia and Vigna: three shifts and a multiplication a draw.
///
/// Seeded, so a schedule that a simulation found can be run again.
#[derive(Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        // Zero is the generator's one fixed point.
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `bound`, which is not zero. The bias is below `bound / 2³²`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let mut x = self.0;
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        self.0 = x;
        let high = x.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32;
        ((high * bound as u64) >> 32) as usize
    }
}
