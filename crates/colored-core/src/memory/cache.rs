//! Magazines and the depot.

use super::chunk::{self, Chunk, Front};
use super::{GRAIN, LARGEST, Shelves, class};
use crate::sync::thread_slot;
use std::alloc::{self, Layout};
use std::cell::{Cell, RefCell};
use std::mem;
use std::ptr::{self, NonNull};

const CLASSES: usize = LARGEST / GRAIN;

/// Blocks in a full magazine.
const ROUNDS: usize = 64;

/// Bytes of a class that the depot keeps for each eight workers: further blocks are freed. Each class has a limit of its own: blocks that
/// other threads allocate and workers free fill theirs, and must not crowd out the rest (`benches/ratio.rs`, `keyed`
/// after `spawn_remote`: 330 ns with one limit, 130 ns so).
const KEPT: usize = 2 << 20;

/// Chunks that the depot keeps for each eight workers: 4 MiB, a burst of 80,000 posts.
const CHUNKS: usize = (4 << 20) / chunk::SIZE;

/// Free blocks of one class, in an array beside them, not a list through them: another core was more often than not the
/// last to use a free block, and popping from a list would wait for its cache line.
#[derive(Default)]
struct Magazine(Vec<NonNull<u8>>);

// SAFETY: the owner of the magazine owns its blocks.
unsafe impl Send for Magazine {}

impl Magazine {
    fn take(&mut self) -> Option<NonNull<u8>> {
        self.0.pop()
    }

    fn is_full(&self) -> bool {
        self.0.len() == ROUNDS
    }

    fn keep(&mut self, block: NonNull<u8>) {
        if self.0.capacity() == 0 {
            self.0.reserve_exact(ROUNDS);
        }
        self.0.push(block);
    }

    fn free(self, class: usize) {
        let layout = Layout::from_size_align((class + 1) * GRAIN, GRAIN).expect("a small layout");
        for block in self.0 {
            // SAFETY: a block of the class has the class's layout.
            unsafe { alloc::dealloc(block.as_ptr(), layout) };
        }
    }
}

/// The full magazines of a runtime.
pub(crate) struct Depot {
    classes: [Shelves<Magazine>; CLASSES],
    chunks: Shelves<Chunk>,
}

impl Depot {
    /// An empty depot for so many workers.
    pub(crate) fn new(workers: usize) -> Self {
        let classes = std::array::from_fn(|_| Shelves::new(workers));
        Self { classes, chunks: Shelves::new(workers) }
    }

    #[cold]
    fn take(&self, worker: usize, class: usize) -> Option<Magazine> {
        self.classes[class].pop(worker)
    }

    /// Takes a full magazine.
    #[cold]
    fn keep(&self, worker: usize, class: usize, magazine: Magazine) {
        let most = KEPT.div_ceil(bytes_of(class));
        if let Err(magazine) = self.classes[class].push(worker, magazine, most, || false) {
            magazine.free(class);
        }
    }

    #[cold]
    fn take_chunk(&self, worker: usize) -> Option<Chunk> {
        self.chunks.pop(worker)
    }

    #[cold]
    fn keep_chunk(&self, worker: usize, chunk: Chunk) {
        drop(self.chunks.push(worker, chunk, CHUNKS, || false));
    }
}

/// Bytes in a full magazine.
fn bytes_of(class: usize) -> usize {
    (class + 1) * GRAIN * ROUNDS
}

impl Drop for Depot {
    fn drop(&mut self) {
        for (class, full) in self.classes.iter().enumerate() {
            full.take_all().into_iter().for_each(|magazine| magazine.free(class));
        }
    }
}

/// A worker's free blocks.
pub(crate) struct Cache {
    classes: [RefCell<Slot>; CLASSES],
    front: RefCell<Option<Front>>,
    depot: Cell<*const Depot>,
    worker: usize,
    /// Whether it keeps any block.
    keeps: bool,
}

// SAFETY: the cache takes its blocks along, and only `enter` gives access to the depot.
unsafe impl Send for Cache {}

/// Two magazines, so that allocating and freeing in turn at a boundary does not go to the depot.
#[derive(Default)]
struct Slot {
    loaded: Magazine,
    spare: Magazine,
}

thread_slot!(static CACHE: Cell<*const Cache> = Cell::new(ptr::null()));

impl Cache {
    /// An empty cache of that worker; if not `keeps`, it leaves all blocks to the global allocator.
    pub(crate) fn new(worker: usize, keeps: bool) -> Self {
        Self {
            classes: std::array::from_fn(|_| RefCell::default()),
            front: RefCell::new(None),
            depot: Cell::new(ptr::null()),
            worker,
            keeps,
        }
    }

    /// Serves this thread from the cache while `f` runs.
    #[inline]
    pub(crate) fn enter<R>(&self, depot: &Depot, f: impl FnOnce() -> R) -> R {
        struct Restore(*const Cache);
        impl Drop for Restore {
            fn drop(&mut self) {
                CACHE.with(|cache| cache.set(self.0));
            }
        }
        self.depot.set(depot);
        let serves = if self.keeps { ptr::from_ref(self) } else { ptr::null() };
        let _restore = Restore(CACHE.with(|cache| cache.replace(serves)));
        f()
    }

