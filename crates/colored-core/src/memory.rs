//! Memory for tasks and callbacks: a worker keeps the blocks that it frees for the next ones of their size.
//!
//! Spawning and posting allocate at one place and free at another, often on another thread, which is the slow case of
//! most allocators. So a worker keeps the blocks that it frees, by size, in two *magazines* (Bonwick and Adams, 2001)
//! of 64 blocks. Full ones go to the runtime's depot, empty ones are exchanged there for full ones: one lock per so
//! many blocks, and none where there is no full one ([`shelf`]).
//!
//! Callbacks, which are freed soon, come from [`chunk`]s instead.
//!
//! The blocks are the global allocator's. Other threads allocate and free there directly, and each block may go either
//! way. The models and the sanitizers see only the plain allocator.

mod boxed;
#[cfg_attr(any(colored_loom, colored_sanitize), path = "memory/plain.rs")]
mod cache;
#[cfg(not(any(colored_loom, colored_sanitize)))]
mod chunk;
mod shelf;

pub(crate) use self::boxed::Boxed;
pub(crate) use self::cache::{
    Cache, Depot, allocate, allocate_short_lived, release, release_short_lived,
};
pub(crate) use self::shelf::Shelves;

use std::alloc::Layout;

/// Sizes are rounded up to multiples of this.
const GRAIN: usize = 16;

/// Larger blocks are not kept.
const LARGEST: usize = 512;

/// The class of a layout, and the layout that all blocks of the class have; `None` if such blocks are not kept.
fn class(layout: Layout) -> Option<(usize, Layout)> {
    let size = layout.size().next_multiple_of(GRAIN);
    if size == 0 || size > LARGEST || layout.align() > GRAIN {
        return None;
    }
    let rounded = Layout::from_size_align(size, GRAIN).ok()?;
    Some((size / GRAIN - 1, rounded))
}
