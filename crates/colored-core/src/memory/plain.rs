//! The stand-in for `cache.rs` that keeps nothing.

use std::alloc::{self, Layout};
use std::ptr::NonNull;

/// See `cache.rs`.
#[derive(Debug)]
pub(crate) struct Depot;

impl Depot {
    pub(crate) fn new(_workers: usize) -> Self {
        Self
    }
}

/// See `cache.rs`.
#[derive(Debug)]
pub(crate) struct Cache;

impl Cache {
    pub(crate) fn new(_worker: usize, _keeps: bool) -> Self {
        Self
    }

    pub(crate) fn enter<R>(&self, _depot: &Depot, f: impl FnOnce() -> R) -> R {
        f()
    }
}

pub(crate) fn allocate(layout: Layout) -> NonNull<u8> {
    let _ = super::class(layout);
    assert!(layout.size() > 0, "no block is empty");
    // SAFETY: the assertion above has excluded the size zero.
    let block = unsafe { alloc::alloc(layout) };
    NonNull::new(block).unwrap_or_else(|| alloc::handle_alloc_error(layout))
}

/// # Safety
///
/// The block is from [`allocate`] with the same layout, and is not used any more.
pub(crate) unsafe fn release(block: NonNull<u8>, layout: Layout) {
    // SAFETY: the caller promises that the block is from `allocate` with this layout, and is not
    // used any more.
    unsafe { alloc::dealloc(block.as_ptr(), layout) };
}

/// See `cache.rs`.
pub(crate) fn allocate_short_lived(_layout: Layout) -> Option<NonNull<u8>> {
    None
}

/// # Safety
///
/// Never called: there are no such blocks.
pub(crate) unsafe fn release_short_lived(_block: NonNull<u8>) {
    unreachable!("`allocate_short_lived` gives none");
}
