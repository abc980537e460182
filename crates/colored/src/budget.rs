//! The cooperative budget, as the leaves of this crate use it.

pub(crate) use colored_core::budget::{
    PER_POLL, give_back, poll_proceed, poll_remaining, remaining, spend, unlimited,
};

#[cfg(test)]
pub(crate) use colored_core::budget::set;
