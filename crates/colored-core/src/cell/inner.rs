//! What the clones of a cell share, and how it ends.
//!
//! # Posts are not counted
//!
//! A post reaches the cell through a bare pointer, and its callback owns no reference to the lane:
//! that is two read-modify-writes less on lines that all posters share. It is sound because the end
//! of the cell waits for its turn as well. Whoever drops the last clone either claims the idle
//! lane, and then every post has run; or schedules the end behind everything, and then every post
//! runs before it. For a post is scheduled by somebody who has a clone, and so before the last one
//! goes; and the callback of the end keeps the lane for those in front of it.

use super::AccessError;
use crate::lane::{LaneRef, callback};
use crate::sync::{AtomicUsize, Ordering, UnsafeCell};
use std::mem::{self, ManuallyDrop};
use std::ops::Deref;
use std::ptr::NonNull;

pub(super) struct Inner<T> {
    lane: ManuallyDrop<LaneRef>,
    /// Clones of the cell.
    clones: AtomicUsize,
    /// Whether somebody is inside. Only touched by the holder of the lane.
    busy: UnsafeCell<bool>,
    value: UnsafeCell<T>,
}

impl<T> Inner<T> {
    pub(super) fn lane(&self) -> &LaneRef {
        &self.lane
    }

    /// Uses the value.
    ///
    /// # Safety
    ///
    /// The caller holds the lane.
    pub(super) unsafe fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> Result<R, AccessError> {
        struct Leave<'a>(&'a UnsafeCell<bool>);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.with_mut(|busy| {
                    // SAFETY: the lane is still held.
                    unsafe { *busy = false }
                });
            }
        }
        let was_busy = self.busy.with_mut(|busy| {
            // SAFETY: the holder alone touches the flag.
            mem::replace(unsafe { &mut *busy }, true)
        });
        if was_busy {
            return Err(AccessError::InUse);
        }
        let _leave = Leave(&self.busy);
        Ok(self.value.with_mut(|value| {
            // SAFETY: the holder alone reaches the value, and the flag keeps a second access out.
            f(unsafe { &mut *value })
        }))
    }
}

/// One clone's pointer.
pub(super) struct Shared<T: Send + 'static>(NonNull<Inner<T>>);

// SAFETY: value and flag are reached by the holder of the lane only (`Inner::with`), and by the end
// of the cell; the lane's hand-over orders one holder's use before the next one's.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: as for `Send`; a shared reference gives no other way to the value.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T: Send + 'static> Shared<T> {
    pub(super) fn new(lane: LaneRef, value: T) -> Self {
        let inner = Box::new(Inner {
            lane: ManuallyDrop::new(lane),
            clones: AtomicUsize::new(1),
            busy: UnsafeCell::new(false),
            value: UnsafeCell::new(value),
        });
        Self(NonNull::from(Box::leak(inner)))
    }

    /// Schedules `f` on the value.
    pub(super) fn post<F: FnOnce(&mut T) + Send + 'static>(&self, f: F) {
        let cell = Uncounted(self.0);
        let turn = move || {
            // SAFETY: the end of the cell comes behind this turn (module documentation).
            let inner = unsafe { cell.get() };
            // SAFETY: a callback runs under its lane.
            if let Err(error) = unsafe { inner.with(f) } {
                unreachable!("nobody else is inside when a turn begins: {error}")
            }
        };
        // SAFETY: the cell keeps its lane up to its end, which comes behind this turn.
        unsafe { callback::post_uncounted(&self.lane, turn) };
    }
}

impl<T: Send + 'static> Deref for Shared<T> {
    type Target = Inner<T>;

    #[inline]
    fn deref(&self) -> &Inner<T> {
        // SAFETY: this clone keeps it.
        unsafe { self.0.as_ref() }
    }
}

impl<T: Send + 'static> Clone for Shared<T> {
    #[inline]
    fn clone(&self) -> Self {
        // Ordering: as for any reference count.
        let clones = self.clones.fetch_add(1, Ordering::Relaxed);
        assert!(clones < usize::MAX / 2, "fewer than 2⁶³ clones of a cell");
        Self(self.0)
    }
}

impl<T: Send + 'static> Drop for Shared<T> {
    fn drop(&mut self) {
        // Ordering: Release orders this clone's posts before the end, Acquire the others'.
        if self.clones.fetch_sub(1, Ordering::AcqRel) > 1 {
            return;
        }
        // SAFETY: the last clone is going; the posts that are left do not look at the lane.
        let lane = unsafe { &raw mut (*self.0.as_ptr()).lane };
        // SAFETY: nobody reads the place again.
        let lane = ManuallyDrop::into_inner(unsafe { lane.read() });
        let end = End(self.0);
        if let Err(later) = callback::run_inline(&lane, move || drop(end)) {
            callback::post(&lane, later);
        }
    }
}

/// A pointer that a turn uses before the end of the cell.
struct Uncounted<T>(NonNull<Inner<T>>);

// SAFETY: as for `Shared`.
unsafe impl<T: Send> Send for Uncounted<T> {}

impl<T> Uncounted<T> {
    /// # Safety
    ///
    /// The cell has not ended.
    unsafe fn get<'a>(self) -> &'a Inner<T> {
        // SAFETY: by contract.
        unsafe { self.0.as_ref() }
    }
}

/// Frees the cell when it is dropped.
struct End<T>(NonNull<Inner<T>>);

// SAFETY: as for `Shared`.
unsafe impl<T: Send> Send for End<T> {}

impl<T> Drop for End<T> {
    fn drop(&mut self) {
        // SAFETY: made from a box; no clone is left, and no post.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}
