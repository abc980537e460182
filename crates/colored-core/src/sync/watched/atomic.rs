//! `std`'s atomics.

use crate::sync::watch::{Access, tell};
use std::fmt;
use std::panic::Location;
use std::sync::atomic::{self, Ordering};

macro_rules! watched {
    ($vis:vis $name:ident $(<$t:ident>)?, $inner:ty, $value:ty) => {
        /// An atomic of `std` that tells the watcher of each access.
        #[repr(transparent)]
        $vis struct $name$(<$t>)?($inner);

        #[allow(dead_code, reason = "each type has the methods of all")]
        #[allow(missing_docs, clippy::missing_errors_doc, reason = "as in `std`")]
        impl$(<$t>)? $name$(<$t>)? {
            $vis const fn new(value: $value) -> Self {
                Self(<$inner>::new(value))
            }

            #[track_caller]
            fn tell(&self, access: Access) {
                // A closure does not know the caller.
                let (address, place) = (std::ptr::from_ref(self).addr(), Location::caller().file());
                tell(|watcher| watcher.access(address, access, place));
            }

            #[track_caller]
            $vis fn load(&self, order: Ordering) -> $value {
                self.tell(Access::Read);
                self.0.load(order)
            }

            #[track_caller]
            $vis fn store(&self, value: $value, order: Ordering) {
                self.tell(Access::Write);
                self.0.store(value, order);
            }

            #[track_caller]
            $vis fn swap(&self, value: $value, order: Ordering) -> $value {
                self.tell(Access::Exchange);
                self.0.swap(value, order)
            }

            #[track_caller]
            $vis fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.tell(Access::Exchange);
                self.0.compare_exchange(current, new, success, failure)
            }

            #[track_caller]
            $vis fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }

            $vis fn get_mut(&mut self) -> &mut $value {
                self.0.get_mut()
            }
        }

        impl$(<$t>)? fmt::Debug for $name$(<$t>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

impl Default for AtomicBool {
    fn default() -> Self {
        Self::new(false)
    }
}

macro_rules! with_arithmetic {
    ($vis:vis $name:ident, $inner:ty, $value:ty, $($method:ident),*) => {
        watched!($vis $name, $inner, $value);

        #[allow(dead_code, reason = "each type has the methods of all")]
        #[allow(missing_docs, reason = "as in `std`")]
        impl $name {
            $(
                #[track_caller]
                $vis fn $method(&self, value: $value, order: Ordering) -> $value {
                    self.tell(Access::Exchange);
                    self.0.$method(value, order)
                }
            )*

            #[allow(clippy::missing_errors_doc, reason = "as in `std`")]
            #[track_caller]
            $vis fn fetch_update(
                &self,
                set: Ordering,
                fetch: Ordering,
                f: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                self.tell(Access::Exchange);
                self.0.fetch_update(set, fetch, f)
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new(0)
            }
        }
    };
}

watched!(pub(crate) AtomicPtr<T>, atomic::AtomicPtr<T>, *mut T);
watched!(pub(crate) AtomicBool, atomic::AtomicBool, bool);
with_arithmetic!(pub(crate) AtomicU8, atomic::AtomicU8, u8, fetch_add, fetch_sub);
with_arithmetic!(pub(crate) AtomicU16, atomic::AtomicU16, u16, fetch_add, fetch_sub);
with_arithmetic!(pub(crate) AtomicU32, atomic::AtomicU32, u32, fetch_add, fetch_sub, fetch_and, fetch_or, fetch_xor, fetch_max);
with_arithmetic!(pub AtomicU64, atomic::AtomicU64, u64, fetch_add, fetch_sub, fetch_and, fetch_or, fetch_xor, fetch_max);
with_arithmetic!(pub AtomicUsize, atomic::AtomicUsize, usize, fetch_add, fetch_sub, fetch_and, fetch_or, fetch_xor, fetch_max);
