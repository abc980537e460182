//! The watched side: `std`, and a word to the [`Watcher`](super::watch::Watcher) before each access.

#[path = "watched/arc.rs"]
mod arc;
#[path = "watched/atomic.rs"]
mod atomic;
#[path = "watched/lock.rs"]
mod lock;

pub use self::arc::Arc;
pub(crate) use self::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU16, AtomicU32};
pub use self::atomic::{AtomicU64, AtomicUsize};
pub(crate) use self::lock::Condvar;
pub use self::lock::{Mutex, MutexGuard};
pub use std::sync::atomic::Ordering;
pub(crate) use std::thread::ThreadId;

use super::watch::{Access, tell};
use std::panic::Location;

/// The size of a cache line.
const LINE: usize = 64;

/// See `real.rs`.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(core::cell::UnsafeCell::new(value))
    }

    #[track_caller]
    pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        self.tell(Access::Read);
        f(self.0.get())
    }

    #[track_caller]
    pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        self.tell(Access::Write);
        f(self.0.get())
    }

    #[track_caller]
    fn tell(&self, access: Access) {
        if size_of::<T>() > 0 {
            record_access(self.0.get().cast(), size_of::<T>(), access);
        }
    }
}

/// See `real.rs`.
#[track_caller]
pub(crate) fn touch(address: *const u8, bytes: usize) {
    record_access(address, bytes, Access::Write);
}

#[track_caller]
fn record_access(address: *const u8, bytes: usize, access: Access) {
    let place = Location::caller().file();
    let (first, last) = (address.addr() / LINE, (address.addr() + bytes - 1) / LINE);
    tell(|watcher| (first..=last).for_each(|line| watcher.access(line * LINE, access, place)));
}

#[track_caller]
pub(crate) fn fence(order: Ordering) {
    std::sync::atomic::fence(order);
    if order == Ordering::SeqCst {
        let place = Location::caller().file();
        tell(|watcher| watcher.fence(place));
    }
}

#[track_caller]
pub(crate) fn spin_loop() {
    let place = Location::caller().file();
    tell(|watcher| watcher.spin(place));
}

macro_rules! thread_slot {
    ($vis:vis static $name:ident: $ty:ty = $init:expr) => {
        ::std::thread_local! { $vis static $name: $ty = const { $init } }
    };
}
pub(crate) use thread_slot;

macro_rules! arc_dyn {
    ($arc:expr => $dyn:ty) => {{
        let sized = $arc;
        let sized = $crate::sync::Arc::into_std(&sized);
        let arc: ::std::sync::Arc<$dyn> = sized;
        $crate::sync::Arc::from_std(arc)
    }};
}
pub(crate) use arc_dyn;

pub(crate) fn this_thread() -> ThreadId {
    std::thread::current().id()
}
