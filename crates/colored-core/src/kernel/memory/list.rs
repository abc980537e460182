//! Where blocks come from: free lists, and chunks for blocks that are freed soon.
//!
//! # Free lists
//!
//! Each worker has its own, and all workers of a runtime share another one. A worker's list that has become long moves a
//! batch of items to the shared list, and an empty one takes a batch from there: one lock for so many items.
//!
//! # Chunks
//!
//! Their blocks are handed out from front to back. A callback lives until its turn, and callbacks that are posted together
//! run together. So posts get neighbouring blocks of a chunk: the poster writes, and the lane's holder reads, line after
//! line, and the processor can prefetch both. A chunk does not know its free blocks, only how many are in use; when none is,
//! it starts from the front again. One block that stays keeps the whole chunk, which is why tasks do not live here.
//!
//! The count is biased while the chunk is handed out from: the worker counts by itself the blocks that it hands out,
//! and gives the rest of the bias back once. So the count cannot reach zero before that.
//!
//! What they are worth (2026-11-28, two cores, medians of three, the bench `ratio`, row `keyed_post`): a post takes 46 ns,
//! and 54 from the free lists.

use crate::sync::{AtomicUsize, Mutex, Ordering};
use std::alloc::{self, Layout};
use std::cell::RefCell;
use std::ptr::NonNull;

/// Sizes of blocks are rounded up to multiples of this.
pub(super) const GRAIN: usize = 16;

/// Bytes of one size that all workers share at most. Each size has a limit of its own: blocks that other threads allocate
/// and workers free fill theirs, and must not crowd out the rest (`benches/ratio.rs`, `keyed` after `spawn_remote`: 330 ns
/// with one limit, 130 ns so). A burst of 80,000 posts fits.
pub(crate) const SHARED_BYTES: usize = 4 << 20;

/// Items in a batch. `benches/ratio.rs`, `spawn_many`: 32 costs 4 % more than 64, 256 gains nothing.
const BATCH: usize = 64;

/// A worker's free items, in an array beside the items, not a list through them: another core was more often than not
/// the last to use a free block, and popping from a list would wait for its cache line.
pub(crate) struct FreeList<T>(RefCell<Vec<T>>);

impl<T> FreeList<T> {
    /// An empty list.
    pub(crate) fn new() -> Self {
        Self(RefCell::new(Vec::new()))
    }

    /// Takes the item that was put in last.
    #[inline]
    pub(crate) fn pop<'s>(&self, shared: impl FnOnce() -> &'s SharedList<T>) -> Option<T>
    where
        T: 's,
    {
        let mut items = self.0.borrow_mut();
        if items.is_empty() {
            shared().give_batch_to(&mut items);
        }
        items.pop()
    }

    /// Puts an item in. Calls `free` with items for which there is no room, neither here nor in `shared`.
    #[inline]
    pub(crate) fn push<'s>(
        &self,
        item: T,
        shared: impl FnOnce() -> &'s SharedList<T>,
        free: impl FnOnce(Vec<T>),
    ) where
        T: 's,
    {
        let mut items = self.0.borrow_mut();
        if items.len() == 2 * BATCH {
            drop(items);
            self.move_batch_to(shared(), free);
            items = self.0.borrow_mut();
        }
        items.push(item);
    }

    #[cold]
    fn move_batch_to(&self, shared: &SharedList<T>, free: impl FnOnce(Vec<T>)) {
        let mut oldest: Vec<T> = self.0.borrow_mut().drain(..BATCH).collect();
        if !shared.take_all_of(&mut oldest) {
            free(oldest);
        }
    }

    /// Takes all items.
    pub(crate) fn take_all(&self) -> Vec<T> {
        self.0.take()
    }
}

/// Free items that the workers of a runtime share. A thread that would find the list empty, or full, takes no lock: with a
/// lock, each spawn of a worker whose blocks end elsewhere would wait for all others that find nothing either.
// All workers write here, so it has cache lines of its own: two, which the processor may fetch together.
#[repr(align(128))]
pub(crate) struct SharedList<T> {
    /// `None` when the list has been closed.
    items: Mutex<Option<Vec<T>>>,
    len: AtomicUsize,
    most: usize,
}

impl<T> SharedList<T> {
    /// An empty list that has room for this number of items.
    pub(crate) fn new(most: usize) -> Self {
        Self { items: Mutex::new(Some(Vec::new())), len: AtomicUsize::new(0), most }
    }

