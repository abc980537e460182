//! Memory for tasks, callbacks and lanes: a worker keeps what it frees for the next use.
//!
//! Spawning and posting allocate at one place and free at another, often on another thread, which is the slow case of
//! most allocators. So a worker has a free list for each size, and all workers of a runtime share another one for each
//! size ([`list`]). The blocks are the global allocator's. Other threads allocate and free there directly, and each block
//! may go either way.
//!
//! Callbacks, which are freed soon, come from [`chunk`]s instead.
//!
//! The models and the sanitizers see only the global allocator.

mod blocks;
mod boxed;
mod chunk;
mod list;

#[cfg(feature = "sim")]
pub(crate) use self::blocks::exchange;
pub(crate) use self::blocks::{
    Cache, SharedBlocks, allocate, allocate_short_lived, release, release_short_lived,
};
pub(crate) use self::boxed::Boxed;
pub(crate) use self::list::{FreeList, SharedList};

/// Sizes of blocks are rounded up to multiples of this.
const GRAIN: usize = 16;

/// Bytes of one size that all workers share at most. Each size has a limit of its own: blocks that other threads allocate
/// and workers free fill theirs, and must not crowd out the rest (`benches/ratio.rs`, `keyed` after `spawn_remote`: 330 ns
/// with one limit, 130 ns so). A burst of 80,000 posts fits.
pub(crate) const SHARED_BYTES: usize = 4 << 20;
