//! The shared part of a cell's clones, and its end.
//!
//! # Posts are not counted
//!
//! A post reaches the cell through a bare pointer, and its callback owns no reference to the lane: this
//! saves two read-modify-writes on cache lines that all posters share. It is sound because the end of
//! the cell waits for its turn as well. The thread that drops the last clone either claims the idle
//! lane, and then every post has run; or it schedules the end behind everything, and then every post
//! runs before the end. The poster has a clone, so each post is scheduled before the last clone is
//! dropped; and the callback of the end keeps the lane alive for the posts in front of it.

use super::access::{InUse, Made, Sides};
use crate::hooks::{self, Carried};
use crate::kernel::lane::current::Closure;
use crate::kernel::lane::{LaneRef, callback};
use crate::sync::{AtomicBool, AtomicU32, Ordering, UnsafeCell};
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::NonNull;

pub(crate) struct Inner<T> {
    lane: ManuallyDrop<LaneRef>,
    /// Clones of the cell. With the mark it takes one word.
    clones: AtomicU32,
    /// Whether an access is inside. The holder of the lane sets it, and the same access clears it,
    /// possibly on another thread (`exclusive.rs`).
    busy: AtomicBool,
    made: Made,
    value: UnsafeCell<T>,
}

impl<T> Inner<T> {
    pub(crate) fn lane(&self) -> &LaneRef {
        &self.lane
    }

    /// The text of an error about the cell and the caller.
    pub(crate) fn sides(&self) -> Sides {
        Sides { cell: self.made }
    }

    /// Uses the value.
    ///
    /// # Safety
    ///
    /// The caller holds the lane.
    pub(crate) unsafe fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> Result<R, InUse> {
        // SAFETY: the caller promises that it holds the lane, and does so up to the end of this call.
        let _busy = unsafe { self.occupy() }?;
        let _closure = Closure::begin();
        Ok(self.value.with_mut(|value| {
            // SAFETY: only the holder of the lane reaches the value, and the flag refuses a second
            // access.
            f(unsafe { &mut *value })
        }))
    }

    /// Sets the mark, which refuses all other accesses while it lives.
    ///
    /// # Safety
    ///
    /// The caller holds the lane.
    #[inline]
    pub(crate) unsafe fn occupy(&self) -> Result<Busy<'_>, InUse> {
        // Ordering: Acquire pairs with the Release of a mark that was dropped far from the lane.
        // Two holders do not meet here, so no exchange is needed.
        if self.busy.load(Ordering::Acquire) {
            return Err(InUse);
        }
        // Ordering: read by the holder; the hand-over of the lane orders it.
        self.busy.store(true, Ordering::Relaxed);
        Ok(Busy(&self.busy))
    }

    /// Whether a reader may use the value. While the reader is inside, no access can occupy the cell.
    pub(crate) fn admits_readers(&self) -> Result<(), InUse> {
        // Ordering: as in `occupy`.
        if self.busy.load(Ordering::Acquire) { Err(InUse) } else { Ok(()) }
    }

    /// The place of the value, for the holder of the lane or the readers.
    pub(crate) fn place(&self) -> &UnsafeCell<T> {
        &self.value
    }

    /// The value.
    ///
    /// # Safety
    ///
    /// The caller uses the reference only while it has the mark, calls this once, and either holds the
    /// lane or only drops the owner of the reference.
    #[expect(clippy::mut_from_ref, reason = "the mark keeps everybody else out")]
    pub(crate) unsafe fn value(&self) -> &mut T {
        // SAFETY: the mark refuses all other accesses, and the caller, which has it, calls this once:
        // no other reference exists.
        self.value.with_mut(|value| unsafe { &mut *value })
    }
}

/// An access is inside.
pub(crate) struct Busy<'a>(&'a AtomicBool);

impl Drop for Busy<'_> {
    #[inline]
    fn drop(&mut self) {
        // Ordering: pairs with the Acquire in `occupy`.
        self.0.store(false, Ordering::Release);
    }
}

/// The pointer of one clone.
pub(crate) struct Owner<T: Send + 'static>(NonNull<Inner<T>>);

