//! Without the feature `record`, nothing is recorded or replayed.

pub(crate) use colored_core::port::refuse;
use std::task::Poll;

#[inline(always)]
pub(crate) fn clock(_read: impl FnOnce() -> u64) -> Option<u64> {
    None
}

#[inline(always)]
pub(crate) fn choice(draw: impl FnOnce() -> u32) -> u32 {
    draw()
}

#[inline(always)]
pub(crate) fn timer(poll: impl FnOnce() -> Poll<()>) -> Poll<()> {
    poll()
}

#[inline(always)]
pub(crate) fn has_come(ask: impl FnOnce() -> bool) -> bool {
    ask()
}
