//! A counted wrapper as a counted value of tokio's, for methods whose guards keep the count.

use std::sync::Arc;

/// A type of one field, which has the layout of the field.
///
/// # Safety
///
/// The implementor is `#[repr(transparent)]` over `Inner`, and every `Inner` is valid inside of it and it inside every
/// use of `Inner`.
pub(super) unsafe trait Transparent {
    type Inner: ?Sized;

    /// The pointer to the field. The metadata of both pointers are the same.
    fn cast(this: *const Self) -> *const Self::Inner;
}

/// The same allocation and count, seen as the field.
pub(super) fn inner<W: Transparent + ?Sized>(this: Arc<W>) -> Arc<W::Inner> {
    let pointer = W::cast(Arc::into_raw(this));
    // SAFETY: the pointer comes from `Arc::into_raw`, whose reference goes on here. By the contract of `Transparent` both
    // types have one layout, so the size and alignment of the allocation are those that `Arc::from_raw` expects.
    unsafe { Arc::from_raw(pointer) }
}

/// `$ours` is a transparent wrapper of `$theirs`.
macro_rules! transparent {
    ([$($parameters:tt)*] $ours:ty => $theirs:ty) => {
        // SAFETY: the struct is `repr(transparent)`, and its one field accepts all values of its type.
        unsafe impl<$($parameters)*> crate::sync::arc::Transparent for $ours {
            type Inner = $theirs;

            #[inline]
            fn cast(this: *const Self) -> *const Self::Inner {
                this as *const Self::Inner
            }
        }
    };
}

pub(super) use transparent;
