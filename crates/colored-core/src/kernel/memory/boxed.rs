//! [`Boxed`]: a value in a block of this module.

use super::{allocate, release};
use std::alloc::Layout;
use std::marker::PhantomData;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

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
        drop(Block(self.into_raw()));
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
        let _block = Block(self.0);
        // SAFETY: this owns the value, and is not used again.
        unsafe { self.0.drop_in_place() };
    }
}

/// A block without its value.
struct Block<T>(NonNull<T>);

impl<T> Drop for Block<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: `Boxed::new_at` allocated the block with this layout, and its value is gone.
        unsafe { release(self.0.cast(), Layout::new::<T>()) };
    }
}
