//! The sizes of stacks, in bytes.

pub(crate) const SMALLEST: usize = 16 << 10;
pub(crate) const LARGEST: usize = 1 << 30;

/// If the program does not choose. Only what is touched takes memory.
pub(crate) const DEFAULT: usize = 256 << 10;