// SAFETY: only the holder of the lane (`Inner::with`) and the end of the cell reach value and flag; the
// lane's hand-over orders one holder's use before the next one's. Readers reach the value together,
// which requires `T: Sync` (`ColorCell::read`, `ColorCell::shared`).
unsafe impl<T: Send> Send for Owner<T> {}
// SAFETY: a shared reference gives no other way to the value than these; clones and the mark are
// atomic.
unsafe impl<T: Send> Sync for Owner<T> {}

impl<T: Send + 'static> Owner<T> {
    pub(crate) fn new(lane: LaneRef, made: Made, value: T) -> Self {
        let inner = Box::new(Inner {
            lane: ManuallyDrop::new(lane),
            clones: AtomicU32::new(1),
            busy: AtomicBool::new(false),
            made,
            value: UnsafeCell::new(value),
        });
        Self(NonNull::from(Box::leak(inner)))
    }

    /// Schedules `f` on the value.
    pub(crate) fn post<F: FnOnce(&mut T) + Send + 'static>(&self, f: F) {
        let (cell, span) = (Uncounted(self.0), Carried::from_here());
        let turn = move || {
            // SAFETY: the end of the cell comes behind this turn (module documentation).
            let inner = unsafe { cell.get() };
            // SAFETY: a callback runs under its lane, which is the cell's.
            if let Err(error) = span.within(|| unsafe { inner.with(f) }) {
                panic!("a post has no access to the value any more: {error}")
            }
        };
        hooks::posted(&self.lane);
        // SAFETY: the cell keeps its lane up to its end, which comes behind this turn.
        unsafe { callback::post_uncounted(&self.lane, turn) };
    }

    /// The last clone goes.
    #[cold]
    fn end_cell(&self) {
        // SAFETY: this is the last clone, so the box has not been freed; the posts that are left do not
        // use the lane.
        let lane = unsafe { &raw mut (*self.0.as_ptr()).lane };
        // SAFETY: no code reads the place again, and `ManuallyDrop` keeps the end of the cell from
        // dropping it.
        let lane = ManuallyDrop::into_inner(unsafe { lane.read() });
        let end = End(self.0);
        if let Err(later) = callback::run_inline(&lane, move || drop(end)) {
            callback::post(&lane, later);
        }
    }
}

impl<T: Send + 'static> Deref for Owner<T> {
    type Target = Inner<T>;

    #[inline]
    fn deref(&self) -> &Inner<T> {
        // SAFETY: this clone keeps the cell.
        unsafe { self.0.as_ref() }
    }
}

impl<T: Send + 'static> Clone for Owner<T> {
    #[inline]
    fn clone(&self) -> Self {
        // Ordering: as for any reference count.
        let clones = self.clones.fetch_add(1, Ordering::Relaxed);
        assert!(clones < u32::MAX / 2, "fewer than 2³¹ clones of a cell");
        Self(self.0)
    }
}

impl<T: Send + 'static> Drop for Owner<T> {
    #[inline]
    fn drop(&mut self) {
        // Ordering: Release orders this clone's posts before the end, Acquire the others'.
        if self.clones.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.end_cell();
        }
    }
}

/// A pointer that a turn uses before the end of the cell.
struct Uncounted<T>(NonNull<Inner<T>>);

// SAFETY: a post uses the pointer under the lane only, and `T` is `Send`; the lane's hand-over orders
// the uses.
unsafe impl<T: Send> Send for Uncounted<T> {}

impl<T> Uncounted<T> {
    /// # Safety
    ///
    /// The cell has not ended.
    unsafe fn get<'a>(self) -> &'a Inner<T> {
        // SAFETY: the caller promises that the cell has not ended, so the box has not been freed.
        unsafe { self.0.as_ref() }
    }
}

/// Frees the cell when it is dropped.
struct End<T>(NonNull<Inner<T>>);

// SAFETY: the end is dropped under the lane, behind all other uses of the value, and `T` is `Send`.
unsafe impl<T: Send> Send for End<T> {}

impl<T> Drop for End<T> {
    fn drop(&mut self) {
        // SAFETY: `Owner::new` made the pointer from a box; no clone and no post is left.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

#[cfg(all(test, not(colored_loom), not(debug_assertions)))]
mod tests {
    use super::Inner;

    /// The size of a cell beside its lane: every word counts in a program with one cell per color.
    #[test]
    fn an_empty_cell_takes_two_words() {
        assert!(size_of::<Inner<()>>() <= 16);
        assert!(size_of::<Inner<u64>>() <= 24);
    }
}
