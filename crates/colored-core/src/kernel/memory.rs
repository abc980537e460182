//! Memory for tasks, callbacks and lanes: a worker keeps what it frees for the next use.
//!
//! Spawning and posting allocate at one place and free at another, often on another thread, which is the slow case of
//! most allocators. So a worker has a free list for each size, and all workers of a runtime share another one for each
//! size ([`list`]). The blocks are the global allocator's. Other threads allocate and free there directly, and each block
//! may go either way.
//!
//! Callbacks, which are freed soon, come from chunks instead.
//!
//! The models and the sanitizers see only the global allocator.

mod list;

pub(crate) use self::list::{FreeList, SHARED_BYTES, SharedList};

use self::list::{Chunk, Front, GRAIN};
use crate::sync::{Arc, thread_slot};
use std::alloc::{self, Layout};
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};
use std::{array, mem};

/// Whether workers keep blocks at all. The models and the sanitizers see every allocation.
const KEEPS: bool = !cfg!(any(colored_loom, colored_sanitize));

/// Larger blocks are not kept.
const LARGEST: usize = 512;

/// Rounded sizes, each a *class*.
const CLASSES: usize = LARGEST / GRAIN;

/// The class of a layout, and the layout that all blocks of the class have; `None` if such blocks are not kept.
fn class(layout: Layout) -> Option<(usize, Layout)> {
    let size = layout.size().next_multiple_of(GRAIN);
    if size == 0 || size > LARGEST || layout.align() > GRAIN {
        return None;
    }
    let rounded = Layout::from_size_align(size, GRAIN).ok()?;
    Some((size / GRAIN - 1, rounded))
}

/// A block that is free.
struct Block(NonNull<u8>);

// SAFETY: the owner of a free block is the only one with a pointer into it.
unsafe impl Send for Block {}

fn free(class: usize, blocks: Vec<Block>) {
    let layout = Layout::from_size_align((class + 1) * GRAIN, GRAIN).expect("a small layout");
    for Block(place) in blocks {
        // SAFETY: a block of the class has the class's layout.
        unsafe { alloc::dealloc(place.as_ptr(), layout) };
    }
}

/// The free blocks that the workers of a runtime share. None if they keep none.
pub(crate) struct SharedBlocks(Option<Box<Lists>>);

struct Lists {
    classes: [SharedList<Block>; CLASSES],
    chunks: SharedList<Chunk>,
}

impl SharedBlocks {
    /// No blocks, for workers that keep some or not.
    pub(crate) fn new(keeps: bool) -> Self {
        let list = |class| SharedList::new(SHARED_BYTES / ((class + 1) * GRAIN));
        let chunks = || SharedList::new(SHARED_BYTES / list::SIZE);
        let lists = || Box::new(Lists { classes: array::from_fn(list), chunks: chunks() });
        Self((keeps && KEEPS).then(lists))
    }

    #[cold]
    fn lists(&self) -> &Lists {
        self.0.as_ref().expect("the workers keep blocks")
    }
}

impl Drop for SharedBlocks {
    fn drop(&mut self) {
        let classes = self.0.iter().flat_map(|lists| &lists.classes);
        classes.enumerate().for_each(|(class, list)| free(class, list.close()));
    }
}

/// A worker's free blocks.
pub(crate) struct Cache {
    own: [FreeList<Block>; CLASSES],
    front: RefCell<Option<Front>>,
    shared: Arc<SharedBlocks>,
    /// Whether it keeps any block.
    keeps: bool,
}

thread_slot!(static CACHE: Cell<*const Cache> = Cell::new(ptr::null()));

/// Exchanges the cache that serves this thread.
///
/// # Safety
///
/// `other` is null, or was this thread's in the frames in which the thread goes on.
#[cfg(feature = "sim")]
pub(crate) unsafe fn exchange(other: &Cell<*const Cache>) {
    CACHE.with(|cache| cache.swap(other));
}

impl Cache {
    /// An empty cache; if not `keeps`, it leaves all blocks to the global allocator.
    pub(crate) fn new(shared: Arc<SharedBlocks>, keeps: bool) -> Self {
        let own = array::from_fn(|_| FreeList::new());
        Self { own, front: RefCell::new(None), shared, keeps: keeps && KEEPS }
    }

    /// Serves this thread from the cache while `f` runs.
    #[inline]
    pub(crate) fn enter<R>(&self, f: impl FnOnce() -> R) -> R {
        struct Restore(*const Cache);
        impl Drop for Restore {
            fn drop(&mut self) {
                CACHE.with(|cache| cache.set(self.0));
            }
        }
        if !KEEPS {
            return f();
        }
        let serves = if self.keeps { ptr::from_ref(self) } else { ptr::null() };
        let _restore = Restore(CACHE.with(|cache| cache.replace(serves)));
        f()
    }

    #[inline]
    fn pop(&self, class: usize) -> Option<Block> {
        self.own[class].pop(|| &self.shared.lists().classes[class])
    }

    #[inline]
    fn push(&self, class: usize, block: Block) {
        let shared = || &self.shared.lists().classes[class];
        self.own[class].push(block, shared, |blocks| free(class, blocks));
    }

    #[inline]
    fn take_short_lived(&self, layout: Layout) -> NonNull<u8> {
        let mut front = self.front.borrow_mut();
        let block = front.as_mut().and_then(|front| front.take(layout));
        block.unwrap_or_else(|| self.begin_chunk(&mut front, layout))
    }

