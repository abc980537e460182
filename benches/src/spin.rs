//! Work that takes a core's time and nothing else.

use std::hint::black_box;

/// Steps in a microsecond, more or less: six cycles each, on a core of some 3 GHz.
pub const PER_MICROSECOND: u64 = 500;

/// A chain of so many steps, two nanoseconds each, that no compiler shortens as it would an affine
/// one.
pub fn spin(steps: u64) {
    let mut state = black_box(1_u64);
    for _ in 0..steps {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    black_box(state);
}
