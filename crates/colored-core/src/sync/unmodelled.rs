//! Atomics that the models do not see: `std`'s.

pub(crate) use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU64};