    #[cold]
    fn begin_chunk(&self, front: &mut Option<Front>, layout: Layout) -> NonNull<u8> {
        if let Some(chunk) = front.take().and_then(Front::close) {
            self.keep_chunk(chunk);
        }
        let chunk = self.shared.lists().chunks.pop().unwrap_or_else(Chunk::new);
        front.insert(Front::new(chunk)).take(layout).expect("a chunk has room for any block")
    }

    #[cold]
    fn keep_chunk(&self, chunk: Chunk) {
        drop(self.shared.lists().chunks.push(chunk));
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        if !self.keeps {
            return;
        }
        drop(self.front.take().and_then(Front::close));
        self.own.iter().enumerate().for_each(|(class, list)| free(class, list.take_all()));
    }
}

/// Calls `f` with the cache that serves this thread.
#[inline(always)]
fn with<R>(f: impl FnOnce(&Cache) -> R) -> Option<R> {
    if !KEEPS {
        return None;
    }
    let cache = CACHE.with(Cell::get);
    // SAFETY: `enter` borrows the cache until it takes the pointer out again, on this thread.
    unsafe { cache.as_ref() }.map(f)
}

/// A block for `layout`, which must not be empty.
#[inline]
pub(crate) fn allocate(layout: Layout) -> NonNull<u8> {
    assert!(layout.size() > 0, "no block is empty");
    let Some((class, rounded)) = class(layout) else { return from_system(layout) };
    let block = with(|cache| cache.pop(class)).flatten();
    block.map_or_else(|| from_system(rounded), |Block(place)| place)
}

/// Gives a block back.
///
/// # Safety
///
/// The block is from [`allocate`] with the same layout, and is not used any more.
#[inline(always)]
pub(crate) unsafe fn release(block: NonNull<u8>, layout: Layout) {
    let Some((class, rounded)) = class(layout) else {
        // SAFETY: a block of no class has its own layout.
        return unsafe { alloc::dealloc(block.as_ptr(), layout) };
    };
    if with(|cache| cache.push(class, Block(block))).is_none() {
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
    with(|cache| cache.take_short_lived(layout))
}

/// Gives a block back.
///
/// # Safety
///
/// The block is from [`allocate_short_lived`], and is not used any more.
#[inline]
pub(crate) unsafe fn release_short_lived(block: NonNull<u8>) {
    // SAFETY: the caller promises that the block is from `allocate_short_lived`, and is not used any more.
    if let Some(chunk) = unsafe { list::release(block) } {
        // On a thread that keeps nothing the chunk is freed with the closure.
        with(move |cache| cache.keep_chunk(chunk));
    }
}

fn from_system(layout: Layout) -> NonNull<u8> {
    // SAFETY: `allocate` has asserted that the layout is not empty, and rounding makes it no smaller.
    let block = unsafe { alloc::alloc(layout) };
    NonNull::new(block).unwrap_or_else(|| alloc::handle_alloc_error(layout))
}

/// An owned value, as in a `Box`, in a block that the worker keeps for the next one of its size.
pub(crate) struct Boxed<T>(NonNull<T>, PhantomData<T>);

impl<T> Boxed<T> {
    #[inline]
    pub(crate) fn new(value: T) -> Self {
        Self::new_at(|_| value)
    }

    /// Makes a value that knows its address.
    #[inline]
    pub(crate) fn new_at(make: impl FnOnce(NonNull<T>) -> T) -> Self {
        let place = allocate(Layout::new::<T>()).cast::<T>();
        let value = make(place);
        // SAFETY: the block is new, and of the value's layout.
        unsafe { place.write(value) };
        Self(place, PhantomData)
    }

    /// The address of the value.
    #[inline]
    pub(crate) fn as_ptr(&self) -> NonNull<T> {
        self.0
    }

    /// Gives the value up to the caller, who owns the pointer from now on.
    #[inline]
    pub(crate) fn into_raw(self) -> NonNull<T> {
        let place = self.0;
        mem::forget(self);
        place
    }

    /// # Safety
    ///
    /// From [`into_raw`](Self::into_raw), once; the value is used through this only.
    #[inline]
    pub(crate) unsafe fn from_raw(place: NonNull<T>) -> Self {
        Self(place, PhantomData)
    }

    /// Moves the value out, and frees the block.
    #[inline]
    pub(crate) fn into_inner(self) -> T {
        // SAFETY: this owns the value, which is moved out here, and not dropped again: only the block is freed.
        let value = unsafe { self.0.read() };
        drop(EmptyBox(self.into_raw()));
        value
    }
}

impl<T> Deref for Boxed<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this owns the value.
        unsafe { self.0.as_ref() }
    }
}

impl<T> DerefMut for Boxed<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this owns the value, and is borrowed mutably.
        unsafe { self.0.as_mut() }
    }
}

impl<T> Drop for Boxed<T> {
    #[inline]
    fn drop(&mut self) {
        // The block is freed also when the destructor panics.
        let _empty = EmptyBox(self.0);
        // SAFETY: this owns the value, and is not used again.
        unsafe { self.0.drop_in_place() };
    }
}

/// The block of a value that has been moved out or dropped.
struct EmptyBox<T>(NonNull<T>);

impl<T> Drop for EmptyBox<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: `Boxed::new_at` allocated the block with this layout, and its value is gone.
        unsafe { release(self.0.cast(), Layout::new::<T>()) };
    }
}
