//! The system allocator, counting the allocations, and the bytes that are in use.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the requested bytes, not the bytes to which the allocator rounds them up.
///
/// Use it for memory figures only: all allocations of all threads change one counter.
#[derive(Debug, Default)]
pub struct Counting {
    live: AtomicUsize,
    allocations: AtomicUsize,
}

impl Counting {
    /// An allocator that has counted nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { live: AtomicUsize::new(0), allocations: AtomicUsize::new(0) }
    }

    /// Bytes allocated and not yet freed.
    #[must_use]
    pub fn live(&self) -> usize {
        // Ordering: Relaxed, a statistic; the reader has waited for the allocating tasks.
        self.live.load(Ordering::Relaxed)
    }

    /// Allocations so far; growing a block counts as one.
    #[must_use]
    pub fn allocations(&self) -> usize {
        // Ordering: Relaxed, a statistic; the reader has waited for the allocating tasks.
        self.allocations.load(Ordering::Relaxed)
    }

    fn add(&self, bytes: usize) {
        // Ordering: Relaxed, a statistic that publishes nothing; so below.
        self.allocations.fetch_add(1, Ordering::Relaxed);
        self.live.fetch_add(bytes, Ordering::Relaxed);
    }

    fn subtract(&self, bytes: usize) {
        // Ordering: Relaxed, a statistic that publishes nothing.
        self.live.fetch_sub(bytes, Ordering::Relaxed);
    }
}

// SAFETY: every method hands its arguments unchanged to `System`, which fulfils the contract,
// and returns what `System` returns. Counting is atomic arithmetic: it neither allocates nor
// unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's obligation, a layout of non-zero size, is `System`'s.
        let block = unsafe { System.alloc(layout) };
        if !block.is_null() {
            self.add(layout.size());
        }
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's obligation, a layout of non-zero size, is `System`'s.
        let block = unsafe { System.alloc_zeroed(layout) };
        if !block.is_null() {
            self.add(layout.size());
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        self.subtract(layout.size());
        // SAFETY: the caller got `block` from this allocator with this layout, so from
        // `System` with this layout.
        unsafe { System.dealloc(block, layout) };
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller got `block` from this allocator, and so from `System`, with this
        // layout, and promises a non-zero `size` that does not overflow when it is rounded up to
        // the alignment.
        let moved = unsafe { System.realloc(block, layout, size) };
        if !moved.is_null() {
            self.add(size);
            self.subtract(layout.size());
        }
        moved
    }
}
