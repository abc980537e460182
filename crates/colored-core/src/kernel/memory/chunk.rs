//! Chunks: memory for blocks that are freed soon, handed out from front to back.
//!
//! A callback lives until its turn, and callbacks that are posted together run together. So posts get neighbouring
//! blocks of a chunk: the poster writes, and the lane's holder reads, line after line, and the processor can prefetch
//! both. A chunk does not know its free blocks, only how many are in use; when none is, it starts from the front again.
//! One block that stays keeps the whole chunk, which is why tasks do not live here.
//!
//! The count is biased while the chunk is handed out from: the worker counts by itself the blocks that it hands out,
//! and gives the rest of the bias back once. So the count cannot reach zero before that.
//!
//! What they are worth (2026-11-28, two cores, medians of three, the bench `ratio`, row `keyed_post`): a post takes 46 ns, and 54
//! from the free lists.

use super::GRAIN;
use crate::sync::{AtomicUsize, Ordering};
use std::alloc::{self, Layout};
use std::ptr::NonNull;

/// Bytes of a chunk, and its alignment: a block's address tells its chunk.
pub(super) const SIZE: usize = 4096;

const LAYOUT: Layout = match Layout::from_size_align(SIZE, SIZE) {
    Ok(layout) => layout,
    Err(_) => panic!("a power of two"),
};

/// More than there can be blocks in a chunk.
const BIAS: usize = SIZE;

/// Bytes before the first block: a cache line, so that the count shares it with no block.
const HEADER: usize = 64;

/// The count of one chunk, at its front.
struct Count(AtomicUsize);

/// A chunk of which no block is in use.
pub(super) struct Chunk(NonNull<Count>);

// SAFETY: no other thread has a pointer into it.
unsafe impl Send for Chunk {}

impl Chunk {
    pub(super) fn new() -> Self {
        // SAFETY: `LAYOUT` has `SIZE` bytes, which is not zero.
        let place = unsafe { alloc::alloc(LAYOUT) };
        match NonNull::new(place) {
            Some(place) => Self(place.cast()),
            None => alloc::handle_alloc_error(LAYOUT),
        }
    }

    fn start(self) -> NonNull<Count> {
        let count = self.0;
        std::mem::forget(self);
        // SAFETY: `self` owns the chunk, of which no block is in use, so no other thread has a pointer into it.
        unsafe { count.write(Count(AtomicUsize::new(BIAS))) };
        count
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // SAFETY: the chunk is from `new`, and no other thread has a pointer into it.
        unsafe { alloc::dealloc(self.0.as_ptr().cast(), LAYOUT) };
    }
}

/// A chunk that one thread hands out from.
pub(super) struct Front {
    chunk: NonNull<Count>,
    /// Where the next block begins.
    offset: usize,
    blocks: usize,
}

// SAFETY: only the one owner hands out; blocks are counted across threads.
unsafe impl Send for Front {}

impl Front {
    pub(super) fn new(chunk: Chunk) -> Self {
        Self { chunk: chunk.start(), offset: HEADER, blocks: 0 }
    }

    /// The next block; `None` if the chunk has too little left.
    #[inline]
    pub(super) fn take(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        debug_assert!(layout.align() <= GRAIN);
        let end = self.offset + layout.size().next_multiple_of(GRAIN);
        if end > SIZE {
            return None;
        }
        // SAFETY: the check above has found `offset` inside the chunk.
        let block = unsafe { self.chunk.cast::<u8>().add(self.offset) };
        self.offset = end;
        self.blocks += 1;
        Some(block)
    }

    /// Ends the handing out; returns the chunk, if all its blocks have come back.
    pub(super) fn close(self) -> Option<Chunk> {
        // SAFETY: the count began with the bias, of which this front still has all but its blocks.
        unsafe { give_back(self.chunk, BIAS - self.blocks) }
    }
}

/// Gives a block back; returns its chunk, if that block was the last.
///
/// # Safety
///
/// The block is from [`Front::take`], and is not used any more.
#[inline]
pub(super) unsafe fn release(block: NonNull<u8>) -> Option<Chunk> {
    let offset = block.as_ptr().addr() % SIZE;
    // SAFETY: chunks are aligned to their size, so this is the front of the block's chunk.
    let count = unsafe { block.sub(offset) }.cast::<Count>();
    // SAFETY: the block is in the count.
    unsafe { give_back(count, 1) }
}

/// # Safety
///
/// The caller's `blocks` are in the count.
#[inline]
unsafe fn give_back(chunk: NonNull<Count>, blocks: usize) -> Option<Chunk> {
    // SAFETY: the caller's blocks are in the count, and the chunk is alive while blocks are counted.
    let count = unsafe { &chunk.as_ref().0 };
    // Ordering: Release orders the use of a block before the chunk's next life, Acquire the others'.
    let last = count.fetch_sub(blocks, Ordering::AcqRel) == blocks;
    last.then(|| Chunk(chunk))
}

#[cfg(all(test, not(colored_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_comes_back_once_all_blocks_have_and_it_is_closed() {
        let layout = Layout::new::<[u64; 6]>();
        for close_first in [true, false] {
            let mut front = Front::new(Chunk::new());
            let blocks: Vec<_> = std::iter::from_fn(|| front.take(layout)).collect();
            assert_eq!(blocks.len(), (SIZE - HEADER) / 48);
            let mut front = Some(front);
            let mut back = Vec::new();
            if close_first {
                back.extend(front.take().unwrap().close());
            }
            for block in blocks {
                assert_eq!(block.as_ptr().addr() % GRAIN, 0);
                // SAFETY: taken above.
                back.extend(unsafe { release(block) });
            }
            if let Some(front) = front {
                assert!(back.is_empty(), "it is still handed out from");
                back.extend(front.close());
            }
            assert_eq!(back.len(), 1);
        }
    }

    #[test]
    fn blocks_come_back_from_other_threads() {
        let mut front = Front::new(Chunk::new());
        let layout = Layout::new::<u64>();
        let blocks: Vec<usize> = std::iter::from_fn(|| front.take(layout))
            .map(|block| block.as_ptr().expose_provenance())
            .collect();
        let closed = usize::from(front.close().is_some());
        let halves = blocks.chunks(blocks.len() / 2 + 1);
        let back: usize = std::thread::scope(|scope| {
            let free = |half: &[usize]| {
                half.iter()
                    .filter_map(|block| {
                        let block = std::ptr::with_exposed_provenance_mut(*block);
                        // SAFETY: taken above, released once.
                        unsafe { release(NonNull::new(block).unwrap()) }
                    })
                    .count()
            };
            let threads: Vec<_> = halves.map(|half| scope.spawn(move || free(half))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(closed + back, 1);
    }
}