    /// About how many items there are.
    fn len(&self) -> usize {
        // Ordering: a hint. The lock hands the items over.
        self.len.load(Ordering::Relaxed)
    }

    /// Calls `f` with the items, under the lock; `None` if the list has been closed.
    fn with<R>(&self, f: impl FnOnce(&mut Vec<T>) -> R) -> Option<R> {
        let mut all = self.items.lock();
        let items = all.as_mut()?;
        let result = f(items);
        // Ordering: as in `len`.
        self.len.store(items.len(), Ordering::Relaxed);
        Some(result)
    }

    /// Takes an item. May miss one that another thread is putting in or has just put in.
    pub(crate) fn pop(&self) -> Option<T> {
        if self.len() == 0 { None } else { self.with(Vec::pop)? }
    }

    /// Puts an item in; returns it if there is no room.
    pub(crate) fn push(&self, item: T) -> Option<T> {
        if self.len() >= self.most {
            return Some(item);
        }
        let mut item = Some(item);
        self.with(|items| {
            if items.len() < self.most {
                items.extend(item.take());
            }
        });
        item
    }

    /// Takes all items, and has no room for others from now on.
    pub(crate) fn close(&self) -> Vec<T> {
        self.items.lock().take().unwrap_or_default()
    }

    #[cold]
    fn give_batch_to(&self, own: &mut Vec<T>) {
        if self.len() > 0 {
            self.with(|items| own.extend(items.drain(items.len().saturating_sub(BATCH)..)));
        }
    }

    /// Puts all of `given` in, if there is room, and says whether there is.
    fn take_all_of(&self, given: &mut Vec<T>) -> bool {
        let more = given.len();
        let has_room = |items: usize| items + more <= self.most;
        if !has_room(self.len()) {
            return false;
        }
        let taken = self.with(|items| {
            let has_room = has_room(items.len());
            if has_room {
                items.append(given);
            }
            has_room
        });
        taken == Some(true)
    }
}

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
    use super::{BATCH, FreeList, SharedList, *};

    /// Puts a batch of these numbers into the shared list, as a worker does.
    fn put(shared: &SharedList<usize>, first: usize) -> Vec<usize> {
        let (own, mut freed) = (FreeList::new(), Vec::new());
        (first..=first + 2 * BATCH)
            .for_each(|item| own.push(item, || shared, |items| freed = items));
        freed
    }

    #[test]
    fn a_worker_gives_its_oldest_items_away_and_takes_a_batch_back() {
        let shared = SharedList::new(2 * BATCH);
        assert!(put(&shared, 0).is_empty() && put(&shared, 1000).is_empty());
        assert_eq!(shared.len(), 2 * BATCH);
        assert_eq!(put(&shared, 2000), (2000..2000 + BATCH).collect::<Vec<_>>(), "it is full");
        let own = FreeList::new();
        assert_eq!(own.pop(|| &shared), Some(1000 + BATCH - 1));
        assert_eq!((own.take_all().len(), shared.len()), (BATCH - 1, BATCH));
        assert_eq!((shared.pop(), shared.push(7)), (Some(BATCH - 1), None));
        assert_eq!((shared.pop(), shared.pop()), (Some(7), Some(BATCH - 2)));
        // The last batch of the list is a short one.
        assert_eq!(own.pop(|| &shared), Some(BATCH - 3));
        assert_eq!((own.take_all().len(), own.pop(|| &shared)), (BATCH - 3, None));
    }

    #[test]
    fn an_empty_or_full_list_takes_no_lock() {
        let shared = SharedList::new(BATCH);
        let own = FreeList::new();
        shared.with(|_| {
            // These would wait for ever.
            assert_eq!((shared.pop(), own.pop(|| &shared)), (None, None));
        });
        assert!(put(&shared, 0).is_empty());
        shared.with(|_| assert_eq!((put(&shared, 0).len(), shared.push(7)), (BATCH, Some(7))));
    }

    #[test]
    fn a_list_that_was_closed_keeps_nothing() {
        let shared = SharedList::new(2 * BATCH);
        assert!(put(&shared, 0).is_empty());
        assert_eq!(shared.close().len(), BATCH);
        assert_eq!((put(&shared, 0).len(), shared.push(7)), (BATCH, Some(7)));
        assert_eq!((shared.pop(), shared.close().len()), (None, 0));
    }

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
