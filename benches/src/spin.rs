//! Work that takes only a core's time.

use std::hint::black_box;

/// About the number of steps in a microsecond: six cycles each, on a core of some 3 GHz.
pub const PER_MICROSECOND: u64 = 500;

/// A chain of steps, two nanoseconds each. No compiler shortens it, as it would an affine chain.
pub fn spin(steps: u64) {
    let mut state = black_box(1_u64);
    for _ in 0..steps {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    black_box(state);
}
