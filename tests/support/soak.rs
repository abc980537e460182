//! How often tests repeat what rarely finds more.

use std::env;

/// How many times: `usually`, or `soak` in the job of that name, which sets `COLORED_SOAK`.
pub fn times(usually: u64, soak: u64) -> u64 {
    if env::var_os("COLORED_SOAK").is_some() { soak } else { usually }
}

/// Whether to repeat all: CI sets `COLORED_LONG_TESTS` once a week.
pub fn is_long() -> bool {
    env::var_os("COLORED_LONG_TESTS").is_some()
}

/// How many times: `usually`, or `weekly`.
pub fn repeat(usually: usize, weekly: usize) -> usize {
    if is_long() { weekly } else { usually }
}
