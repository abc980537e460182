//! Magazines and the depot.

use super::{GRAIN, LARGEST, class};
use crate::sync::{Mutex, thread_slot};
use std::alloc::{self, Layout};
use std::cell::Cell;
use std::ptr::{self, NonNull};

const CLASSES: usize = LARGEST / GRAIN;

/// Blocks in a full magazine.
///
/// `benches/ratio.rs`, `spawn_many`: 32 costs 4 % more than 64, 256 gains nothing.
const ROUNDS: u32 = 64;

/// Full magazines of a class that the depot keeps: what comes beyond is freed.
const FULL: usize = 64;

/// The first word of a free block.
struct Free {
    next: *mut Free,
}

/// A list of free blocks of one class. Whoever moves it out of its place leaves an empty one there.
#[derive(Clone, Copy)]
struct Magazine {
    first: *mut Free,
    rounds: u32,
}

impl Magazine {
    const EMPTY: Self = Self { first: ptr::null_mut(), rounds: 0 };
}

// SAFETY: whoever has the list has its blocks.
unsafe impl Send for Magazine {}

/// The full magazines of a runtime.
pub(crate) struct Depot {
    classes: [Mutex<Vec<Magazine>>; CLASSES],
}

impl Default for Depot {
    fn default() -> Self {
        Self { classes: [const { Mutex::new(Vec::new()) }; CLASSES] }
    }
}

impl Drop for Depot {
    fn drop(&mut self) {
        for (class, full) in self.classes.iter().enumerate() {
            full.lock().drain(..).for_each(|magazine| free_all(class, magazine));
        }
    }
}

/// A worker's free blocks.
pub(crate) struct Cache {
    classes: [Slot; CLASSES],
    depot: Cell<*const Depot>,
}

// SAFETY: the cache has its blocks wherever it goes, and the depot is looked at inside `enter` only.
unsafe impl Send for Cache {}

/// Two magazines, so that allocating and freeing in turn at a boundary does not go to the depot.
struct Slot {
    loaded: Cell<Magazine>,
    spare: Cell<Magazine>,
}

impl Slot {
    const EMPTY: Self =
        Self { loaded: Cell::new(Magazine::EMPTY), spare: Cell::new(Magazine::EMPTY) };
}

thread_slot!(static CACHE: Cell<*const Cache> = Cell::new(ptr::null()));

impl Cache {
    pub(crate) fn new() -> Self {
        Self { classes: [const { Slot::EMPTY }; CLASSES], depot: Cell::new(ptr::null()) }
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
        let _restore = Restore(CACHE.with(|cache| cache.replace(self)));
        f()
    }

    /// Frees everything.
    pub(crate) fn clear(&self) {
        for (class, slot) in self.classes.iter().enumerate() {
            free_all(class, slot.loaded.replace(Magazine::EMPTY));
            free_all(class, slot.spare.replace(Magazine::EMPTY));
        }
    }

    fn depot(&self) -> &Depot {
        // SAFETY: `enter` borrows it for as long as the cache serves.
        unsafe { &*self.depot.get() }
    }

    #[inline]
    fn take(&self, class: usize) -> Option<NonNull<u8>> {
        let slot = &self.classes[class];
        let mut loaded = slot.loaded.get();
        if loaded.rounds == 0 {
            loaded = slot.spare.replace(Magazine::EMPTY);
            if loaded.rounds == 0 {
                loaded = self.depot().classes[class].lock().pop()?;
            }
        }
        let block = NonNull::new(loaded.first)?;
        // SAFETY: a block in a magazine is free, and begins with its link.
        loaded.first = unsafe { block.as_ref() }.next;
        loaded.rounds -= 1;
        slot.loaded.set(loaded);
        Some(block.cast())
    }

    #[inline]
    fn keep(&self, class: usize, block: NonNull<u8>) {
        let slot = &self.classes[class];
        let mut loaded = slot.loaded.get();
        if loaded.rounds == ROUNDS {
            let full = slot.spare.replace(loaded);
            if full.rounds > 0 {
                self.return_full(class, full);
            }
            loaded = Magazine::EMPTY;
        }
        let free = block.cast::<Free>();
        // SAFETY: the block is free, and large and aligned enough for a link.
        unsafe { free.write(Free { next: loaded.first }) };
        slot.loaded.set(Magazine { first: free.as_ptr(), rounds: loaded.rounds + 1 });
    }

    #[cold]
    fn return_full(&self, class: usize, magazine: Magazine) {
        let mut full = self.depot().classes[class].lock();
        if full.len() < FULL {
            full.push(magazine);
        } else {
            drop(full);
            free_all(class, magazine);
        }
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Calls `f` with the cache that serves this thread.
#[inline]
fn with<R>(f: impl FnOnce(&Cache) -> R) -> Option<R> {
    let cache = CACHE.with(Cell::get);
    // SAFETY: `enter` borrows the cache until it takes the pointer out again, on this thread.
    unsafe { cache.as_ref() }.map(f)
}

/// A block for `layout`, not empty.
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
/// From [`allocate`] with the same layout, and not used any more.
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

fn from_system(layout: Layout) -> NonNull<u8> {
    // SAFETY: not of size zero.
    let block = unsafe { alloc::alloc(layout) };
    NonNull::new(block).unwrap_or_else(|| alloc::handle_alloc_error(layout))
}

fn free_all(class: usize, mut magazine: Magazine) {
    let layout = Layout::from_size_align((class + 1) * GRAIN, GRAIN).expect("a small layout");
    while let Some(block) = NonNull::new(magazine.first) {
        // SAFETY: a block in a magazine is free, and begins with its link.
        magazine.first = unsafe { block.as_ref() }.next;
        // SAFETY: a block of the class has the class's layout.
        unsafe { alloc::dealloc(block.as_ptr().cast(), layout) };
    }
}
