//! Atomics that the models do not see, and the watcher does.

pub(crate) use crate::sync::imp::{AtomicPtr, AtomicU8, AtomicU64};
