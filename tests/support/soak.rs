//! Switches for long tests that rarely find more.

use std::env;

/// How many times: `usually`, or `soak` in the job of that name, which sets `COLORED_SOAK`.
pub fn times(usually: u64, soak: u64) -> u64 {
    if env::var_os("COLORED_SOAK").is_some() { soak } else { usually }
}