    fn depot(&self) -> &Depot {
        // SAFETY: `enter` borrows the depot for as long as the cache serves.
        unsafe { &*self.depot.get() }
    }

    #[inline]
    fn take(&self, class: usize) -> Option<NonNull<u8>> {
        let mut slot = self.classes[class].borrow_mut();
        slot.loaded.take().or_else(|| self.reload(class, &mut slot))
    }

    #[cold]
    fn reload(&self, class: usize, slot: &mut Slot) -> Option<NonNull<u8>> {
        mem::swap(&mut slot.loaded, &mut slot.spare);
        if slot.loaded.0.is_empty() {
            slot.loaded = self.depot().take(self.worker, class)?;
        }
        slot.loaded.take()
    }

    #[inline]
    fn keep(&self, class: usize, block: NonNull<u8>) {
        let mut slot = self.classes[class].borrow_mut();
        if slot.loaded.is_full() {
            self.unload(class, &mut slot);
        }
        slot.loaded.keep(block);
    }

    #[cold]
    fn unload(&self, class: usize, slot: &mut Slot) {
        mem::swap(&mut slot.loaded, &mut slot.spare);
        if slot.loaded.is_full() {
            self.depot().keep(self.worker, class, mem::take(&mut slot.loaded));
        }
    }
}

impl Cache {
    #[inline]
    fn take_short_lived(&self, layout: Layout) -> Option<NonNull<u8>> {
        let mut front = self.front.borrow_mut();
        let block = front.as_mut().and_then(|front| front.take(layout));
        block.or_else(|| self.next_chunk(&mut front).take(layout))
    }

    #[cold]
    fn next_chunk<'a>(&self, front: &'a mut Option<Front>) -> &'a mut Front {
        if let Some(chunk) = front.take().and_then(Front::settle) {
            self.depot().keep_chunk(self.worker, chunk);
        }
        front.insert(Front::new(self.depot().take_chunk(self.worker).unwrap_or_else(Chunk::new)))
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        drop(self.front.take().and_then(Front::settle));
        for (class, slot) in self.classes.iter_mut().enumerate() {
            let slot = mem::take(slot.get_mut());
            slot.loaded.free(class);
            slot.spare.free(class);
        }
    }
}

/// Calls `f` with the cache that serves this thread.
#[inline]
fn with<R>(f: impl FnOnce(&Cache) -> R) -> Option<R> {
    let cache = CACHE.with(Cell::get);
    // SAFETY: `enter` borrows the cache until it takes the pointer out again, on this thread.
    unsafe { cache.as_ref() }.map(f)
}

/// A block for `layout`, which must not be empty.
#[inline]
pub(crate) fn allocate(layout: Layout) -> NonNull<u8> {
    assert!(layout.size() > 0, "no block is empty");
    let Some((class, rounded)) = class(layout) else { return from_system(layout) };
    with(|cache| cache.take(class)).flatten().unwrap_or_else(|| from_system(rounded))
}

/// Gives a block back.
///
/// # Safety
///
/// The block is from [`allocate`] with the same layout, and is not used any more.
#[inline]
pub(crate) unsafe fn release(block: NonNull<u8>, layout: Layout) {
    let Some((class, rounded)) = class(layout) else {
        // SAFETY: a block of no class has its own layout.
        return unsafe { alloc::dealloc(block.as_ptr(), layout) };
    };
    if with(|cache| cache.keep(class, block)).is_none() {
        // SAFETY: a block of a class has the class's layout.
        unsafe { alloc::dealloc(block.as_ptr(), rounded) };
    }
}

/// A block for a value that is freed soon, if this thread has such blocks.
#[inline]
pub(crate) fn allocate_short_lived(layout: Layout) -> Option<NonNull<u8>> {
    if layout.size() > LARGEST || layout.align() > GRAIN {
        return None;
    }
    with(|cache| cache.take_short_lived(layout)).flatten()
}

/// Gives a block back.
///
/// # Safety
///
/// The block is from [`allocate_short_lived`], and is not used any more.
#[inline]
pub(crate) unsafe fn release_short_lived(block: NonNull<u8>) {
    // SAFETY: the caller promises that the block is from `allocate_short_lived`, and is not used any more.
    if let Some(chunk) = unsafe { chunk::release(block) } {
        // On a thread that keeps nothing the chunk is freed with the closure.
        with(move |cache| cache.depot().keep_chunk(cache.worker, chunk));
    }
}

fn from_system(layout: Layout) -> NonNull<u8> {
    // SAFETY: `allocate` has asserted that the layout is not empty, and rounding makes it no smaller.
    let block = unsafe { alloc::alloc(layout) };
    NonNull::new(block).unwrap_or_else(|| alloc::handle_alloc_error(layout))
}
