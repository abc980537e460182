//! The cooperative budget, as the leaves of this crate use it.

pub(crate) use colored_core::budget::{give_back, poll_proceed};

#[cfg(test)]
pub(crate) use colored_core::budget::set;
